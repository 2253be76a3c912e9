/* The rollout of a session's maps, by heed-explain.wasm. Loaded with the first. It imports nothing, so
 * that bundlers leave the scripts that a page starts with as they are. */
/** @import {Methods, ModuleExports, OpenModule} from '../types/library.js' */
/** @import {SessionInfo} from './index.js' */

/** @typedef {(at: {layer: number, head: number, query?: number}) => Float32Array} ReadMap */

/**
 * A token's row by the session's own module, from the maps that were kept or from queries and keys:
 * no more than a layer's weights are in memory. Nothing where the attention has rules of its own.
 * @param {ModuleExports} exports
 * @param {import('./module_memory.js').ModuleMemory} memory
 * @param {Methods['rollout']['args']} wanted
 */
export function rolloutRow(exports, memory, wanted) {
  const {
    id,
    query,
    batch = 0,
    fusion = 'mean',
    residual = 0,
    firstLayer = 0,
    layerCount = 0,
    discard = 0
  } = wanted
  if (query === undefined || query < 0) return undefined
  try {
    memory.check(
      exports.session_rollout(
        id,
        batch,
        query,
        memory.code('fusion', fusion),
        residual,
        firstLayer,
        layerCount,
        discard
      )
    )
  } catch (error) {
    if (/** @type {import('./error.js').HeedError} */ (error).status === 'UNSUPPORTED')
      return undefined
    throw error
  }
  return memory.takeFloats()
}

/**
 * @param {OpenModule} module
 * @param {SessionInfo} info
 * @param {Methods['rollout']['args']} wanted
 * @param {ReadMap} read
 */
export function rollout({ exports, memory, web }, { layers, heads, tokens }, wanted, read) {
  const {
      query = -1,
      fusion = 'mean',
      residual = 0,
      firstLayer = 0,
      layerCount = 0,
      discard = 0
    } = wanted,
    matrix = tokens * tokens,
    // Of what 32 bits cannot count a small block would be made: as much as they can is refused.
    all = memory.alloc(Math.min(layers * heads * matrix * 4, 2 ** 32 - 1))
  try {
    for (let map = 0; map < layers * heads; map++) {
      const rows = read({ layer: Math.floor(map / heads), head: map % heads, query: -1 })
      memory.bytes(all + map * matrix * 4, matrix * 4).set(new Uint8Array(rows.buffer))
    }
    const found = new Float32Array(matrix)
    memory.lend([found], (to) => {
      memory.check(
        exports.map_rollout(
          web,
          all,
          layers,
          heads,
          tokens,
          memory.code('fusion', fusion),
          residual,
          firstLayer,
          layerCount,
          discard,
          to
        )
      )
      found.set(new Float32Array(memory.bytes(to, matrix * 4).slice().buffer))
    })
    return query < 0 ? found : found.slice(query * tokens, (query + 1) * tokens)
  } finally {
    memory.free(all)
  }
}
