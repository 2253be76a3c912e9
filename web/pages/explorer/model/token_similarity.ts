/* How alike tokens are to one of them: by their states after a layer, and by the position
 * embeddings that the model has learned for its patches, which no picture changes. Cosines; tokens
 * are prefix tokens first, then patches in raster order. */
import { storedTensor } from '../../shared/stored_tensor.js'
import type { Page } from '../types.js'
import type { PageSource } from '../../shared/types.js'
import type { TensorUse } from 'heed'

const role = 'embeddings.position_embeddings',
  known = new WeakMap()

/** [1, rows, width] in the file that has it, as an array a row; null where none has. */
async function readPositions(
  source: PageSource,
  tensors: TensorUse[]
): Promise<Float32Array[] | null> {
  const found = await storedTensor(source, tensors, role)
  if (!found) return null
  const { shape, data } = found,
    width = shape.at(-1) as number
  return Array.from({ length: shape.at(-2) as number }, (_, row) =>
    data.subarray(row * width, (row + 1) * width)
  )
}

/** The position embeddings of all tokens, an array each, null for a token before the patches that
 * has none; null where the file has none, or those of another grid, which the runtime makes fit. */
export async function positionsOf({
  engine,
  source
}: Page): Promise<(Float32Array | null)[] | null> {
  if (engine.only) return null
  if (!known.has(source))
    known.set(
      source,
      engine.tensors().then(({ found }) => readPositions(source, found))
    )
  const rows = await known.get(source),
    { tokens, prefixTokens } = engine.shape,
    patches = tokens - prefixTokens,
    own = rows ? rows.length - patches : -1
  if (own < 0 || own > prefixTokens) return null
  return Array.from({ length: tokens }, (_, token) =>
    token < prefixTokens ? (token < own ? rows[token] : null) : rows[token - prefixTokens + own]
  )
}

/** Cosines of every row with that of a token; NaN where either has none. */
export function alikeTo(
  { explain }: Pick<Page['engine'], 'explain'>,
  rows: (Float32Array | null)[],
  token: number
) {
  const own = rows[token],
    there = rows.filter((row) => row !== null),
    all = new Float32Array(there.length * (there[0]?.length ?? 0))
  if (!own) return rows.map(() => NaN)
  there.forEach((row, i) => all.set(row, i * own.length))
  const cosines = explain.cosines(own, all).values()
  return rows.map((row) => (row ? (cosines.next().value as number) : NaN))
}

/** Of every token after a layer, for the token that is the query: { states, lengths, positions },
 * null where there are none. */
export async function likeness(page: Page, layer: number, token: number) {
  const states = await page.engine.statesAfter(layer),
    positions = await positionsOf(page)
  return {
    states: states && alikeTo(page.engine, states, token),
    lengths: states && states.map((state) => Math.hypot(...state)),
    positions: positions && alikeTo(page.engine, positions, token),
    size: states?.[0].length
  }
}
