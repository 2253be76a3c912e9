/** What every failure is: a status by its name in heed.h and one sentence. */
export class HeedError extends Error {
  constructor(status, message) {
    super(message)
    this.name = 'HeedError'
    this.status = status
  }
}

/** A value in the words of a sentence. */
export function said(value) {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value)
  if (Array.isArray(value)) return `[${value.slice(0, 4).map(said)}${value.length > 4 ? ',…' : ''}]`
  return value && typeof value === 'object' ? `${value.constructor?.name ?? 'an object'}` : typeof value === 'function' ? 'a function' : String(value)
}

/** What the sentence of a thing used after its close says. */
export const closed = (what) =>
  new HeedError('INVALID_ARGUMENT', `${what}: used after close (found a closed ${what}, expected an open one)`)

export const cancelled = (where) => new HeedError('CANCELLED', `${where}: cancelled by the caller`)
