/* Masks: each factor, their AND, the weights that it leaves, and what a row without keys
 * becomes. */
import { html, render } from 'lit-html'
import { element } from '../shared/elements.js'
import '../shared/library.js'
import { showAgreement } from '../shared/runtime_agreement.js'
import {
  allOf,
  emptyRows,
  factorNames,
  factors,
  forms,
  hiddenPatches,
  layers,
  weightsBy
} from './mask_factors.js'
import { explorerLink, fromLink, toLink } from './mask_link.js'
import { drawSheets } from './mask_sheets.js'
import { say } from '../languages/say.js'
import { connectTheme } from '../shared/page_settings.js'
import { showTable } from '../shared/matrix_table.js'
import { asCase, attend, softmax } from '../shared/small_attention.js'
import type { MaskParts, MaskSetting } from '../shared/types.js'

const value = (id: 'tq' | 'tk' | 'left' | 'right' | 'scene') =>
  Math.min(
    Number(element(id).max),
    Math.max(Number(element(id).min), Math.round(element(id).valueAsNumber) || 0)
  )
const names = (count: number, letter: string) =>
  Array.from({ length: count }, (_, i) => `${letter}${i + 1}`)
const words = ['I', 'have', 'a', 'pen']
/** Five queries over five keys are the tokens of one sentence, and its padding. */
function tokensOf({ queries, values }: MaskSetting): Record<'query' | 'key', string[]> {
  const query = names(queries.length, 'q'),
    key = names(values.length, 'k')
  if (query.length !== words.length + 1 || key.length !== query.length) return { query, key }
  const sentence = (last: string) => [...words, values.at(-1) ? last : 'pad']
  return { query: sentence('q5'), key: sentence('k5') }
}
/** Vectors of an example, the same at every visit. */
const vectors = (count: number, by: number) =>
  Array.from({ length: count }, (_, i) =>
    Array.from({ length: 4 }, (_, d) => Math.round(15 * Math.sin((i + 1) * (d + 2) * by)) / 10)
  )
/** Which tokens are real; those that are added are. */
const real: Record<string, boolean[]> = { query: [], value: [], key: [] }
let painted: boolean[][]
let hidden: number[] = []
let timer: ReturnType<typeof setTimeout> | undefined
let shape = '',
  ran = '' as 'mask' | 'twin' | '' // on the picture, as it was asked for last

function setting() {
  const queries = value('tq'),
    keys = value('tk'),
    grown = (name: 'query' | 'value' | 'key', count: number) =>
      (real[name] = Array.from({ length: count }, (_, i) => real[name][i] ?? true))
  if (shape !== `${queries} ${keys}`)
    painted = Array.from({ length: queries }, () => Array(keys).fill(true))
  shape = `${queries} ${keys}`
  return {
    layer: element('layer').value,
    shared: element('shared').checked,
    queries: grown('query', queries),
    values: grown('value', keys),
    keys: grown('key', keys),
    causal: element('causal').checked,
    window: element('window').checked ? [value('left'), value('right')] : null,
    painted
  }
}

/* A link's settings into the controls. */
function takeLink() {
  const { tq, tk, layer, shared, causal, window, form, padded, closed } = fromLink(
    location.hash.slice(1)
  )
  for (const [id, given] of Object.entries({
    tq,
    tk,
    layer,
    form,
    left: window?.[0] ?? 1,
    right: window?.[1] ?? 0
  }))
    Object.assign(element(id), { value: given })
  for (const [id, given] of Object.entries({ shared, causal, window: Boolean(window) }))
    Object.assign(element(id), { checked: given })
  for (const [name, count] of [
    ['query', tq],
    ['value', tk],
    ['key', tk]
  ] as ['query' | 'value' | 'key', number][])
    real[name] = Array.from({ length: count }, (_, i) => !padded[name].includes(i))
  painted = Array.from({ length: tq }, (_, i) =>
    Array.from({ length: tk }, (_, j) => !closed.includes(i * tk + j))
  )
  shape = `${tq} ${tk}`
  draw()
}

const barred = (flags: boolean[]) => flags.flatMap((open, i) => (open ? [] : [i]))

