/* Pictures, prepared by heed-picture.wasm. Loaded with the first picture. It imports nothing, so that
 * bundlers leave the scripts that a page starts with as they are. */
/** @import {OpenModule} from '../types/library.js' */
/** @import {Picture, SessionInfo} from './index.js' */

/**
 * The values of a picture to `take`, and the part of the picture that they show.
 * @param {OpenModule} module
 * @param {Uint8Array} rules a heed_preprocess
 * @param {Picture} picture
 * @param {number} channels
 * @param {SessionInfo} info
 * @param {(values: Uint8Array) => void} take
 */
export function prepare(
  { exports, memory, web },
  rules,
  { data, width, height },
  channels,
  { batch, width: columns, height: rows },
  take
) {
  const bytes = 12 * columns * rows,
    to = memory.alloc(bytes)
  try {
    memory.lend([rules, data], (rulesAt, at) =>
      memory.check(
        exports.picture_prepare(web, rulesAt, at, width, height, channels, batch, columns, rows, to)
      )
    )
    take(memory.bytes(to, bytes))
    return memory.out('region')
  } finally {
    memory.free(to)
  }
}
