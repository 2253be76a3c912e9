/* The cards of the zoom: the numbers of one tile, its query, key and value, the products with one key,
 * and the softmax of its scores. Units are those of the card (world.ts). */
import { nothing, svg } from 'lit-html'
import { divergingTable } from '../../plot/diverging.js'
import { percent } from '../../plot/caption.js'
import { fixed } from '../../plot/parts/numbers.js'
import { say } from '../../languages/say.js'
import { cardNames, inLine } from './world.js'
import type { Facts, TopKey } from './zoom_facts.js'
import type { CardName, Place, World } from './world.js'

const diverging = divergingTable(),
  textsMost = 512 // numbers of a card that are written out
const dark = 0.62 // from this part of the end on a cell's letters are white

export const number = (value: number, digits = 2) => fixed(value, digits).replace('-', '−')
const largestSize = (...lists: (ArrayLike<number> | null)[]) =>
  lists.reduce(
    (most, list) => (list ? Math.max(most, ...Array.from(list, Math.abs)) : most),
    Number.MIN_VALUE
  )

function colourOf(share: number) {
  const at = Math.round(Math.min(1, Math.max(0, share / 2 + 0.5)) * 255) * 3
  return `rgb(${diverging[at]} ${diverging[at + 1]} ${diverging[at + 2]})`
}

interface CellsLook {
  x: number
  y: number
  width: number
  height: number
  across: number
  end: number
  /** From line to line; default: the height. */
  pitch?: number
}

/** Numbers as cells, each with its number. */
function cells(
  numbers: ArrayLike<number>,
  { x, y, width, height, across, end, pitch = height }: CellsLook
) {
  const written = numbers.length <= textsMost,
    size = Math.min(13, width / 3.3)
  return Array.from(numbers, (value, i) => {
    const left = x + (i % across) * width,
      top = y + Math.floor(i / across) * pitch,
      share = value / end
    return svg`<rect x=${left} y=${top} width=${width - 2} height=${height - 2} fill=${colourOf(share)}/>${written ? svg`<text class=${Math.abs(share) > dark ? 'number on' : 'number'} x=${left + width / 2 - 1} y=${top + height / 2 + size * 0.34} font-size=${size}>${number(value)}</text>` : nothing}`
  })
}

const heading = (text: string) => svg`<text class="heading" x="0" y="22">${text}</text>`
const missing = (text: string) => svg`<text class="note" x="0" y="60">${text}</text>`

function numbersCard({ state, name, layer }: Facts, { narrow, cards }: World) {
  if (!state) return [heading(name), missing(say('zoom.notKept'))]
  const wanted = inLine(narrow),
    across = Math.max(wanted, Math.ceil(state.length / 8)),
    { width } = cards.numbers
  return [
    heading(
      say(layer ? 'zoom.stateBefore' : 'zoom.stateAfter', { name, count: state.length, layer })
    ),
    cells(state, {
      x: 0,
      y: 40,
      width: width / (state.length > 256 ? across : wanted),
      height: narrow ? 21 : 34,
      across: state.length > 256 ? across : wanted,
      end: largestSize(state)
    })
  ]
}

function queryCard({ query, ownKey, value, name }: Facts, { narrow, cards }: World) {
  if (!query) return [heading(name), missing(say('zoom.notKept'))]
  const across = inLine(narrow),
    height = narrow ? 24 : 30,
    { width } = cards.query,
    end = largestSize(query, ownKey, value),
    each = Math.ceil(query.length / across) * height + 18
  const named = [
    [say('story.query'), 'q', query],
    [say('story.key'), 'k', ownKey],
    [say('story.value'), 'v', value]
  ] as [string, string, Float32Array | null][]
  return [
    heading(say('zoom.makes', { name, depth: query.length })),
    named.map(([word, letter, numbers], i) =>
      numbers
        ? svg`<text class="side" x="0" y=${52 + i * each + 14}>${letter}<title>${word}</title></text>${cells(
            numbers,
            {
              x: 24,
              y: 44 + i * each,
              width: (width - 24) / across,
              height,
              across,
              end
            }
          )}`
        : nothing
    )
  ]
}

