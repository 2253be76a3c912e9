/* The whole matrix of one head: row = query, column = key; lines where a row of patches ends, a
 * crosshair at the query and at the key that the pointer or the arrow keys are on. The stage
 * follows the crosshair's row, or its column where it shows who looks at a patch, and rings the
 * other patch of the pair. With the brush, pairs are painted that may not attend, in all
 * heads: the model runs again at once. */
import { fixed } from '../../../plot/parts/numbers.js'
import { percent, times } from '../../../plot/caption.js'
import { gridScale } from '../../../plot/grid_scale.js'
import { heat } from '../../../plot/heat.js'
import { largestOf } from '../../../plot/raster.js'
import { plainScale, signedScale } from '../../../plot/scale.js'
import { drawBar, smallBar } from '../parts/bar.js'
import { put } from '../parts/canvas.js'
import { MatrixBrush } from './matrix_brush.js'
import { say } from '../../../languages/say.js'
import type { Scale, ScaleKind } from 'heed/plot'
import type { Field, PageQuery, Shape } from '../../../shared/types.js'
import type { MakeView, Page, State } from '../../types.js'

const steps: Record<string, [down: number, across: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1]
}

const markup = `<div class="fields matrix-fields"><label>${say('matrix.zoom')} <select name="zoom"><option value="1">1×</option><option value="2">2×</option><option value="4">4×</option></select></label>
    <label>${say('matrix.click')} <select name="brush"><option value="0">${say('matrix.selectsRow')}</option><option value="1">${say('matrix.blocksPair')}</option><option value="4">${say('matrix.blocks44')}</option><option value="14">${say('matrix.blocks1414')}</option></select></label>
    <button type="button" name="free">${say('matrix.undoBlocks')}</button></div>
    <p class="hint">${say('matrix.clsRegistersComeFirst')}</p>
    <p class="hint axes-said" aria-hidden="true"><span>${say('matrix.query')}</span> <span>${say('matrix.key')}</span></p><div class="window"><div class="raster matrix" role="application" tabindex="0" aria-label="${say('matrix.matrixArrowsMoveCrosshair')}" aria-describedby="matrix-said"><canvas aria-hidden="true"></canvas>
    <svg aria-hidden="true" preserveAspectRatio="none"><path class="rule"/><path class="barred"/><path class="under"/><path class="over"/></svg></div></div>${smallBar}<p class="hint" id="matrix-said" aria-live="polite"></p>`

/** The matrix of a head as it is drawn. */
export interface Matrix {
  /** [tokens, tokens], or scores; null: none drawn yet */
  weights: Float32Array | null
  /** of its model: another one may come before the matrix is drawn anew */
  shape: Shape
  unit: string
}

/**
 * Of the kind that the stage has, over the whole matrix: it ends at the largest weight on a patch,
 * and CLS may be beyond; or where the scale is locked.
 * @param scale of the stage
 */
export function scaleOfAll(
  scale: Scale,
  weights: Float32Array,
  { tokens, prefixTokens }: Shape,
  locked: number
) {
  if (scale.numbers)
    return (scale.signed ? signedScale : plainScale)(
      scale.label,
      weights.reduce(
        (most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most),
        0
      )
    )
  if (scale.kind === 'own') return scale
  const largests = Array.from({ length: tokens }, (_, i) =>
    largestOf(weights.subarray(i * tokens + prefixTokens, (i + 1) * tokens))
  )
  return gridScale((scale.kind === 'all' ? 'uniform' : scale.kind) as ScaleKind, {
    tokens,
    largests,
    locked,
    beyond: largestOf(weights)
  })
}

/**
 * A weight or score of the matrix in words.
 * @param scale of the stage
 */
const amount = (scale: Scale, value: number, tokens: number) =>
  scale.numbers
    ? `${scale.signed ? say('matrix.score') : ''}${fixed(value, 3)}`
    : `${percent(value)} = ${times(value, tokens)}`

/** The whole matrix in words. */
function summary({ drawn, store }: Page, { weights, shape: { tokens }, unit }: Matrix) {
  const { layer, head } = store.get(),
    name = say('matrix.layer', {
      layer,
      head: head === 'mean' ? say('keyList.meanHeads') : say('matrix.head', { head })
    }),
    largest = largestOf(weights as Iterable<number>)
  return say('matrix.largest', { unit, name, tokens, amount: amount(drawn.scale, largest, tokens) })
}

