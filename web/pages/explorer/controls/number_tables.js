/* The numbers that a picture shows, as a table in a dialog, to be read and to be copied in full
 * precision: the stage's map in its own shape, and each view's pictures. Loaded when asked for. */
import { showDialog } from './dialog.js'
import { likeness } from '../model/token_similarity.js'
import { entropy } from '../model/attention_rows.js'
import { tokenName, topOf } from '../../plot/caption.js'
/** @import {Page} from '../../../types/pages.js' */

const most = 40000 // cells; a larger table would take long to stand
/** @param {number} value */
const hundredths = (value) => (value * 100).toFixed(3).replace(/^-/, '−')
/** @param {number} value */
const score = (value) => (value === -Infinity ? 'barred' : value.toFixed(3))

/** @param {Pick<Page, 'engine'>} options */
const names = ({
  engine: {
    shape: { tokens, prefixTokens, columns }
  }
}) => Array.from({ length: tokens }, (_, token) => tokenName(token, prefixTokens, columns))
/** @param {number} count */
const numbered = (count) => Array.from({ length: count }, (_, i) => i)

/**
 * The map in the picture's shape; what has no place in the picture comes first.
 * @param {Page} page
 */
function stage({ engine, drawn }) {
  const { prefixTokens, rows, columns } = engine.shape,
    values = drawn.scores ?? drawn.row,
    line = (/** @type {number} */ row) => [
      `row ${row}`,
      ...values.subarray(prefixTokens + row * columns, prefixTokens + (row + 1) * columns)
    ]
  const first = Array.from(values.subarray(0, prefixTokens), (value, token) => [
    tokenName(token, prefixTokens, columns),
    value,
    ...Array(columns - 1).fill('')
  ])
  return {
    title: drawn.title,
    text: `${drawn.caption} In the table: ${drawn.scores ? 'scores' : 'shares in %'}, patches as they lie in the picture.`,
    columns: ['column', ...numbered(columns)],
    rows: [...first, ...numbered(rows).map(line)],
    show: drawn.scores ? score : hundredths
  }
}

/**
 * A line a token, a column a head.
 * @param {Page} page
 */
async function heads(page) {
  const { store, engine, drawn } = page,
    { query, reverse, score: kind, layer } = store.get(),
    { layers, heads: count, tokens } = engine.shape
  const all = await engine.rows({ query, reverse, score: kind }),
    fits = layers * count * tokens <= most
  const shown = numbered(layers).filter((l) => fits || l === layer),
    columns = shown.flatMap((l) => all[l].map((row, h) => [`${l}.${h}`, row]))
  return {
    title: 'All heads',
    text: `${drawn.title.replace(/^[^:]*: /, '')}, layer.head across${drawn.scale.numbers ? '' : ', shares in %'}. ${fits ? '' : `All layers would be too many cells: this is layer ${layer}; saved as CSV are all.`}`,
    columns: ['token', ...columns.map(([name]) => name)],
    rows: names(page).map((name, token) => [name, ...columns.map(([, row]) => row[token])]),
    show: drawn.scale.numbers ? score : hundredths
  }
}

/**
 * The matrix in few columns: a line a query. All of it is in the CSV.
 * @param {Page} page
 */
async function matrix(page) {
  const { store, engine } = page,
    { layer, head } = store.get(),
    { tokens, prefixTokens } = engine.shape,
    weights = await engine.matrix(layer, /** @type {number} */ (head)),
    of = names(page)
  const rows = of.map((name, query) => {
    const row = weights.subarray(query * tokens, (query + 1) * tokens),
      [top] = topOf(row, 1)
    return [
      name,
      of[top.token],
      top.weight,
      row[query],
      row.subarray(0, prefixTokens).reduce((sum, weight) => sum + weight, 0),
      { plain: entropy(row) }
    ]
  })
  return {
    title: `Layer ${layer}, ${head === 'mean' ? 'mean of the heads' : `head ${head}`}: every query`,
    text: `A line for each of the ${tokens} rows of the matrix; all ${tokens} × ${tokens} weights are in the CSV of this view.`,
    columns: [
      'query',
      'most to',
      'share, %',
      'on itself, %',
      'on CLS and registers, %',
      'entropy, nats'
    ],
    rows,
    show: hundredths
  }
}