function keepLink({ layer, shared, queries, values, keys, causal, window }: MaskSetting) {
  const link = toLink({
    tq: queries.length,
    tk: keys.length,
    layer,
    shared,
    causal,
    window,
    form: element('form').value,
    padded: { query: barred(queries), value: barred(values), key: barred(keys) },
    closed: barred(painted.flat())
  })
  if (link !== location.hash.slice(1))
    history.replaceState(null, '', link ? `#${link}` : location.pathname + location.search)
}

/** Rows of switches: which queries, values and keys are no padding. */
function showReal(set: MaskSetting) {
  const { layer, shared, queries, values, keys } = set,
    tokens = tokensOf(set)
  for (const [name, list] of [
    ['query', queries],
    ['value', values],
    ['key', keys]
  ] as ['query' | 'value' | 'key', boolean[]][]) {
    const host = element(`real-${name}`)
    host.hidden = name === 'key' && (shared || layer === 'single')
    showTable(host, {
      caption: {
        query: say('masks.realQueries'),
        value: shared && layer === 'multi' ? say('masks.realShared') : say('masks.realValues'),
        key: say('masks.realKeys')
      }[name],
      values: [list],
      rows: [say('masks.realRow')],
      columns: tokens[name === 'query' ? name : 'key'],
      onEdit: (_: unknown, j, open) => {
        real[name][j] = open
        draw()
      }
    })
  }
  render(
    tokens.key.map((token, i) => html`<span class=${values[i] ? '' : 'pad'}>${token}</span>`),
    element('sentence')
  )
  element('sentence-said').hidden = tokens.key.at(-1) !== 'pad'
}

function paint(i: number, j: number, open: boolean) {
  painted[i][j] = open
  draw()
}

function showFactors(parts: MaskParts, rows: string[], columns: string[], multi: boolean) {
  for (const [name, caption] of Object.entries(factorNames)) {
    const host =
      element('factors').querySelector(`[data-name=${name}]`) ??
      element('factors').appendChild(document.createElement('div'))
    host.dataset.name = name
    const part = name === 'painted' && multi ? painted : parts[name]
    host.hidden = !part
    if (part)
      showTable(host, {
        caption,
        values: part,
        rows,
        columns,
        onEdit: name === 'painted' ? paint : undefined
      })
  }
  drawSheets(
    element('sheets'),
    Object.entries(factorNames).flatMap(([name, caption]) => {
      const part = name === 'painted' && multi ? painted : parts[name]
      return part ? [[caption, part]] : []
    }),
    allOf(parts, rows, columns)
  )
  element('shared').disabled =
    element('window').disabled =
    element('left').disabled =
    element('right').disabled =
      !multi
}

/** What no query sees is hidden from the demo model too. Its picture has 14 x 14 patches. */
function showPicture(mask: boolean[][]) {
  const runs = hiddenPatches(mask, 196),
    link = element('on-picture')
  hidden = runs.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i)
  )
  element('run-picture').disabled = hidden.length === 0 || hidden.length === 196
  if (ran !== 'twin') {
    link.hidden = element('run-picture').disabled
    link.href = explorerLink(hidden, value('scene'))
  }
  element('on-picture-said').textContent =
    hidden.length === 0
      ? say('masks.nothingHidden')
      : hidden.length === 196
        ? say('masks.allHidden')
        : say('masks.someHidden', {
            unseen: mask[0].filter((_, key) => !mask.some((row) => row[key])).length,
            keys: mask[0].length,
            patches: hidden.length
          })
  if (ran === 'mask' && hidden.length < 196) runPicture('mask')
}

async function runPicture(what: 'mask' | 'twin') {
  ran = what
  const { showMasked } = await import('./masked_picture.js')
  await showMasked(what === 'twin' ? what : hidden, value('scene'))
}

/** What the layer does with padded queries. */
const sayLayer = ({ layer, queries, shared }: MaskSetting) =>
  layer === 'single'
    ? queries.includes(false)
      ? say('masks.singleAbove')
      : say('masks.single')
    : shared
      ? say('masks.multiShared')
      : say('masks.multi')

/** What a form of the mask adds to the scores. */
function showBias(mask: boolean[][], form: string, rows: string[], columns: string[]) {
  const { bias } = forms[form]
  element('bias').hidden = bias === null
  if (bias !== null)
    showTable(element('bias'), {
      caption: say('masks.added'),
      values: mask.map((row) => row.map((open) => (open ? 0 : bias))),
      rows,
      columns,
      digits: 0,
      largest: Infinity
    })
}

