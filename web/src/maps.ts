/* The rollout of a session's maps. */
import { cancelled, HeedError } from './error.js'
import { pause } from './host.js'
import type { CallContext, Methods, OpenSession } from '../types/library.js'
import type { SessionInfo } from 'heed'
import type { ModuleMemory } from './module_memory.js'

type Wanted = Methods['rollout']['args']
type ReadMap = (at: { layer: number; head: number; query?: number }) => Float32Array

/** Rows times the matrix of a layer whose attention has rules of its own, or lies on another device. */
function multiply(
  module: ModuleMemory,
  { heads, tokens }: SessionInfo,
  { fusion = 'mean', residual = 0, discard = 0 }: Wanted,
  rows: Float64Array[],
  read: (head: number) => Float32Array
) {
  const { exports, web } = module,
    matrix = tokens * tokens * 4,
    at = module.alloc(Math.min(heads * matrix, 2 ** 32 - 1))
  try {
    for (let head = 0; head < heads; head++)
      module.bytes(at + head * matrix, matrix).set(new Uint8Array(read(head).buffer))
    for (const row of rows)
      module.lend([row], (to) => {
        module.check(
          exports.map_rollout_back(
            web,
            at,
            heads,
            tokens,
            module.code('fusion', fusion),
            residual,
            discard,
            to
          )
        )
        row.set(new Float64Array(module.memory.buffer, to, tokens))
      })
  } finally {
    module.free(at)
  }
}

/** One layer of the rollout, for all rows at once. */
export function stepBack(
  { module, address, info }: Pick<OpenSession, 'module' | 'address' | 'info'>,
  wanted: Wanted,
  layer: number,
  rows: Float64Array[],
  read: ReadMap
) {
  const { tokens } = info,
    { batch = 0, fusion = 'mean', residual = 0, discard = 0 } = wanted,
    all = new Float64Array(rows.length * tokens)
  rows.forEach((row, i) => all.set(row, i * tokens))
  try {
    module.lend([all], (to) => {
      module.check(
        module.exports.session_rollout_back(
          address,
          batch,
          module.code('fusion', fusion),
          residual,
          wanted.firstLayer ?? 0,
          wanted.layerCount ?? 0,
          discard,
          layer,
          to,
          rows.length
        )
      )
      all.set(new Float64Array(module.memory.buffer, to, all.length))
    })
  } catch (error) {
    if ((error as HeedError).status !== 'UNSUPPORTED') throw error
    return multiply(module, info, wanted, rows, (head) => read({ layer, head, query: -1 }))
  }
  rows.forEach((row, i) => row.set(all.subarray(i * tokens, (i + 1) * tokens)))
}

/**
 * A token's row of the rollout, layer by layer from the last back, so that no more than a layer's
 * weights are in memory; with `each` the rows up to each layer, for which every layer's weights are
 * made once.
 */
export async function rolloutRows(
  { info: { layers, tokens } }: Pick<OpenSession, 'info'>,
  { query = 0, firstLayer: first = 0, layerCount = layers - first, each }: Wanted,
  context: CallContext,
  step: (layer: number, rows: Float64Array[]) => Promise<void>
) {
  if (query >= tokens)
    throw new HeedError(
      'INVALID_ARGUMENT',
      `rollout: query out of range (found ${query}, expected less than ${tokens})`
    )
  const count = Math.max(1, layerCount), // what is out of range, the module says
    rows: Float64Array[] = [],
    begin = () => Float64Array.from({ length: tokens }, (_, token) => Number(token === query))
  for (let done = 0; done < count; done++) {
    if (context.cancelled()) throw cancelled('rollout')
    if (each || !done) rows.unshift(begin())
    await step(first + count - 1 - done, rows)
    if (!context.watched) continue
    context.progress({ phase: 'run', done: done + 1, total: count })
    await pause()
  }
  const found = new Float32Array(rows.length * tokens)
  rows.forEach((row, i) => {
    found.set(row, i * tokens)
  })
  return found
}

/** All rows, from all maps at once. */
export function rollout(
  module: ModuleMemory,
  { layers, heads, tokens }: SessionInfo,
  wanted: Wanted,
  read: ReadMap
) {
  const { exports, web } = module,
    { fusion = 'mean', residual = 0, firstLayer = 0, layerCount = 0, discard = 0 } = wanted,
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
    return found
  } finally {
    module.free(all)
  }
}
