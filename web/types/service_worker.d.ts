/* What a service worker has beside a window's names; `version` and `files` are put before its text
 * when the site is put together (offline.js). */
declare const version: string
declare const files: string[]
/** Those that a language has alone. */
declare const languages: Record<string, string[]>
declare const registration: { scope: string }
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface FetchEvent extends ExtendableEvent {
  request: Request
  respondWith(answer: Promise<Response>): void
}
interface WindowEventMap {
  install: ExtendableEvent
  activate: ExtendableEvent
  fetch: FetchEvent
}
interface MessageEvent {
  waitUntil(work: Promise<unknown>): void
}
interface Navigator {
  /** GiB, in Chromium. */
  deviceMemory?: number
}
