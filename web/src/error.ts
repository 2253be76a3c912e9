/* Failures and their sentences. */
import type { Status } from 'heed'

/** What every failure is: a status by its name in heed.h and one sentence. */
export class HeedError extends Error {
  override name: 'HeedError' | 'AbortError' = 'HeedError'
  readonly status: Status
  constructor(status: Status, message: string) {
    super(message)
    this.status = status
  }
}

/** A value in the words of a sentence. */
export function said(value: unknown) {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60))
  return Object(value) === value ? (value as object).constructor?.name : String(value)
}

/** The error itself, or where it was not foreseen one that says where it happened. */
export const asHeed = (where: string, error: unknown) =>
  error instanceof HeedError
    ? error
    : new HeedError('INTERNAL', `${where}: failed (found "${(error as Error).message}")`)

/** What the sentence of a thing used after its close says. */
/**
 * Refuses what is defined for layers of one grid.
 * @param takesVideos whether it is for videos too
 */
export function refuseParts(
  where: string,
  { frames, stages }: { frames: number; stages: number },
  takesVideos = false
) {
  if ((frames && !takesVideos) || stages)
    throw new HeedError(
      'UNSUPPORTED',
      `${where}: not of a model of ${frames ? 'videos' : 'stages'} (expected one image and one grid of patches; session.attention() has each layer's maps)`
    )
}

export const closed = (what: string) =>
  new HeedError(
    'INVALID_ARGUMENT',
    `${what}: already closed (found a closed ${what}, expected an open one)`
  )

/** Of one of the package's own files that did not come, or did not compile. */
export function notLoaded(where: string, error: unknown) {
  if (error instanceof HeedError) return error
  const { message } = error as Error,
    expected = /unsafe-eval|Content Security Policy/i.test(message)
      ? "'wasm-unsafe-eval' in script-src of the page's policy"
      : "the package's file; setBase() or the option base names the folder that has it"
  return new HeedError('IO', `${where} (found "${message}", expected ${expected})`)
}

export const cancelled = (where: string) =>
  new HeedError('CANCELLED', `${where}: cancelled by the caller`)
