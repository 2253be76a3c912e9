/** What every failure is: a status by its name in heed.h and one sentence. */
export class HeedError extends Error {
  constructor(status, message) {
    super(message)
    this.name = 'HeedError'
    this.status = status
  }
}

/** What the sentence of a thing used after its close says. */
export const closed = (what) =>
  new HeedError('INVALID_ARGUMENT', `${what}: used after close (found a closed ${what}, expected an open one)`)

export const cancelled = (where) => new HeedError('CANCELLED', `${where}: cancelled by the caller`)
