/* The numbers of the zoom, all of the run and the row that the stage shows. */
import { topOf } from '../../plot/caption.js'
import { className } from '../../shared/names.js'
import { say } from '../../languages/say.js'
import { probabilitiesOf } from '../model/probabilities.js'
import { keysOf } from '../views/stage/arcs.js'
import { productsOf, vectorOf } from '../views/matrix/pair.js'
import { statesOf } from './layer_values.js'
import type { RunnerResult } from '../../shared/types.js'
import type { Page } from '../types.js'
import type { LayerValues } from './layer_values.js'

export const classesShown = 5
export interface ClassShare {
  label: string
  share: number
}
export interface Facts {
  layer: number
  head: number
  /** The query's token, and the patch's place. */
  token: number
  row: number
  column: number
  name: string
  /** The key that gets most but the query itself, -1: none. */
  key: number
  keyName: string
  /** The state before the layer; after it in the first. */
  state: Float32Array | null
  query: Float32Array | null
  keyVector: Float32Array | null
  ownKey: Float32Array | null
  value: Float32Array | null
  products: ReturnType<typeof productsOf> | null
  /** q·k / √D of all tokens. */
  scores: Float32Array | null
  weights: Float32Array
  top: { token: number; weight: number; name: string }[]
  /** The patches that lines lead to. */
  lines: { patch: number; weight: number }[]
  answer: ClassShare[]
}

/** The most probable classes of a run. */
export function answerOf({ engine }: Page, { logits }: RunnerResult): ClassShare[] {
  if (!logits) return []
  const shares = probabilitiesOf(engine, logits)
  return topOf(shares, Math.min(classesShown, shares.length)).map(({ token, weight }) => ({
    label: className(engine.model.labels[token] ?? say('numbers.class', { index: token })),
    share: weight
  }))
}

/** Of all tokens. */
function keysOfHead(
  { engine }: Page,
  values: LayerValues | null,
  layer: number,
  head: number
): Float32Array {
  const { data } = (values as LayerValues)[`layer.${layer}.key`],
    length = data.length / engine.shape.heads
  return (data as Float32Array).subarray(head * length, (head + 1) * length)
}

/** values: what the row is made from. null: the stage shows no row of a patch in one head. */
export function factsOf(page: Page, values: LayerValues | null): Facts | null {
  const { drawn, engine } = page
  if (!drawn) return null
  const { at, of, token, row: weights, shape } = drawn,
    { columns, prefixTokens, tokens } = shape,
    { layer, head } = at
  if (token < prefixTokens || layer === 'pool' || head === 'mean' || at.rollout || at.reverse)
    return null
  const patch = token - prefixTokens,
    top = topOf(weights, 5).map((one) => ({ ...one, name: engine.nameOf(one.token) })),
    lines = keysOf(drawn),
    key = lines.length
      ? lines[0].patch + prefixTokens
      : (topOf(weights, 2).find((one) => one.token !== token)?.token ?? -1),
    vector = (what: 'query' | 'key' | 'value', token: number) =>
      token < 0 || !values ? null : vectorOf(page, what, layer, head, token, values),
    query = vector('query', token),
    keyVector = vector('key', key),
    states = values?.[statesOf(layer)]?.data as Float32Array | undefined,
    width = (states?.length ?? 0) / tokens
  return {
    layer,
    head,
    token,
    row: Math.floor(patch / columns),
    column: patch % columns,
    name: engine.nameOf(token),
    key,
    keyName: key < 0 ? '' : engine.nameOf(key),
    state: states?.subarray(token * width, (token + 1) * width) ?? null,
    query,
    keyVector,
    ownKey: vector('key', token),
    value: vector('value', token),
    products: query && keyVector && productsOf(query, keyVector),
    scores:
      query && engine.explain.scoreProducts(query, keysOfHead(page, values, layer, head), true),
    weights,
    top,
    lines,
    answer: answerOf(page, of)
  }
}
