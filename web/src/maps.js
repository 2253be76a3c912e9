/* The rollout of a session's maps. */
/** @import {Methods} from '../types/library.js' */
/** @import {SessionInfo} from './index.js' */
/** @import {ModuleMemory} from './module_memory.js' */

/** @typedef {(at: {layer: number, head: number, query?: number}) => Float32Array} ReadMap */

/**
 * A token's row by the session's own module, from the maps that were kept or from queries and keys:
 * no more than a layer's weights are in memory. Nothing where the attention has rules of its own.
 * @param {ModuleMemory} module
 * @param {number} session
 * @param {Methods['rollout']['args']} wanted
 */
export function rolloutRow(module, session, wanted) {
  const {
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
    module.check(
      module.exports.session_rollout(
        session,
        batch,
        query,
        module.code('fusion', fusion),
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
  return module.takeFloats()
}

/**
 * @param {ModuleMemory} module
 * @param {SessionInfo} info
 * @param {Methods['rollout']['args']} wanted
 * @param {ReadMap} read
 */
export function rollout(module, { layers, heads, tokens }, wanted, read) {
  const { exports, web } = module,
    {
      query = -1,
      fusion = 'mean',
      residual = 0,
      firstLayer = 0,
      layerCount = 0,
      discard = 0
    } = wanted,
    matrix = tokens * tokens,
    // Of what 32 bits cannot count a small block would be made: as much as they can is refused.
    all = module.alloc(Math.min(layers * heads * matrix * 4, 2 ** 32 - 1))
  try {
    for (let map = 0; map < layers * heads; map++) {
      const rows = read({ layer: Math.floor(map / heads), head: map % heads, query: -1 })
      module.bytes(all + map * matrix * 4, matrix * 4).set(new Uint8Array(rows.buffer))
    }
    const found = new Float32Array(matrix)
    module.lend([found], (to) => {
      module.check(
        exports.map_rollout(
          web,
          all,
          layers,
          heads,
          tokens,
          module.code('fusion', fusion),
          residual,
          firstLayer,
          layerCount,
          discard,
          to
        )
      )
      found.set(new Float32Array(module.bytes(to, matrix * 4).slice().buffer))
    })
    return query < 0 ? found : found.slice(query * tokens, (query + 1) * tokens)
  } finally {
    module.free(all)
  }
}
