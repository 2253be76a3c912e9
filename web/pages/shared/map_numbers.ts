/* Numbers of maps without the session that they are of: from a file, or of a part of a model. */
import { loadExplain } from '../heed/explain/index.js'
import { pause } from './pause.js'
import type { HeadStatistics } from 'heed'
import type { SavedMaps, Shape } from './types.js'

/** Statistics of every head; map: the weights [N, N] of a head. */
export async function statisticsOf(
  { layers, heads, ...shape }: Shape & { patch: number },
  map: (layer: number, head: number) => Float32Array | Promise<Float32Array>
): Promise<HeadStatistics[][]> {
  const explain = await loadExplain(),
    all = []
  for (let layer = 0; layer < layers; layer++) {
    const ofLayer = []
    for (let head = 0; head < heads; head++) {
      ofLayer.push(explain.statistics(await map(layer, head), shape, shape.patch))
      await pause()
    }
    all.push(ofLayer)
  }
  return all
}

/** One row of the rollout over layers first..last; maps: the weights [H, N, N] of a layer. */
export async function rolloutRow(
  { heads, tokens }: Shape,
  maps: (layer: number) => Float32Array | Promise<Float32Array>,
  { token, first, last, ...how }: Parameters<SavedMaps['rollout']>[0]
): Promise<Float32Array> {
  const explain = await loadExplain()
  let row = new Float64Array(tokens)
  row[token] = 1
  for (let layer = last; layer >= first; layer--) {
    row = explain.rolloutBack(row, await maps(layer), heads, how)
    await pause()
  }
  return Float32Array.from(row)
}