function productsCard(facts: Facts, { narrow, cards }: World) {
  const { query, keyVector, products, name, keyName, key, weights } = facts
  if (!query || !keyVector || !products) return [heading(name), missing(say('zoom.notKept'))]
  const across = inLine(narrow),
    height = narrow ? 24 : 30,
    block = 2 * height + 62,
    { width } = cards.products,
    cell = (width - 24) / across,
    end = largestSize(query, keyVector),
    most = largestSize(products.products),
    lines = Math.ceil(query.length / across)
  const bars = products.products.map((value, i) => {
    const x = 24 + (i % across) * cell,
      middle = 44 + Math.floor(i / across) * block + 2 * height + 26,
      high = (Math.abs(value) / most) * 22
    return svg`<rect class=${value < 0 ? 'less' : 'more'} x=${x + cell * 0.2} y=${value < 0 ? middle : middle - high} width=${cell * 0.6} height=${Math.max(0.5, high)}/><text class="small" x=${x + cell / 2} y=${middle + (value < 0 ? high + 9 : 10)}>${number(value)}</text>`
  })
  const sides = Array.from({ length: lines }, (_, line) =>
      ['q', 'k', '×'].map(
        (letter, i) =>
          svg`<text class="side" x="0" y=${44 + line * block + i * height + height * 0.68}>${letter}</text>`
      )
    ),
    look = (y: number): CellsLook => ({
      x: 24,
      y,
      width: cell,
      height,
      across,
      end,
      pitch: block
    }),
    foot = 44 + lines * block + 36
  return [
    heading(say('zoom.asks', { name, key: keyName })),
    cells(query, look(44)),
    cells(keyVector, look(44 + height)),
    bars,
    sides,
    svg`<text class="sum" x="0" y=${foot} font-size=${narrow ? 17 : 25}><tspan data-number="raw">${number(products.raw)}</tspan> ÷ √${query.length} = <tspan data-number="scaled">${number(products.scaled)}</tspan> → softmax → <tspan class="bold" data-number="share">${percent(weights[key])}</tspan></text>`
  ]
}

/** Bars of all tokens, in their order; those that are hidden in another colour. */
function bars(
  values: ArrayLike<number>,
  {
    x,
    y,
    width,
    height,
    least,
    most,
    hidden = []
  }: Record<'x' | 'y' | 'width' | 'height' | 'least' | 'most', number> & { hidden?: number[] }
) {
  const step = width / values.length,
    zero = y + (height * most) / (most - least),
    paths = { bars: '', less: '' }
  for (let i = 0; i < values.length; i++) {
    const value = Number.isFinite(values[i]) ? values[i] : 0,
      end = y + (height * (most - value)) / (most - least)
    paths[hidden.includes(i) ? 'less' : 'bars'] +=
      `M${(x + i * step).toFixed(2)} ${zero.toFixed(2)}h${(step * 0.85).toFixed(2)}V${end.toFixed(2)}h${(-step * 0.85).toFixed(2)}z`
  }
  return svg`<path class="bars" d=${paths.bars}/><path class="less" d=${paths.less}/><path class="zero" d=${`M${x} ${zero}h${width}`}/>`
}

