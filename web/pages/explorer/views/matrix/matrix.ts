/* The whole matrix of one head: row = query, column = key; lines where a row of patches ends, a
 * crosshair at the query and at the key that the pointer or the arrow keys are on. The stage
 * follows the crosshair's row, or its column where it shows who looks at a patch, and rings the
 * other patch of the pair. With the brush, pairs are painted that may not attend, in all
 * heads: the model runs again at once. */
import { html, nothing, render } from 'lit-html'
import { fixed } from '../../../plot/parts/numbers.js'
import { percent, times } from '../../../plot/caption.js'
import { gridScale } from '../../../plot/grid_scale.js'
import { heat } from '../../../plot/heat.js'
import { largestOf } from '../../../plot/raster.js'
import { plainScale, signedScale } from '../../../plot/scale.js'
import { bar } from '../parts/bar.js'
import { put } from '../parts/canvas.js'
import { MatrixBrush } from './matrix_brush.js'
import { say } from '../../../languages/say.js'
import type { Scale, ScaleKind } from 'heed/plot'
import type { Field, Of, PageQuery, Shape } from '../../../shared/types.js'
import type { MakeView, Page, State } from '../../types.js'

const steps: Record<string, [down: number, across: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1]
}

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
  element
  redraw
  /** the other token: the key, or in reverse the query */
  other: number | null = null
  /** the row under the pointer, which a run takes from the stage */
  over: PageQuery | null = null
  /** the token that the stage rings */
  ringed: number | null = null

  constructor(page: Page, element: HTMLElement, matrix: Matrix, redraw: () => void) {
    this.page = page
    this.element = element
    this.matrix = matrix
    this.redraw = redraw
  }

  get surface() {
    return this.element.querySelector('.matrix') as HTMLElement
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

  /** Draws it; the stage rings the other patch. */
  draw() {
    const { page, other } = this
    this.redraw()
    if (other !== this.ringed) page.look?.((this.ringed = other))
  }

  /** Lines where a row of patches ends, blocked pairs, and the crosshair, as paths. */
  get lines() {
    const { tokens, prefixTokens, rows, columns } = this.matrix.shape,
      [query, key] = this.pair(this.page.drawn.token, this.other)
    const rule = (at: number) => `M0 ${at}H${tokens}M${at} 0V${tokens}`,
      cell = (pair: string) => `M${pair.split('.').reverse().join(' ')}h1v1h-1z`
    return {
      rules: Array.from({ length: rows }, (_, r) => rule(prefixTokens + r * columns)).join(''),
      barred: this.page.store.get().cuts.map(cell).join(''),
      cross:
        (query === null ? '' : `M0 ${query + 0.5}H${tokens}`) +
        (key === null ? '' : `M${key + 0.5} 0V${tokens}`)
    }
  }

  /** The pair with its weight, or the whole matrix. */
  get words() {
    const { page, matrix, other } = this,
      { engine } = page,
      { tokens } = matrix.shape
    if (other === null) return summary(page, matrix)
    const [query, key] = this.pair(page.drawn.token, other),
      weight = (matrix.weights as Float32Array)[query * tokens + key]
    return say('matrix.queryToKeyWeight', {
      query: engine.nameOf(query),
      key: engine.nameOf(key),
      weight: amount(page.drawn.scale, weight, tokens)
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

/** @param bars of the scale that the matrix is drawn on */
function templateOf({ store, engine }: Page, crosshair: Crosshair, bars: unknown) {
  const { layer, cuts } = store.get(),
    { weights, shape } = crosshair.matrix,
    { rules, barred, cross } = weights ? crosshair.lines : {},
    pooled = layer === 'pool',
    fixed = !engine.canChange
  const zoom = ({ target }: Of<HTMLSelectElement>) => {
    crosshair.surface.style.width = `${Number(target.value) * 100}%`
    crosshair.look()
  }
  return html`<div class="fields matrix-fields"><label>${say('matrix.zoom')} <select name="zoom" @change=${zoom}><option value="1">1×</option><option value="2">2×</option><option value="4">4×</option></select></label>
    <label>${say('matrix.click')} <select name="brush" ?disabled=${fixed}><option value="0">${say('matrix.selectsRow')}</option><option value="1">${say('matrix.blocksPair')}</option><option value="4">${say('matrix.blocks44')}</option><option value="14">${say('matrix.blocks1414')}</option></select></label>
    <button type="button" name="free" ?disabled=${!cuts.length} @click=${() => store.set({ cuts: [] })}>${say('matrix.undoBlocks')}</button></div>
    <p class="hint">${say('matrix.clsRegistersComeFirst')}</p>
    <p class="hint axes-said" aria-hidden="true"><span>${say('matrix.query')}</span> <span>${say('matrix.key')}</span></p><div class="window" ?hidden=${pooled}><div class="raster matrix" role="application" tabindex="0" aria-label=${say('matrix.matrixArrowsMoveCrosshair')} aria-describedby="matrix-said"><canvas aria-hidden="true"></canvas>
    <svg aria-hidden="true" preserveAspectRatio="none" viewBox=${`0 0 ${shape.tokens} ${shape.tokens}`}><path class="rule" d=${rules}/><path class="barred" d=${barred}/><path class="under" d=${cross}/><path class="over" d=${cross}/></svg></div></div>${pooled ? nothing : bars}<p class="hint" id="matrix-said" aria-live="polite">${pooled ? say('matrix.poolOneQueryProbe') : weights && crosshair.words}</p>`
}

export const view: MakeView = (page, element, { left }) => {
  const { store, engine } = page,
    matrix = { weights: null, shape: engine.shape, unit: '' } as Matrix,
    crosshair = new Crosshair(page, element, matrix, show)
  let held = '', // which matrix is there
    bars: unknown = nothing
  function show() {
    render(templateOf(page, crosshair, bars), element)
  }
  show()
  const brush = new MatrixBrush(page, element.querySelector('[name=brush]') as unknown as Field)
  connectPointer(crosshair, brush)
  connectKeys(crosshair, brush)

  function drawMatrix(weights: Float32Array) {
    const { scale: stage, table } = page.drawn,
      { shape } = matrix,
      scale = scaleOfAll(stage, weights, shape, store.get().end / shape.tokens)
    put(
      element.querySelector('canvas'),
      heat({ weights, rows: shape.tokens, columns: shape.tokens, scale, table })
    )
    bars = bar(scale, table, scale.ticks)
    matrix.unit = scale.label
  }

  async function draw(latest: () => boolean) {
    const { layer, head, ran, score } = store.get(),
      wanted = `${ran} ${layer} ${head} ${score}`
    if (layer === 'pool') return show()
    if (wanted !== held) {
      const weights = await engine.matrix(layer, head as number, score)
      if (!latest()) return
      Object.assign(matrix, { weights, shape: engine.shape })
      held = wanted
    }
    drawMatrix(matrix.weights as Float32Array)
    crosshair.ringed = null // the stage has drawn its marks anew
    crosshair.draw()
    if (crosshair.over) store.set({ hover: crosshair.over as State['hover'] })
  }
  left.addEventListener('abort', () => {
    store.set({ hover: null })
    page.look?.(null)
  })
  return { keys: ['drawn', 'cuts'], draw }
}
