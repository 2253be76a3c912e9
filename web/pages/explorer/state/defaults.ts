/* What the page shows where nothing else was chosen, and the state within what a model has. The keys are those
 * that an address or a session file may hold (address.js). */
import { changesWithin, unchanged } from '../../shared/changes.js'
import type { Shape } from '../../shared/types.js'
import type { State } from '../types.js'

export const defaults = Object.freeze({
  scene: 159,
  objects: '',
  layer: 3,
  head: 0,
  query: [2, 10],
  view: 'heads',
  style: 'colour',
  scale: 'uniform',
  end: 0,
  tour: 0,
  zoom: '',
  more: 'lines',
  target: '',
  other: null,
  colours: 'cividis',
  strength: 0.8,
  reverse: false,
  fit: 'model',
  size: null,
  stage: -1,
  fusion: 'mean',
  first: 0,
  last: -1,
  residual: 0.5,
  score: 'softmax',
  discard: 0,
  sort: '',
  descending: false,
  filter: '',
  ...unchanged
} satisfies Omit<State, 'hover' | 'ran' | 'shown' | 'pinned' | 'pins'>)

type Place = Pick<State, 'layer' | 'head' | 'query'>

/** Where one's own model opens: the last layer, from CLS, or from the middle where it has none. */
export const placeOf = ({ layers, rows, columns, tokenNames }: Shape): Place => ({
  layer: layers - 1,
  head: 0,
  query: tokenNames?.[0] === 'CLS' ? 'cls' : [rows >> 1, columns >> 1]
})

export const isPlace = (state: Place, { layer, head, query }: Place) =>
  state.layer === layer && state.head === head && `${state.query}` === `${query}`

/** The state with what a model of this shape has: a link, or the model before, may say more. */
export function fitted(state: State, shape: Shape): State {
  const { layers, heads, rows, columns, prefixTokens, pool = 0 } = shape,
    { layer, head, query, first, last, reverse, score } = state,
    pooled = layer === 'pool' && pool > 0,
    end = last < layers ? last : -1
  const inside = Array.isArray(query)
    ? query[0] < rows && query[1] < columns
    : prefixTokens > (query === 'cls' ? 0 : query)
  return {
    ...state,
    ...changesWithin(state, shape),
    layer: pooled ? layer : Math.min(layer === 'pool' ? layers : layer, layers - 1),
    head: head === 'mean' ? head : Math.min(head, (pooled ? pool : heads) - 1),
    reverse: reverse && !pooled, // the probe is no token
    score: pooled ? 'softmax' : score,
    query: inside ? query : [rows >> 1, columns >> 1],
    first: Math.min(first, end < 0 ? layers - 1 : end),
    last: end
  }
}