function queryOf({ prefixTokens, columns }: Shape, token: number): PageQuery {
  return token < prefixTokens
    ? token || 'cls'
    : [Math.floor((token - prefixTokens) / columns), (token - prefixTokens) % columns]
}

/** Lines through the stage's token and the other token of a pair. In reverse the stage is on the
 * key. */
class Crosshair {
  page
  matrix
  surface
  svg
  said
  /** the other token: the key, or in reverse the query */
  other: number | null = null
  /** the row under the pointer, which a run takes from the stage */
  over: PageQuery | null = null
  /** the token that the stage rings */
  ringed: number | null = null

  constructor(page: Page, element: HTMLElement, matrix: Matrix) {
    this.page = page
    this.matrix = matrix
    this.surface = element.querySelector('.matrix')
    this.svg = element.querySelector('svg')
    this.said = element.querySelector('#matrix-said')
  }

  /** [query, key] of the stage's token and the other, and back. */
  pair<Other extends number | null>(
    token: number,
    other: Other
  ): [query: number | Other, key: number | Other] {
    return this.page.store.get().reverse ? [other, token] : [token, other]
  }

  /** The token that is chosen, which the stage may not have drawn yet. */
  get token() {
    return this.page.engine.token(this.page.query())
  }

  /** Where it is; on the diagonal before it has another token. */
  get place(): [query: number, key: number] {
    const { token } = this
    return this.pair(token, this.other ?? token)
  }

  /** The pair under a pointer. */
  placeAt({ clientX, clientY }: PointerEvent): [query: number, key: number] {
    const { left, top, width, height } = this.surface
        .querySelector('canvas')
        .getBoundingClientRect(),
      { tokens } = this.matrix.shape
    const index = (share: number) => Math.min(tokens - 1, Math.max(0, Math.floor(share * tokens)))
    return [index((clientY - top) / height), index((clientX - left) / width)]
  }

  /** What lies under it comes into the window. */
  look() {
    const { surface, matrix } = this,
      view = surface.parentElement as HTMLElement,
      at = (token: number) =>
        ((token + 0.5) / matrix.shape.tokens) * surface.offsetWidth - view.clientWidth / 2
    const [down, across] = this.place
    view.scrollTo(at(across), at(down))
  }

  /** Its lines and its words; the stage rings the other patch. */
  draw() {
    const { page, other } = this,
      [query, key] = this.pair(page.drawn.token, other)
    this.drawLines(query, key)
    this.said.textContent =
      other === null
        ? summary(page, this.matrix)
        : this.wordsOf(...([query, key] as [number, number]))
    if (other !== this.ringed) page.look?.((this.ringed = other))
  }

  /** Lines where a row of patches ends, blocked pairs, and the crosshair. */
  drawLines(query: number | null, key: number | null) {
    const { tokens, prefixTokens, rows, columns } = this.matrix.shape,
      [rules, barred, under, over] = this.svg.children
    const rule = (at: number) => `M0 ${at}H${tokens}M${at} 0V${tokens}`,
      cell = (pair: string) => `M${pair.split('.').reverse().join(' ')}h1v1h-1z`
    this.svg.setAttribute('viewBox', `0 0 ${tokens} ${tokens}`)
    rules.setAttribute(
      'd',
      Array.from({ length: rows }, (_, r) => rule(prefixTokens + r * columns)).join('')
    )
    barred.setAttribute('d', this.page.store.get().cuts.map(cell).join(''))
    const path =
      (query === null ? '' : `M0 ${query + 0.5}H${tokens}`) +
      (key === null ? '' : `M${key + 0.5} 0V${tokens}`)
    for (const line of [under, over]) line.setAttribute('d', path)
  }

  /** A pair with its weight. */
  wordsOf(query: number, key: number) {
    const { weights, shape } = this.matrix,
      { tokens } = shape,
      weight = (weights as Float32Array)[query * tokens + key]
    const { engine } = this.page
    return say('matrix.queryToKeyWeight', {
      query: engine.nameOf(query),
      key: engine.nameOf(key),
      weight: amount(this.page.drawn.scale, weight, tokens)
    })
  }
}

