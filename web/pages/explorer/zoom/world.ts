/* Where things are in the world of the zoom. The picture has a side of 1000. Beside the tile that asks,
 * or below it on a narrow screen, four cards hold its numbers; beside the picture, or below it, are
 * the lanes of the heads, and behind them the answer. */
import { valuesShown } from './zoom_facts.js'
import type { Shape } from '../../shared/types.js'
import type { Box } from './camera.js'
import type { Stop } from './stops.js'

export const side = 1000

/** A place with units of its own: about a pixel of the screen at its stop. */
export interface Place {
  x: number
  y: number
  /** World units a unit. */
  k: number
  width: number
  height: number
}
export const cardNames = ['numbers', 'query', 'products', 'softmax', 'mask', 'values'] as const
export type CardName = (typeof cardNames)[number]
export interface World {
  narrow: boolean
  shape: Shape
  picture: Box
  tile: Box
  cards: Record<CardName, Place>
  lanes: Place
  answer: Place
  /** Of the lanes: from layer to layer, from head to head, and a side of a map. */
  pitch: { along: number; across: number; map: number }
  boxes: Record<Stop, Box>
}

/** Numbers in a line of a card. */
export const inLine = (narrow: boolean) => (narrow ? 8 : 16)

const boxOf = ({ x, y, k, width, height }: Place): Box => ({
  x,
  y,
  width: width * k,
  height: height * k
})
const around = ({ x, y, width, height }: Box, by: number): Box => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by
})
const both = (a: Box, b: Box): Box => {
  const x = Math.min(a.x, b.x),
    y = Math.min(a.y, b.y)
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y
  }
}

/** Heights of the cards, in their units. */
function heightsOf(narrow: boolean, { count, depth }: { count: number; depth: number }) {
  const lines = (numbers: number) => Math.ceil(numbers / inLine(narrow)),
    row = narrow ? 24 : 30
  return {
    numbers: 44 + lines(count) * (narrow ? 21 : 34),
    query: 44 + 3 * (lines(depth) * row + 18),
    products: 44 + lines(depth) * (2 * row + 62) + 64,
    softmax: narrow ? 470 : 440,
    mask: narrow ? 470 : 440,
    values: 44 + (valuesShown + 1) * (lines(depth) * row + 34)
  }
}

/**
 * @param sizes of the state and of a head's vectors
 * @param at the patch that asks
 */
export function worldOf(
  shape: Shape,
  narrow: boolean,
  sizes: { count: number; depth: number },
  at: { row: number; column: number }
): World {
  const { rows, columns, layers, heads } = shape,
    tall = (side * rows) / columns,
    picture = { x: 0, y: 0, width: side, height: tall },
    unit = side / columns,
    tile = { x: at.column * unit, y: at.row * unit, width: unit, height: unit },
    width = narrow ? 370 : 1000,
    k = (narrow ? 2.4 : 3.6) * (unit / width),
    heights = heightsOf(narrow, sizes),
    left = narrow ? tile.x + (unit - width * k) / 2 : tile.x + 1.12 * unit
  let top = narrow ? tile.y + 1.1 * unit : tile.y
  const cards = {} as World['cards']
  for (const name of cardNames) {
    cards[name] = { x: left, y: top, k, width, height: heights[name] }
    top += (heights[name] + 60) * k
  }
  const pitch = narrow ? { along: 100, across: 90, map: 56 } : { along: 190, across: 124, map: 78 },
    length = pitch.along * layers + 60,
    breadth = pitch.across * heads + 30,
    small = Math.min(1, narrow ? 390 / breadth : 540 / breadth),
    grow = (narrow ? 2.7 : 1.9) * small,
    lanes: Place = narrow
      ? { x: (side - breadth * grow) / 2, y: tall + 160, k: grow, width: breadth, height: length }
      : { x: side + 160, y: (tall - breadth * grow) / 2, k: grow, width: length, height: breadth },
    ended = boxOf(lanes),
    answer: Place = narrow
      ? {
          x: (side - 360 * 2.7) / 2,
          y: ended.y + ended.height + 60,
          k: 2.7,
          width: 360,
          height: 300
        }
      : { x: ended.x + ended.width + 60, y: tall / 2 - 160 * 2.2, k: 2.2, width: 420, height: 320 }
  const margin = 14 * k,
    card = (name: CardName) => around(boxOf(cards[name]), margin),
    rulers = around(picture, narrow ? 62 : 48)
  return {
    narrow,
    shape,
    picture,
    tile,
    cards,
    lanes,
    answer,
    pitch,
    boxes: {
      picture: around(picture, 14),
      tiles: rulers,
      numbers: around(both(tile, boxOf(cards.numbers)), margin),
      query: card('query'),
      products: card('products'),
      softmax: card('softmax'),
      mask: card('mask'),
      values: card('values'),
      map: around(picture, 14),
      heads: around(ended, 26),
      layers: around(ended, 26),
      answer: around(boxOf(answer), 40)
    }
  }
}