/** Scores of all tokens, their shares below, and the first keys as a table. */
function sharesCard(
  { width }: Place,
  narrow: boolean,
  {
    title,
    between,
    scores,
    weights,
    top,
    hidden = []
  }: {
    title: string
    between: string
    scores: Float32Array | null
    weights: Float32Array
    top: TopKey[]
    hidden?: number[]
  }
) {
  const plot = narrow ? width : 610,
    high = narrow ? 105 : 155,
    second = 44 + high + 50
  const finite = scores ? Array.from(scores).filter(Number.isFinite) : [],
    most = Math.max(0, ...finite),
    least = Math.min(0, ...finite),
    largest = top[0].weight,
    table = narrow ? { x: 0, y: second + high + 22 } : { x: plot + 40, y: 66 }
  return [
    heading(title),
    scores
      ? svg`${bars(scores, { x: 0, y: 44, width: plot, height: high, least, most, hidden })}<text class="axis" x="0" y="38">${number(most)}</text><text class="axis" x="0" y=${44 + high + 12}>${number(least)}</text>`
      : missing(say('zoom.notKept')),
    svg`<text class="between" x=${plot / 2} y=${44 + high + 26}>${between}</text>`,
    bars(weights, { x: 0, y: second, width: plot, height: high, least: 0, most: largest || 1 }),
    svg`<text class="axis" x="0" y=${second - 5}>${percent(largest)}</text>`,
    svg`<text class="axis bold" x=${table.x} y=${table.y}>${say('story.key')}</text><text class="axis bold end" x=${table.x + (narrow ? 250 : 230)} y=${table.y}>q·k / √D</text><text class="axis bold end" x=${table.x + (narrow ? 360 : 340)} y=${table.y}>${say('story.share')}</text>`,
    top.map(({ token, weight, name }, i) => {
      const y = table.y + (i + 1) * (narrow ? 21 : 34)
      return svg`<text class="cell" data-key=${token} x=${table.x} y=${y}>${name}</text><text class="cell end" data-score=${token} x=${table.x + (narrow ? 250 : 230)} y=${y}>${scores ? number(scores[token]) : '–'}</text><text class="cell end bold" data-share=${token} x=${table.x + (narrow ? 360 : 340)} y=${y}>${percent(weight)}</text>`
    })
  ]
}

const softmaxCard = ({ scores, weights, name, top }: Facts, { narrow, cards }: World) =>
  sharesCard(cards.softmax, narrow, {
    title: say('zoom.scoresOf', { name, count: weights.length }),
    between: 'softmax ↓',
    scores,
    weights,
    top
  })

function maskCard({ scores, masked, maskedTop, target, name }: Facts, { narrow, cards }: World) {
  if (!masked || !target) return [heading(name), missing(say('zoom.notKept'))]
  return sharesCard(cards.mask, narrow, {
    title: say('zoom.scoresMasked', { hidden: target.name }),
    between: say('zoom.maskBetween'),
    scores,
    weights: masked,
    top: maskedTop,
    hidden: target.tokens
  })
}

function valuesCard({ values, mixed, top, weights, name }: Facts, { narrow, cards }: World) {
  if (!mixed) return [heading(name), missing(say('zoom.notKept'))]
  const across = inLine(narrow),
    height = narrow ? 24 : 30,
    { width } = cards.values,
    end = largestSize(mixed, ...values),
    each = Math.ceil(mixed.length / across) * height + 34,
    lines = [
      ...values.map((value, i) => ({
        title: `${percent(top[i].weight)} × ${say('story.valueOf')} ${top[i].name}`,
        value
      })),
      { title: say('zoom.mixed', { count: weights.length }), value: mixed }
    ]
  return [
    heading(say('zoom.mixes', { name })),
    lines.map(
      ({ title, value }, i) =>
        svg`<text class=${i < values.length ? 'cell' : 'cell bold'} x="0" y=${58 + i * each}>${title}</text><g data-values=${i < values.length ? top[i].token : 'mixed'}>${cells(value, { x: 0, y: 66 + i * each, width: width / across, height, across, end })}</g>`
    )
  ]
}

const drawn = {
  numbers: numbersCard,
  query: queryCard,
  products: productsCard,
  softmax: softmaxCard,
  mask: maskCard,
  values: valuesCard
} satisfies Record<CardName, (facts: Facts, world: World) => unknown>

/** A place's own units. */
export const within = ({ x, y, k }: Place) => `translate(${x} ${y}) scale(${k})`

export const cardsOf = (facts: Facts, world: World) =>
  cardNames.map((name) => {
    const { width, height } = world.cards[name]
    return svg`<g class="card" data-card=${name} transform=${within(world.cards[name])}><rect class="ground" x="-14" y="-14" width=${width + 28} height=${height + 28} rx="8"/>${drawn[name](facts, world)}</g>`
  })