/** The pointer moves the crosshair, paints with the brush, or chooses the row. */
function connectPointer(crosshair: Crosshair, brush: MatrixBrush) {
  const { surface, matrix, page } = crosshair,
    { store } = page
  surface.addEventListener('pointermove', (event) => {
    if (!matrix.weights || event.pointerType !== 'mouse') return
    const place = crosshair.placeAt(event),
      [token, other] = crosshair.pair(...place),
      query = queryOf(matrix.shape, token)
    crosshair.other = other
    brush.paint(place, matrix.shape.tokens)
    crosshair.over = query
    store.set({ hover: query as State['hover'] })
    crosshair.draw()
  })
  surface.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !brush.begin(crosshair.placeAt(event), matrix.shape.tokens)) return
    event.preventDefault() // no text is selected by a stroke
    surface.setPointerCapture(event.pointerId)
  })
  for (const type of ['pointerup', 'pointercancel'])
    surface.addEventListener(type, () => brush.end())
  surface.addEventListener('pointerleave', () => {
    crosshair.other = crosshair.over = null
    store.set({ hover: null })
    if (matrix.weights) crosshair.draw()
  })
  surface.addEventListener('click', (event) => {
    if (brush.size) return
    const [token, other] = crosshair.pair(...crosshair.placeAt(event))
    crosshair.other = other
    store.set({ query: queryOf(matrix.shape, token), hover: null })
  })
}

/** Arrow keys move the crosshair and the space bar paints at it. */
function connectKeys(crosshair: Crosshair, brush: MatrixBrush) {
  const { surface, matrix, page } = crosshair
  surface.addEventListener('keydown', (event) => {
    const step = steps[event.key],
      { tokens } = matrix.shape
    if (event.key === ' ' && matrix.weights) {
      event.preventDefault()
      brush.begin(crosshair.place, tokens)
      brush.end()
    }
    if (!step || !matrix.weights || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const { token } = crosshair,
      within = (value: number) => Math.min(tokens - 1, Math.max(0, value)),
      [along, across] = crosshair.pair(...step)
    crosshair.other = within((crosshair.other ?? token) + across)
    if (along) page.store.set({ query: queryOf(matrix.shape, within(token + along)), hover: null })
    else crosshair.draw()
    crosshair.look()
  })
}

export const view: MakeView = (page, element, { left }) => {
  const { store, engine } = page
  element.innerHTML = markup
  const field = (name: string) => element.querySelector(`[name=${name}]`) as Field
  const matrix = { weights: null, shape: engine.shape, unit: '' } as Matrix,
    crosshair = new Crosshair(page, element, matrix),
    brush = new MatrixBrush(page, field('brush'))
  let held = '' // which matrix is there
  connectPointer(crosshair, brush)
  connectKeys(crosshair, brush)
  field('zoom').addEventListener('change', ({ target }) => {
    crosshair.surface.style.width = `${Number(target.value) * 100}%`
    crosshair.look()
  })
  field('free').addEventListener('click', () => store.set({ cuts: [] }))

  function drawMatrix(weights: Float32Array) {
    const { scale: stage, table } = page.drawn,
      { shape } = matrix,
      scale = scaleOfAll(stage, weights, shape, store.get().end / shape.tokens)
    put(
      element.querySelector('canvas'),
      heat({ weights, rows: shape.tokens, columns: shape.tokens, scale, table })
    )
    drawBar(element, scale, table)
    matrix.unit = scale.label
    /* The stage ends where its matrix does. */
    if (!scale.numbers && scale.kind !== 'own') store.set({ shown: scale.end })
  }

  async function draw(latest: () => boolean) {
    const { layer, head, ran, score } = store.get(),
      wanted = `${ran} ${layer} ${head} ${score}`
    for (const part of ['.window', '.bar']) element.querySelector(part).hidden = layer === 'pool'
    if (layer === 'pool') store.set({ shown: 0 })
    if (layer === 'pool') return (crosshair.said.textContent = say('matrix.poolOneQueryProbe'))
    if (wanted !== held) {
      const weights = await engine.matrix(layer, head as number, score)
      if (!latest()) return
      Object.assign(matrix, { weights, shape: engine.shape })
      held = wanted
    }
    field('brush').disabled = !engine.canChange
    field('free').disabled = !store.get().cuts.length
    drawMatrix(matrix.weights as Float32Array)
    crosshair.ringed = null // the stage has drawn its marks anew
    crosshair.draw()
    if (crosshair.over) store.set({ hover: crosshair.over as State['hover'] })
  }
  left.addEventListener('abort', () => {
    store.set({ hover: null, shown: 0 })
    page.look?.(null)
  })
  return { keys: ['drawn', 'cuts'], draw }
}
