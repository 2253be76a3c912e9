/* What tests put into the pages that they look at. */
interface Window {
  axe: { run(context?: object): Promise<{ violations: { id: string; nodes: object[] }[] }> }
}
interface JSON {
  /** A buffer becomes text by itself. */
  parse(text: Uint8Array): any
}
interface Window {
  /** What tests of this name leave on a page, to be read by them alone. */
  copied: any
  frames_: any
  moves_: any
  now_: number
  late: any
  live: any
  workers: any
  builtIn: any
  hold: any
  nameWith: any
  job: any
  long: any
  seen: string[]
  times: any
  colours: any
  before: any
}
