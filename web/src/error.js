/* Failures and their sentences. */

/** @import {Status} from './index.js' */

/** What every failure is: a status by its name in heed.h and one sentence. */
export class HeedError extends Error {
  /**
   * @param {Status} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message)
    this.name = 'HeedError'
    this.status = status
  }
}

/**
 * A value in the words of a sentence.
 * @param {unknown} value
 */
export function said(value) {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60))
  return Object(value) === value ? /** @type {object} */ (value).constructor?.name : String(value)
}

/**
 * The error itself, or where it was not foreseen one that says where it happened.
 * @param {string} where
 * @param {unknown} error
 */
export const asHeed = (where, error) =>
  error instanceof HeedError
    ? error
    : new HeedError(
        'INTERNAL',
        `${where}: failed (found "${/** @type {Error} */ (error).message}")`
      )

/**
 * What the sentence of a thing used after its close says.
 * @param {string} what
 */
export const closed = (what) =>
  new HeedError(
    'INVALID_ARGUMENT',
    `${what}: already closed (found a closed ${what}, expected an open one)`
  )

/**
 * Of one of the package's own files that did not come, or did not compile.
 * @param {string} where
 * @param {unknown} error
 */
export function notLoaded(where, error) {
  if (error instanceof HeedError) return error
  const { message } = /** @type {Error} */ (error),
    expected = /unsafe-eval|Content Security Policy/i.test(message)
      ? "'wasm-unsafe-eval' in script-src of the page's policy"
      : "the package's file; setBase() or the option base names the folder that has it"
  return new HeedError('IO', `${where} (found "${message}", expected ${expected})`)
}

/** @param {string} where */
export const cancelled = (where) => new HeedError('CANCELLED', `${where}: cancelled by the caller`)
