/* Arrays that say their dimensions. They do it by a property that is not enumerable: equality, JSON and
 * copies see the numbers alone. */
import type { LayerPlace, RunResult, SessionInfo, Shaped } from 'heed'

export const shaped = (array: Float32Array, ...dims: number[]): Shaped =>
  Object.defineProperty(array, 'dims', {
    value: Object.freeze(dims),
    configurable: true
  }) as Shaped

/** [batch, H, T, T], of a layer with windows [batch * down * across, H, n, n]. */
function dimsOfMaps(batch: number, place: LayerPlace) {
  const { heads, window, down, across, prefixTokens, frames, rows, columns } = place,
    tokens = window ? window * window : prefixTokens + frames * rows * columns
  return [window ? batch * down * across : batch, heads, tokens, tokens]
}

/** A run's result as the engine gives it, with dimensions. */
export function shapedRun(result: RunResult, { batch, places }: SessionInfo): RunResult {
  const { logits, attention } = result
  if (logits) shaped(logits, batch, logits.length / batch)
  for (const [layer, maps] of (attention ?? []).entries())
    shaped(maps, ...dimsOfMaps(batch, places[layer]))
  return result
}

/** A row of weights, or a matrix of rows. */
export const shapedRows = (weights: Float32Array, isRow: boolean) => {
  const tokens = Math.sqrt(weights.length)
  return isRow ? shaped(weights, weights.length) : shaped(weights, tokens, tokens)
}
