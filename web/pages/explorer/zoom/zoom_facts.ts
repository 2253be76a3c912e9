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
/** Values that a card writes out. */
export const valuesShown = 3
export interface ClassShare {
  label: string
  share: number
}
export interface TopKey {
  token: number
  weight: number
  name: string
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
  top: TopKey[]
  target: Target | null
  /** The shares once the target is hidden, and the keys that get most of them. */
  masked: Float32Array | null
  maskedTop: TopKey[]
  /** Of the first keys of `top`, and the mixture of all. */
  values: Float32Array[]
  mixed: Float32Array | null
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
function allOfHead(
  { engine }: Page,
  what: 'key' | 'value',
  values: LayerValues,
  { layer, head }: { layer: number; head: number }
): Float32Array {
  const { data } = values[`layer.${layer}.${what}`],
    length = data.length / engine.shape.heads
  return (data as Float32Array).subarray(head * length, (head + 1) * length)
}

/** What the query's head finds: the patches of the other twin, or its first key. */
export interface Target {
  tokens: number[]
  isTwin: boolean
  name: string
  share: number
}

/** Of the scene's twins, the one that the query is not on. */
function otherTwin({ engine, picture }: Page, patch: number, key: number) {
  const { twins, owner } = picture,
    { rows, columns, prefixTokens } = engine.shape,
    mine = owner?.length === rows * columns ? (twins?.indexOf(owner[patch]) ?? -1) : -1,
    other = mine < 0 ? undefined : twins?.[1 - mine]
  return other === undefined || owner?.[key - prefixTokens] !== other ? undefined : other
}

function targetOf(page: Page, patch: number, key: number): Target | null {
  if (key < 0) return null
  const { engine, drawn, picture } = page,
    other = otherTwin(page, patch, key),
    { prefixTokens } = engine.shape,
    tokens =
      other === undefined
        ? [key]
        : Array.from(picture.owner, (one, at) => (one === other ? at + prefixTokens : -1)).filter(
            (at) => at >= 0
          )
  return {
    tokens,
    isTwin: other !== undefined,
    name:
      other === undefined
        ? engine.nameOf(key)
        : say('tour.other', { shape: className(picture.drawing.objects[other].shape) }),
    share: tokens.reduce((sum, token) => sum + drawn.row[token], 0)
  }
}

/** The shares of scores without some of them. */
function sharesWithout(scores: Float32Array, hidden: number[]) {
  const left = scores.map((score, token) => (hidden.includes(token) ? -Infinity : score)),
    most = left.reduce((a, b) => Math.max(a, b), -Infinity),
    raised = Float64Array.from(left, (score) => Math.exp(score - most)),
    sum = raised.reduce((a, b) => a + b, 0)
  return Float32Array.from(raised, (one) => one / sum)
}

/** The mean of all values by their shares: what the head gives the query's token. */
function mixedOf(weights: Float32Array, all: Float32Array) {
  const depth = all.length / weights.length,
    mixed = new Float64Array(depth)
  weights.forEach((weight, token) => {
    for (let i = 0; i < depth; i++) mixed[i] += weight * all[token * depth + i]
  })
  return Float32Array.from(mixed)
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
    topOfRow = (row: Float32Array) =>
      topOf(row, 5).map((one) => ({ ...one, name: engine.nameOf(one.token) })),
    top = topOfRow(weights),
    lines = keysOf(drawn),
    key = lines.length
      ? lines[0].patch + prefixTokens
      : (topOf(weights, 2).find((one) => one.token !== token)?.token ?? -1),
    vector = (what: 'query' | 'key' | 'value', token: number) =>
      token < 0 || !values ? null : vectorOf(page, what, layer, head, token, values),
    query = vector('query', token),
    keyVector = vector('key', key),
    states = values?.[statesOf(layer)]?.data as Float32Array | undefined,
    width = (states?.length ?? 0) / tokens,
    ofHead = (what: 'key' | 'value') =>
      query && values && allOfHead(page, what, values, { layer, head }),
    keys = ofHead('key'),
    all = ofHead('value'),
    scores = query && keys && engine.explain.scoreProducts(query, keys, true),
    target = targetOf(page, patch, key),
    masked = scores && target && sharesWithout(scores, target.tokens)
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
    scores,
    weights,
    top,
    target,
    masked,
    maskedTop: masked ? topOfRow(masked) : [],
    values: top.slice(0, valuesShown).map(({ token }) => vector('value', token) as Float32Array),
    mixed: all && mixedOf(weights, all),
    lines,
    answer: answerOf(page, of)
  }
}
