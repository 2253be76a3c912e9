/* Positions and many heads: tokens get their place, are split over heads, each head attends, the
 * heads are put side by side and projected. */
import { html, nothing, render } from 'lit-html'
import { element } from '../shared/elements.js'
import { fixed } from '../plot/parts/numbers.js'
import { showAgreement } from '../shared/runtime_agreement.js'
import { formulas } from './formulas.js'
import { say } from '../languages/say.js'
import { showTable } from '../shared/matrix_table.js'
import { asHeadsCase, manyHeads, positions } from '../shared/small_attention.js'
import type { SmallHeadsResult } from '../shared/types.js'

const projection = [
  [1, 0, 0, 0],
  [0, 1, 0, 0],
  [0, 0, 1, 0],
  [0, 0, 0, 1]
]
export type HeadsSetting = ReturnType<typeof setting>

let words: string[] = []
let tokens: number[][] = []
let looked: [table: string, row: number, column: number] | null = null
let timer: ReturnType<typeof setTimeout> | undefined

/** Which heads fit a width. */
const headCounts = (width: number) => [1, 2, 4].filter((heads) => width % heads === 0)

function setting() {
  const count = tokens.length,
    size = tokens[0].length,
    swapped = element('swap').checked && count > 2
  const order = tokens.map((_, i) => (swapped && (i === 1 || i === 2) ? 3 - i : i)),
    own = order.map((i) => tokens[i]),
    place = positions(count, size)
  const moved = element('add-positions').checked
    ? own.map((row, i) => row.map((value, d) => value + place[i][d]))
    : own
  return {
    words: order.map((i) => words[i]),
    order,
    given: own,
    place,
    tokens: moved,
    heads: Number(element('heads').value),
    projection: projection.slice(0, size).map((row) => row.slice(0, size)),
    size
  }
}

/** What swapping two tokens does to their outputs. */
function sayOrder({ order, heads, projection }: HeadsSetting, { output }: SmallHeadsResult) {
  if (!element('swap').checked) return say('learn.order.ask')
  const place = element('add-positions').checked ? positions(tokens.length, tokens[0].length) : null
  const straight = manyHeads({
    tokens: place ? tokens.map((row, i) => row.map((value, d) => value + place[i][d])) : tokens,
    heads,
    projection
  }).output
  const apart = Math.max(
    ...order.flatMap((from, i) => output[i].map((value, d) => Math.abs(value - straight[from][d])))
  )
  return apart < 1e-9
    ? say('learn.order.same')
    : say('learn.order.differs', { apart: fixed(apart, 3) })
}

function look(of: string, show: () => void): (row: number, column: number) => void {
  return (i, j) => {
    looked = [of, i, j]
    show()
  }
}

function showHeads(set: HeadsSetting, result: SmallHeadsResult) {
  const host = element('head-tables')
  render(
    result.weights.map(() => html`<div></div>`),
    host
  )
  result.weights.forEach((weights, head) => {
    showTable(host.children[head] as HTMLElement, {
      caption: say('learn.headWeights', { head: head + 1 }),
      values: weights,
      rows: set.words,
      columns: set.words
    })
  })
}

const most = (rows: number[][]) => Math.max(1e-9, ...rows.flat().map(Math.abs))

/** The places, and the tokens with them. */
function drawTokens(set: HeadsSetting, columns: string[]) {
  showTable(element('places'), {
    caption: say('learn.places'),
    values: set.place,
    rows: set.words.map((_, i) => `${i}`),
    columns
  })
  const moved = set.tokens
  showTable(element('placed'), {
    caption: say('learn.tokens'),
    values: moved,
    rows: set.words,
    columns,
    largest: most(moved),
    onLook: look('place', draw),
    chosen:
      looked?.[0] === 'joined'
        ? (_: unknown, d) =>
            Math.floor(d / (set.size / set.heads)) ===
            Math.floor(
              (looked as [table: string, row: number, column: number])[2] / (set.size / set.heads)
            )
        : null
  })
}

/** The projection, which can be changed. */
function drawProjection(set: HeadsSetting, columns: string[]) {
  showTable(element('projection'), {
    caption: say('learn.projection'),
    values: set.projection,
    rows: columns,
    columns,
    digits: 2,
    onEdit: (i, j, value: number) => {
      projection[i][j] = value
      draw()
    },
    chosen:
      looked?.[0] === 'projected'
        ? (i) => i === (looked as [table: string, row: number, column: number])[2]
        : null
  })
}

function draw() {
  const set = setting(),
    result = manyHeads(set),
    columns = set.given[0].map((_, d) => `${d + 1}`)
  drawTokens(set, columns)
  showHeads(set, result)
  showTable(element('joined'), {
    caption: say('learn.joined'),
    values: result.joined,
    rows: set.words,
    columns,
    largest: most(result.joined),
    onLook: look('joined', draw),
    chosen:
      looked?.[0] === 'projected'
        ? (i) => i === (looked as [table: string, row: number, column: number])[1]
        : null
  })
  drawProjection(set, columns)
  showTable(element('projected'), {
    caption: say('learn.output'),
    values: result.output,
    rows: set.words,
    columns,
    largest: most(result.output),
    onLook: look('projected', draw)
  })
  explain(set, result)
  element('order-said').textContent = sayOrder(set, result)
  clearTimeout(timer)
  timer = setTimeout(() => showAgreement(element('heads-agreement'), asHeadsCase(set, result)), 250)
}

function explain(set: HeadsSetting, result: SmallHeadsResult) {
  const [of, i, j] = looked ?? ['', 0, 0]
  render(
    of === 'place' && element('add-positions').checked
      ? formulas.place(i, j, { size: set.size, tokens: set.given, moved: set.tokens })
      : nothing,
    element('place-formula')
  )
  render(of && of !== 'place' ? formulas[of](i, j, set, result) : nothing, element('heads-formula'))
}

/** Takes the tokens of an example; heads that do not fit its width are left out. */
export function takeTokens(rows: number[][], names: string[]) {
  const counts = headCounts(rows[0].length),
    select = element('heads'),
    before = Number(select.value)
  tokens = rows
  words = names
  looked = null
  select.replaceChildren(...counts.map((count) => new Option(String(count))))
  select.value = String(
    counts.includes(before) ? before : (counts.at(-1) as number) > 2 ? 2 : counts.at(-1)
  )
  draw()
}

export function connectHeads() {
  for (const id of ['heads', 'add-positions', 'swap']) element(id).addEventListener('input', draw)
}
