/* Attention in numbered steps: every number can be changed, every result explains itself. */
import { nothing, render } from 'lit-html'
import { element } from '../shared/elements.js'
import '../shared/library.js'
import { fixed } from '../plot/parts/numbers.js'
import { sayAgreement, showAgreement } from '../shared/runtime_agreement.js'
import { formulas } from './formulas.js'
import { connectHeads, takeTokens } from './heads_lesson.js'
import { numbersFrom, numbersText } from './learn_link.js'
import { say } from '../languages/say.js'
import { connectRealHead } from './real_head.js'
import { connectStory, openChapter } from './story.js'
import { connectTheme } from '../shared/page_settings.js'
import { showTable } from '../shared/matrix_table.js'
import {
  asCase,
  attend,
  entmaxDistance,
  normalise,
  normKinds,
  scoreKinds,
  scoreParts
} from '../shared/small_attention.js'
import type { ScoreParts, SmallAttention, SmallResult } from '../shared/types.js'

const pen = [
  [1, 0.5, 0, 0],
  [0.5, 1, 0, 0.5],
  [0, 0, 1, 0.5],
  [0, 0.5, 0.5, 1]
]
const presets: Record<string, Given & { name: string; score: string }> = {
  pen: {
    name: say('learn.preset.pen'),
    words: ['I', 'have', 'a', 'pen'],
    query: pen,
    key: pen,
    value: pen,
    score: 'scaled'
  },
  steps: {
    name: say('learn.preset.steps'),
    words: ['1', '2', '3'],
    score: 'dot',
    query: [
      [1, 0, 2],
      [2, 2, 2],
      [2, 1, 3]
    ],
    key: [
      [0, 1, 1],
      [4, 4, 0],
      [2, 3, 1]
    ],
    value: [
      [1, 2, 3],
      [2, 8, 0],
      [2, 6, 3]
    ]
  },
  find: {
    name: say('learn.preset.find'),
    words: ['a', 'b', 'c'],
    query: [[1, -2, 3, -4]],
    key: [
      [1, -2, 3, -4],
      [-8, 7, 6, -5],
      [10, 9, 12, 11]
    ],
    value: [
      [1, -2, 3, -4],
      [-8, 7, 6, -5],
      [10, 9, 12, 11]
    ],
    score: 'scaled'
  }
}

/** Queries, keys and values as rows, and a word for each key. */
export type Given = { query: number[][]; key: number[][]; value: number[][]; words: string[] }
export type Choices = {
  score?: string
  norm?: string
  temperature?: number
  causal?: boolean
  padding?: boolean
  hide?: boolean
  numbers?: Omit<Given, 'words'> | null
}

let given: Given
let own: ScoreParts
let looked: [table: string, row: number, column: number] | null = null
let timer: ReturnType<typeof setTimeout> | undefined
let chapter = 1
const seen = new Set() // cells whose results are shown while results are hidden

function take(
  name: string,
  {
    score,
    norm = 'softmax',
    temperature = 1,
    causal = false,
    padding = false,
    hide = false,
    numbers = null
  }: Choices = {}
) {
  const { words, score: own } = presets[name],
    { query, key, value } = numbers ?? presets[name],
    copy = (rows: number[][]) => rows.map((row) => [...row])
  given = {
    query: copy(query),
    key: copy(key),
    value: copy(value),
    words: key.map((_, i) => words[i] ?? `t${i + 1}`)
  }
  element('preset').value = name
  element('score').value = score ?? own
  element('temperature').value = String(temperature)
  element('norm').value = norm
  element('causal').checked = causal
  element('padding').checked = padding
  element('hide').checked = hide
  renew()
}

/* After other tokens or columns. */
function renew() {
  seen.clear()
  looked = null
  element('tokens').value = String(given.words.length)
  element('columns').value = String(given.key[0].length)
  own = scoreParts(given.key[0].length)
  draw()
  takeTokens(given.key, given.words)
}

/* What is new has numbers of its own, the same at every visit. */
function resize() {
  const within = (id: 'tokens' | 'columns') =>
      Math.min(
        Number(element(id).max),
        Math.max(Number(element(id).min), Math.round(element(id).valueAsNumber) || 0)
      ),
    tokens = within('tokens'),
    columns = within('columns')
  const alone = given.query.length !== given.words.length,
    fresh = (i: number, d: number) => Math.round(4 * Math.sin(3 * i + 2 * d + 1)) / 2
  const cut = (rows: number[][], count: number) =>
    Array.from({ length: count }, (_, i) =>
      Array.from({ length: columns }, (_, d) => rows[i]?.[d] ?? fresh(i, d))
    )
  given = {
    query: cut(given.query, alone ? 1 : tokens),
    key: cut(given.key, tokens),
    value: cut(given.value, tokens),
    words: Array.from({ length: tokens }, (_, i) => given.words[i] ?? `t${i + 1}`)
  }
  renew()
}

/* The choices as a link: #x=pen&s=dot&n=sparsemax&t=0.5&c=1&p=1&h=1 (causal, padding, results
 * hidden), &step=4 (the chapter of the story), and &m= with the numbers where they are not the example's and fit into 198
 * characters. */
