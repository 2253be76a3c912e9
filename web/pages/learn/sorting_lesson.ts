/* A trained model that sorts six letters: what it writes, the attention of each head, and how a
 * cell of it came about. Fetched and run when asked for; its numbers are the runtime's, and are
 * compared with double precision. */
import { html, render } from 'lit-html'
import { element } from '../shared/elements.js'
import { fixed, percentSign } from '../plot/parts/numbers.js'
import { sayAgreement } from '../shared/runtime_agreement.js'
import { formulas } from './formulas.js'
import { say } from '../languages/say.js'
import { createRuntime } from '../heed/index.js'
import { apart, codesOf, given, heads, lettersOf, readSorter, reference, write } from './sorter.js'
import { showTable } from '../shared/matrix_table.js'

const wanted = /^[A-Z]{6}$/
let open: ReturnType<typeof load> | null = null
let shown: Awaited<ReturnType<typeof write>> & { exact: ReturnType<typeof reference> }
/** [layer, head] */
let chosen: number[]
let row = given - 1,
  turn = 0
let looked: [row: number, column: number] | null = null

async function load() {
  const [runtime, response] = await Promise.all([
    createRuntime({ threads: 1 }),
    fetch('learn/sorting/model.safetensors')
  ])
  if (!response.ok) throw new Error(say('learn.sort.gone', { status: response.status }))
  return { runtime, sorter: await readSorter(await response.blob()) }
}

const weightOf = ([layer, head]: number[], i: number, j: number) =>
  shown.weights[layer].data[(head * shown.tokens.length + i) * shown.tokens.length + j]
const rowsOf = (which: number[]) =>
  shown.tokens.map((_, i) => shown.tokens.map((_, j) => weightOf(which, i, j)))
const eachHead = () =>
  shown.weights.flatMap((_, layer) => Array.from({ length: heads }, (_, head) => [layer, head]))

/** Where a letter is written: how much of a head's attention goes to the given places that hold this
 * very letter, on average. */
function found(which: number[]) {
  const shares = shown.answer.map((letter, k) =>
    shown.tokens
      .slice(0, given)
      .reduce((sum, code, j) => sum + (code === letter ? weightOf(which, given - 1 + k, j) : 0), 0)
  )
  return shares.reduce((a, b) => a + b) / given
}

function drawSmall(canvas: HTMLCanvasElement, rows: number[][]) {
  const count = rows.length,
    context = Object.assign(canvas, { width: count, height: count }).getContext(
      '2d'
    ) as CanvasRenderingContext2D
  rows.forEach((line, i) =>
    line.forEach((weight, j) => {
      context.fillStyle = `rgb(28 79 156 / ${weight})`
      context.fillRect(j, i, 1, 1)
    })
  )
}

function showHeads() {
  const button = (which: number[]) => {
    const [layer, head] = which
    const choose = () => {
      chosen = which
      looked = null
      draw()
    }
    return html`<button type="button" aria-pressed=${chosen.join() === which.join()} @click=${choose}><canvas></canvas><span>${say('learn.layerHead', { layer, head })}</span><small>${say('learn.sort.finds', { share: Math.round(100 * found(which)) })}</small></button>`
  }
  const host = element('sort-heads'),
    all = eachHead()
  render(all.map(button), host)
  for (const [i, canvas] of host.querySelectorAll<HTMLCanvasElement>('canvas').entries())
    drawSmall(canvas, rowsOf(all[i]))
}

function showAnswer() {
  const { answer } = shown
  const button = (code: number, k: number) => {
    const letter = lettersOf([code])
    const choose = () => {
      row = given - 1 + k
      looked = null
      draw()
    }
    return html`<button type="button" aria-label=${say('learn.sort.letter', { index: k + 1, letter })} aria-pressed=${row === given - 1 + k} @click=${choose}>${letter}</button>`
  }
  render(answer.map(button), element('sort-answer'))
  const right = lettersOf(answer) === [...lettersOf(shown.tokens.slice(0, given))].sort().join('')
  element('sort-right').textContent = right ? say('learn.sort.right') : say('learn.sort.wrong')
}

