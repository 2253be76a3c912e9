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
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60))
  return Object(value) === value ? value.constructor?.name : String(value)
}

/** The error itself, or where it was not foreseen one that says where it happened. */
export const asHeed = (where, error) =>
  error instanceof HeedError
    ? error
    : new HeedError('INTERNAL', `${where}: failed (found "${error.message}")`)

/** What the sentence of a thing used after its close says. */
export const closed = (what) =>
  new HeedError(
    'INVALID_ARGUMENT',
    `${what}: used after close (found a closed ${what}, expected an open one)`
  )

export const cancelled = (where) => new HeedError('CANCELLED', `${where}: cancelled by the caller`)
