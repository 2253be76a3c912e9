/* Colour maps, from heed-explain.wasm. Loaded with the first of them. It imports nothing, so that
 * bundlers leave the scripts that a page starts with as they are. */
/** @import {OpenModule} from '../types/library.js' */

/**
 * 256 colours of the map with this name.
 * @param {OpenModule} module
 * @param {string} map
 */
export function coloursOf({ exports, memory }, map) {
  const rgb = new Uint8Array(768)
  memory.lend([new TextEncoder().encode(`${map}\0`), rgb], (name, at) => {
    exports.colormap(name, at)
    rgb.set(memory.bytes(at, rgb.length))
  })
  return rgb
}