/* The likeliest letters after the row's token. */
function showNext() {
  const count = shown.logits.shape.at(-1),
    logits = [
      ...shown.logits.data.subarray(row * (count as number), (row + 1) * (count as number))
    ],
    powers = logits.map((logit) => Math.exp(logit - Math.max(...logits)))
  const sum = powers.reduce((a, b) => a + b),
    best = powers
      .map((power, code) => [power / sum, code])
      .sort(([a], [b]) => b - a)
      .slice(0, 3)
  const before = row < given - 1 ? say('learn.sort.before') : ''
  const likeliest = best.map(
    ([share, code]) => `${lettersOf([code])} ${fixed(100 * share, 1)}${percentSign}`
  )
  element('sort-next').textContent =
    before +
    say('learn.sort.row', {
      row: row + 1,
      letter: lettersOf([shown.tokens[row]]),
      best: likeliest.join(', ')
    })
}

function draw() {
  const { tokens } = shown,
    names = tokens.map((code, i) => `${i + 1} ${lettersOf([code])}`),
    [layer, head] = chosen,
    exact = shown.exact.heads[layer][head]
  showHeads()
  showAnswer()
  showNext()
  const look = (i: number, j: number) => {
    row = i
    looked = [i, j]
    draw()
  }
  const caption = say('learn.sort.caption', { layer, head })
  showTable(element('sort-map'), {
    caption,
    values: rowsOf(chosen).map((line, i) => line.map((weight, j) => (j > i ? null : 100 * weight))),
    rows: names,
    columns: names,
    digits: 0,
    largest: 100,
    onLook: look,
    chosen: (i, j) => i === row && j <= i
  })
  const [i, j] = looked ?? [row, rowsOf(chosen)[row].indexOf(Math.max(...rowsOf(chosen)[row]))]
  render(
    formulas.trained(i, j, {
      ...exact,
      weight: weightOf(chosen, i, j),
      layer,
      head,
      from: names[i],
      to: names[j]
    }),
    element('sort-formula')
  )
  element('sorting').dataset.shown = `${lettersOf(shown.answer)} ${layer}.${head}`
}

async function run() {
  const text = element('sort-letters').value.toUpperCase(),
    mine = ++turn
  element('sort-letters').setAttribute('aria-invalid', !wanted.test(text))
  if (!wanted.test(text)) return sayAgreement(element('sort-said'), say('learn.sort.please'), false)
  const { runtime, sorter } = await (open as ReturnType<typeof load>),
    codes = codesOf(text),
    before = performance.now(),
    written = await write(runtime, sorter, codes),
    milliseconds = performance.now() - before
  if (mine !== turn) return
  shown = { ...written, exact: reference(sorter, written.tokens) }
  chosen ??= eachHead().sort((a, b) => found(b) - found(a))[0]
  looked = null
  draw()
  const difference = apart(shown, shown.exact),
    count = shown.weights.reduce((sum, { data }) => sum + data.length, 0),
    took = fixed(milliseconds, 0)
  sayAgreement(
    element('sort-said'),
    difference < 1e-6
      ? say('learn.sort.agrees', { milliseconds: took, count, bound: '1e-6' })
      : say('learn.sort.differs', {
          milliseconds: took,
          count,
          apart: difference.toExponential(1)
        }),
    difference < 1e-6
  )
}

const letters = () =>
  Array.from({ length: given }, () =>
    String.fromCharCode(65 + Math.floor(26 * Math.random()))
  ).join('')

/** Fetches the sorter and shows it; the button that asked goes away. */
export async function startSorting() {
  try {
    open ??= load()
    await open
    await run()
    element('sort-result').hidden = element('sort-maps').hidden = false
    element('run-sort').hidden = true
  } catch (error) {
    open = null
    sayAgreement(element('sort-said'), (error as Error).message, false)
    return
  }
  element('sort-letters').addEventListener('input', run)
  element('sort-other').addEventListener('click', () => {
    element('sort-letters').value = letters()
    run()
  })
}