/** What a row without any key becomes, by each convention: the first such row, or the first. */
function showEmptyRow(
  mask: boolean[][],
  scores: number[][],
  { rows, columns, digits }: { rows: string[]; columns: string[]; digits: number }
) {
  const empty = Math.max(
      0,
      mask.findIndex((row) => !row.includes(true))
    ),
    nothing = columns.map(() => false)
  showTable(element('empty'), {
    caption: say('masks.weightsOf', { row: rows[empty] }),
    values: Object.keys(emptyRows).map((name) => weightsBy(name, scores[empty], nothing, softmax)),
    rows: Object.values(emptyRows),
    columns,
    digits,
    chosen: (i) => i === 0
  })
}

function draw() {
  const set = setting(),
    parts = factors(set),
    mask = allOf(parts, set.queries, set.keys),
    { query: rows, key: columns } = tokensOf(set),
    form = element('form').value,
    digits = columns.length > 8 ? 2 : 3
  const given = {
      query: vectors(rows.length, 0.7),
      key: vectors(columns.length, 0.9),
      value: vectors(columns.length, 1.1),
      mask,
      may: (i: number, j: number) => mask[i][j]
    },
    result = attend(given)
  const weights = result.scores.map((row, i) => weightsBy(form, row, mask[i], softmax)),
    zeroed = (i: number) => set.layer === 'single' && !set.queries[i]
  const output = weights.map((row, i) =>
    given.value[0].map((_, d) =>
      zeroed(i) ? 0 : row.reduce((sum, weight, j) => sum + weight * given.value[j][d], 0)
    )
  )
  showReal(set)
  showFactors(parts, rows, columns, set.layer === 'multi')
  showTable(element('joined'), { caption: say('masks.all'), values: mask, rows, columns })
  showBias(mask, form, rows, columns)
  showTable(element('weights'), {
    caption: say('masks.weights'),
    values: weights,
    rows,
    columns,
    digits
  })
  showTable(element('output'), {
    caption: say('masks.output'),
    values: output,
    rows,
    columns: names(4, ''),
    largest: Math.max(1e-9, ...output.flat().filter(Number.isFinite).map(Math.abs))
  })
  element('layer-said').textContent = sayLayer(set)
  showEmptyRow(mask, result.scores, { rows, columns, digits })
  element('cross').textContent =
    rows.length === columns.length
      ? say('masks.self')
      : say('masks.cross', { queries: rows.length, keys: columns.length })
  showPicture(mask)
  keepLink(set)
  clearTimeout(timer)
  timer = setTimeout(
    () =>
      showAgreement(
        element('agreement'),
        asCase(given, result),
        ownWords(weights, result.weights, set)
      ),
    150
  )
}

/** Where the page shows what others do, the runtime has nothing to agree with. */
function ownWords(shown: number[][], ours: number[][], { layer, queries }: MaskSetting) {
  if (shown.some((row, i) => row.some((weight, j) => !(Math.abs(weight - ours[i][j]) < 1e-9))))
    return {
      instead: say('masks.notOurs')
    }
  return layer === 'single' && queries.includes(false) ? { before: say('masks.beforeZero') } : {}
}

const fill = (id: 'layer' | 'form', options: Record<string, string | { name: string }>) =>
  element(id).replaceChildren(
    ...Object.entries(options).map(
      ([key, text]) => new Option((text as { name: string }).name ?? text, key)
    )
  )
fill('layer', layers)
fill('form', forms)
connectTheme(element('theme'))
for (const id of ['tq', 'tk', 'layer', 'shared', 'causal', 'window', 'left', 'right', 'form'])
  element(id).addEventListener('input', draw)
element('run-picture').addEventListener('click', () => runPicture('mask'))
element('run-twin').addEventListener('click', () => runPicture('twin'))
element('scene').addEventListener('change', () => {
  if (ran) runPicture(ran)
  else element('on-picture').href = explorerLink(hidden, value('scene'))
})
element('clear').addEventListener('click', () => {
  shape = ''
  draw()
})
addEventListener('hashchange', takeLink)
takeLink()
document.documentElement.dataset.ready = 'true'
