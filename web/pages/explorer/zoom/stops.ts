/* The stops of the zoom, in the order of the way from the picture to the answer, each with the step of
 * Learn whose text it shares. */
import type { TextKey } from '../../languages/say.js'

/** text: of Learn's step, where it says nothing of one picture alone. */
export const stops = {
  picture: { title: 'zoom.stop.picture' },
  tiles: { title: 'zoom.stop.tiles', step: 1, text: 'learn.1.text' },
  numbers: { title: 'zoom.stop.numbers', step: 2, text: 'learn.2.text' },
  query: { title: 'zoom.stop.query', step: 3, text: 'learn.3.text' },
  products: { title: 'zoom.stop.products', step: 4, text: 'learn.4.text' },
  softmax: { title: 'zoom.stop.softmax', step: 5, text: 'learn.5.text' },
  map: { title: 'zoom.stop.map', step: 6 },
  heads: { title: 'zoom.stop.heads', step: 7 },
  answer: { title: 'zoom.stop.answer', step: 10 }
} satisfies Record<string, { title: TextKey; step?: number; text?: TextKey }>

export type Stop = keyof typeof stops
export const stopNames = Object.keys(stops) as Stop[]