/** @param {Page} page */
function rollout(page) {
  const { drawn } = page
  return {
    title: drawn.title,
    text: drawn.caption,
    columns: ['token', 'share, %', '× uniform'],
    rows: names(page).map((name, token) => [
      name,
      drawn.row[token],
      { plain: drawn.row[token] * drawn.row.length }
    ]),
    show: hundredths
  }
}

/** @param {Page} page */
function compare(page) {
  const { drawn, compared } = page
  if (!compared)
    return {
      title: 'A and B',
      text: 'There is no B yet: pin a row, or choose what B is.',
      columns: ['token', 'A, %'],
      rows: names(page).map((name, token) => [name, drawn.row[token]]),
      show: hundredths
    }
  return {
    title: 'A, B and their difference',
    text: `A: ${drawn.title}. B: ${compared.title}.`,
    columns: ['token', 'A, %', 'B, %', 'A − B, %'],
    rows: names(page).map((name, token) => [
      name,
      drawn.row[token],
      compared.row[token],
      drawn.row[token] - compared.row[token]
    ]),
    show: hundredths
  }
}

/** @param {Page} page */
async function tokens(page) {
  const { layer } = page.store.get(),
    { token } = page.drawn,
    { states, lengths, positions } = await likeness(page, layer, token)
  const columns = {
    ...(states && { cosine: states, length: lengths }),
    ...(positions && { 'cosine of positions': positions })
  }
  if (!states && !positions)
    return {
      title: 'Tokens',
      text: 'Hidden states are kept for small models only; saved maps have none.',
      columns: [],
      rows: [],
      show: score
    }
  return {
    title: `States after layer ${layer}`,
    text: `Cosine of each token’s state, and of its position embedding, with that of ${names(page)[token]}; the length of the state.`,
    columns: ['token', ...Object.keys(columns)],
    rows: names(page).map((name, at) => [
      name,
      ...Object.values(columns).map((of) => /** @type {number[]} */ (of)[at])
    ]),
    show: score
  }
}

/* Views whose pictures have a table here; what statistics and intervene show are tables already. */
/**
 * @typedef {string | number | {plain: number}} TableCell
 * @typedef {{title: string, text: string, columns: (string | number)[], rows: TableCell[][],
 *   show: (value: number) => string}} Table
 * @type {Record<string, (page: Page) => any>} each of a Table, or a promise of it
 */
const views = { heads, matrix, rollout, compare, tokens }

/**
 * Numbers with a unit of their own stand as { plain }.
 * @param {TableCell} value
 * @param {(value: number) => string} show
 */
const shown = (value, show) =>
  typeof value === 'string'
    ? value
    : typeof value === 'number'
      ? show(value)
      : value.plain.toPrecision(4)
/** @param {TableCell} value */
const copied = (value) => (typeof value === 'object' ? value.plain : value)

/**
 * which: 'stage', or a view's name.
 * @param {Page} page
 * @param {string} which
 */
export async function showTable(page, which) {
  /** @type {Table} */
  const { title, text, columns, rows, show } = await (which === 'stage' ? stage : views[which])(
    page
  )
  showDialog({
    title,
    text,
    columns: /** @type {string[]} */ (columns),
    label: `Numbers: ${title}`,
    figures: true,
    rows: /** @type {TableCell[][]} */ (rows).map((row) => row.map((value) => shown(value, show))),
    buttons: {
      'Copy, in full precision': async ({ target }) => {
        await navigator.clipboard.writeText(
          [columns, ...rows].map((row) => row.map(copied).join('\t')).join('\n')
        )
        target.textContent = 'Copied'
      }
    }
  })
}
