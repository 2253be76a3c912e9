/* The stops of the zoom, in the order of the way from the picture to the answer, each with the step of
 * Learn whose text it shares, and the view that has its numbers. */
import type { TextKey } from '../../languages/say.js'
import type { State } from '../types.js'

const pair = { view: 'more', more: 'pair' } satisfies Partial<State>

export const stops = {
  picture: { title: 'zoom.stop.picture' },
  tiles: { title: 'zoom.stop.tiles', step: 1 },
  numbers: { title: 'zoom.stop.numbers', step: 2, view: { view: 'tokens' } },
  query: { title: 'zoom.stop.query', step: 3, view: pair },
  products: { title: 'zoom.stop.products', step: 4, view: pair },
  softmax: { title: 'zoom.stop.softmax', step: 5, view: { view: 'matrix' } },
  mask: { title: 'zoom.stop.mask', step: 8, view: { view: 'intervene' } },
  values: { title: 'zoom.stop.values', step: 6, view: { view: 'matrix' } },
  map: { title: 'zoom.stop.map' },
  heads: { title: 'zoom.stop.heads', step: 7, view: { view: 'heads' } },
  layers: { title: 'zoom.stop.layers', step: 9, view: { view: 'rollout' } },
  answer: { title: 'zoom.stop.answer', step: 10, view: { view: 'intervene' } }
} satisfies Record<string, { title: TextKey; step?: number; view?: Partial<State> }>

export type Stop = keyof typeof stops
export const stopNames = Object.keys(stops) as Stop[]
