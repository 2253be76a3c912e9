/* Weights from a Response. Loaded with the first. It imports nothing, so that bundlers leave the
 * scripts that a page starts with as they are. */
/** @import {OpenStream, SizedStream} from '../types/library.js' */

/**
 * What a Response holds comes once.
 * @param {SizedStream} response
 * @param {typeof import('./error.js').HeedError} HeedError
 * @returns {OpenStream}
 */
export function onceOf(response, HeedError) {
  let left = /** @type {SizedStream | undefined} */ (response)
  return () => {
    if (!left)
      throw new HeedError(
        'INVALID_ARGUMENT',
        'model: a Response backs only one session (found a second one, expected bytes, a Blob or a URL)'
      )
    const opened = left
    left = undefined
    return opened
  }
}