const linkOf = () => {
  const parts = {
    x: element('preset').value,
    s: element('score').value,
    n: element('norm').value,
    t: element('temperature').value,
    c: element('causal').checked ? '1' : '',
    p: element('padding').checked ? '1' : '',
    h: element('hide').checked ? '1' : '',
    step: chapter > 1 ? String(chapter) : ''
  }
  const usual = {
    x: 'pen',
    s: presets[parts.x].score,
    n: 'softmax',
    t: '1',
    c: '',
    p: '',
    h: '',
    step: ''
  }
  const link = Object.entries(parts)
      .filter(([key, value]) => value !== (usual as Record<string, string>)[key])
      .map(([key, value]) => `${key}=${value}`),
    numbers = numbersText(given)
  const all = (numbers === numbersText(presets[parts.x]) ? link : [...link, `m=${numbers}`]).join(
      '&'
    ),
    fits = all.length <= 198
  return { link: fits ? all : link.join('&'), fits }
}

function takeLink() {
  const link = new URLSearchParams(location.hash.slice(1)),
    oneOf = (options: object, key: string) =>
      Object.hasOwn(options, link.get(key) ?? '') ? (link.get(key) as string) : undefined
  const temperature = Number(link.get('t'))
  take(oneOf(presets, 'x') ?? 'pen', {
    score: oneOf(scoreKinds, 's'),
    norm: oneOf(normKinds, 'n'),
    temperature: temperature >= 0.1 && temperature <= 4 ? temperature : 1,
    causal: link.get('c') === '1',
    padding: link.get('p') === '1',
    hide: link.get('h') === '1',
    numbers: numbersFrom(link.get('m') ?? '')
  })
}

function keepLink() {
  const { link, fits } = linkOf()
  element('link-said').textContent = fits ? say('learn.linkAll') : say('learn.linkPart')
  if (link !== location.hash.slice(1))
    history.replaceState(null, '', link ? `#${link}` : location.pathname + location.search)
}

function settings() {
  const causal = element('causal').checked,
    real = given.key.length - (element('padding').checked ? 1 : 0)
  const mask =
    causal || real < given.key.length
      ? given.query.map((_, i) => given.key.map((_, j) => j < real && (!causal || j <= i)))
      : null
  return {
    ...given,
    own,
    score: element('score').value,
    norm: element('norm').value,
    temperature: Number(element('temperature').value),
    mask,
    may: (i: number, j: number) => !mask || mask[i][j]
  }
}

/** The cells of the step before that the looked-at one is made from. */
function feeds(table: string): ((row: number, column: number) => boolean) | null | undefined {
  if (!looked) return null
  const [of, i, j] = looked
  if (of === 'scores')
    return {
      query: (r: number) => r === i,
      key: (r: number) => r === j
    }[table]
  if (of === 'masked')
    return {
      scores: (r: number, c: number) => r === i && c === j
    }[table]
  if (of === 'weights')
    return {
      masked: (r: number) => r === i
    }[table]
  return {
    weights: (r: number) => r === i,
    value: (_: unknown, c: number) => c === j
  }[table]
}

const most = (rows: number[][]) =>
  Math.max(1e-9, ...rows.flat().filter(Number.isFinite).map(Math.abs))
const sums = (rows: number[][]) => ({
  [say('learn.sum')]: rows.map((row) =>
    fixed(
      row.reduce((a, b) => a + b, 0),
      3
    )
  ),
  [say('learn.above')]: rows.map((row) => row.filter((weight) => weight > 0).length)
})

function drawGiven({ words }: Given, asked: string[]) {
  const edit =
    (name: 'query' | 'key' | 'value'): ((row: number, column: number, value: number) => void) =>
    (i, j, value) => {
      given[name][i][j] = value
      draw()
    }
  for (const [name, caption, rows] of [
    ['query', say('learn.caption.query'), asked],
    ['key', say('learn.caption.key'), words],
    ['value', say('learn.caption.value'), words]
  ] as ['query' | 'key' | 'value', string, string[]][])
    showTable(element(name), {
      caption,
      values: given[name],
      rows,
      columns: numbersOf(given[name]),
      digits: 2,
      largest: most(given[name]),
      onEdit: edit(name),
      chosen: feeds(name)
    })
}

const numbersOf = (rows: number[][]) => rows[0].map((_, d) => `${d + 1}`)

/** What the score has of its own: a matrix, a vector, or two numbers. */
const ownTables: Record<
  string,
  () => [
    string,
    number[][],
    string[],
    string[],
    (row: number, column: number, value: number) => void
  ]
> = {
  general: () => [
    'W',
    own.w,
    own.w.map((_, i) => `${i + 1}`),
    numbersOf(own.w),
    (i, j, value) => {
      own.w[i][j] = value
    }
  ],
  additive: () => [
    'v',
    [own.v],
    ['v'],
    numbersOf([own.v]),
    (_: unknown, j, value) => {
      own.v[j] = value
    }
  ],
  concat: () => [
    say('learn.weightScale'),
    [[own.c, own.s]],
    [' '],
    ['c', 's'],
    (_: unknown, j, value) => {
      own[j ? 's' : 'c'] = value
    }
  ]
}
const scoreSaid: Record<string, string> = {
  scaled: say('learn.said.scaled'),
  dot: say('learn.said.dot'),
  general: say('learn.said.general'),
  additive: say('learn.said.additive'),
  concat: say('learn.said.concat')
}

