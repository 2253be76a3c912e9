/* The rollout of a session's maps. */
import type { Methods } from '../types/library.js'
import type { SessionInfo } from 'heed'
import type { ModuleMemory } from './module_memory.js'
import type { HeedError } from './error.js'

type ReadMap = (at: { layer: number; head: number; query?: number }) => Float32Array

/**
 * A token's row by the session's own module, from the maps that were kept or from queries and keys:
 * no more than a layer's weights are in memory. Nothing where the attention has rules of its own.
 */
export function rolloutRow(
  module: ModuleMemory,
  session: number,
  wanted: Methods['rollout']['args']
) {
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
    if ((error as HeedError).status === 'UNSUPPORTED') return undefined
    throw error
  }
  return module.takeFloats()
}

export function rollout(
  module: ModuleMemory,
  { layers, heads, tokens }: SessionInfo,
  wanted: Methods['rollout']['args'],
  read: ReadMap
) {
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