function drawOwn() {
  const host = element('own'),
    name = element('score').value
  element('score-said').textContent = scoreSaid[name]
  host.hidden = !ownTables[name]
  if (host.hidden) return
  const [caption, values, rows, columns, set] = ownTables[name]()
  showTable(host, {
    caption,
    values,
    rows,
    columns,
    digits: 2,
    largest: most(values),
    onEdit: (...change) => {
      set(...change)
      draw()
    },
    chosen: looked?.[0] === 'scores' ? () => true : null
  })
}

function draw() {
  const set = settings(),
    result = attend(set),
    { words } = set,
    asked = set.query.length === words.length ? words : [say('learn.query')]
  const hide = element('hide').checked,
    results = (name: string) => ({
      onLook: look(name),
      chosen: feeds(name),
      hidden: hide ? (i: number, j: number) => !seen.has(`${name} ${i} ${j}`) : null
    })
  drawGiven(set, asked)
  drawOwn()
  showTable(element('scores'), {
    caption: say('learn.scores'),
    values: result.scores,
    rows: asked,
    columns: words,
    largest: most(result.scores),
    ...results('scores')
  })
  showTable(element('masked'), {
    caption: say('learn.masked'),
    values: result.tempered,
    rows: asked,
    columns: words,
    largest: most(result.tempered),
    ...results('masked')
  })
  showTable(element('weights'), {
    caption: say('learn.weights'),
    values: result.weights,
    rows: asked,
    columns: words,
    after: hide ? null : sums(result.weights),
    ...results('weights')
  })
  showTable(element('output'), {
    caption: say('learn.output'),
    values: result.output,
    rows: asked,
    columns: numbersOf(result.output),
    largest: most(result.output),
    ...results('output')
  })
  element('temperature-said').textContent = String(set.temperature)
  element('hide-said').hidden = !hide
  showRules(result.tempered, asked, words)
  for (const name of ['scores', 'masked', 'weights', 'output'])
    render(
      looked?.[0] === name ? formulas[name](looked[1], looked[2], set, result) : nothing,
      element(`${name}-formula`)
    )
  clearTimeout(timer)
  timer = setTimeout(() => {
    keepLink()
    agree(set, result)
  }, 150)
}

const look =
  (name: string): ((row: number, column: number, type: string) => void) =>
  (i, j, type) => {
    if (element('hide').checked && type !== 'click') return
    looked = [name, i, j]
    seen.add(looked.join(' '))
    draw()
  }

/** One row of scores by every rule: the row of the looked-at cell, or the first. */
function showRules(tempered: number[][], asked: string[], words: string[]) {
  const row = looked?.[1] ?? 0,
    host = element('rules')
  element('rules-said').hidden = host.hidden = element('hide').checked
  const values = Object.keys(normKinds).map((norm) => normalise(tempered[row], norm))
  showTable(host, {
    caption: say('learn.rowOf', { row: asked[row] }),
    values,
    rows: Object.values(normKinds),
    columns: words,
    after: sums(values)
  })
}

function agree(set: SmallAttention, result: SmallResult) {
  if (set.norm !== 'entmax') return showAgreement(element('agreement'), asCase(set, result))
  const apart = entmaxDistance(result.tempered)
  sayAgreement(
    element('agreement'),
    say('learn.entmax', { apart: apart < 1e-6 ? '1e-6' : apart.toExponential(1) }),
    apart < 1e-6
  )
}

const fill = (
  id: 'preset' | 'score' | 'norm',
  options: Record<string, string | { name: string }>
) =>
  element(id).replaceChildren(
    ...Object.entries(options).map(
      ([key, text]) => new Option((text as { name: string }).name ?? text, key)
    )
  )
fill('preset', presets)
fill('score', scoreKinds)
fill('norm', normKinds)
connectTheme(element('theme'))
connectHeads()
connectRealHead()
element('run-sort').addEventListener('click', async () => {
  element('run-sort').disabled = true
  await (await import('./sorting_lesson.js')).startSorting()
  element('run-sort').disabled = false
})
element('preset').addEventListener('change', ({ target }) => {
  take(target.value)
  keepLink()
})
for (const id of ['score', 'norm', 'temperature', 'causal', 'padding', 'hide'])
  element(id).addEventListener('input', () => {
    seen.clear()
    looked = null
    draw()
    keepLink()
  })
for (const id of ['tokens', 'columns']) element(id).addEventListener('change', resize)
addEventListener('hashchange', () => {
  takeLink()
  openChapter(location.hash)
})
addEventListener('chapter', (event) => {
  chapter = (event as CustomEvent<number>).detail
  keepLink()
})
takeLink()
connectStory()
document.documentElement.dataset.ready = 'true'
