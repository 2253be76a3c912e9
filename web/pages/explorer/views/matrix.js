/* The whole matrix of one head: row = query, column = key; lines where a row of patches ends, a
 * crosshair at the query and at the key that the pointer or the arrow keys are on. The stage
 * follows the crosshair's row, or its column where it shows who looks at a patch, and rings the
 * other patch of the pair. With the brush, pairs are painted that may not attend, in all
 * heads: the model runs again at once. */
import { percent, times, tokenName } from '../../plot/caption.js'
import { gridScale } from '../../plot/grid_scale.js'
import { heat } from '../../plot/heat.js'
import { largestOf } from '../../plot/raster.js'
import { plainScale, signedScale } from '../../plot/scale.js'
import { drawBar, smallBar } from './bar.js'
import { put } from './canvas.js'
/** @import {Numbers, ScaleKind} from '../../../plot/index.js' */
/** @import {Field, MakeView, Page, PageQuery, State} from '../../../types/pages.js' */

/** @type {Record<string, [down: number, across: number]>} */
const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }

/** @type {MakeView} */
export function view(page, element, { left }) {
  const { store, engine } = page
  element.innerHTML = `<div class="fields matrix-fields"><label>Zoom <select name="zoom"><option value="1">1×</option><option value="2">2×</option><option value="4">4×</option></select></label>
    <label>Click <select name="brush"><option value="0">selects the row</option><option value="1">blocks the pair</option><option value="4">blocks 4 × 4</option><option value="14">blocks 14 × 14</option></select></label>
    <button type="button" name="free">Undo blocks</button></div>
    <p class="hint">Row = query, column = key; CLS and registers come first, then the patches, with a line after each row of patches. Arrow keys or the mouse move the crosshair. A click selects the row; the brush blocks or unblocks pairs.</p>
    <div class="window"><div class="raster matrix" role="application" tabindex="0" aria-label="Matrix: arrows move the crosshair" aria-describedby="matrix-said"><canvas aria-hidden="true"></canvas>
    <svg aria-hidden="true" preserveAspectRatio="none"><path class="rule"/><path class="barred"/><path class="under"/><path class="over"/></svg></div></div>${smallBar}<p class="hint" id="matrix-said" aria-live="polite"></p>`
  const surface = element.querySelector('.matrix'),
    canvas = element.querySelector('canvas'),
    said = element.querySelector('#matrix-said'),
    svg = element.querySelector('svg')
  /** @param {string} name */
  const field = (name) => /** @type {Field} */ (element.querySelector(`[name=${name}]`))
  field('zoom').addEventListener('change', ({ target }) => {
    surface.style.width = `${Number(target.value) * 100}%`
    look()
  })
  field('free').addEventListener('click', () => store.set({ cuts: [] }))
  /** @type {PageQuery | null} */
  let over = null // the row under the pointer, which a run takes from the stage
  /** @type {boolean | null} */
  let painting = null // true while a stroke bars, false while it frees
  let shape = engine.shape,
    matrix = /** @type {Float32Array | null} */ (null),
    held = '',
    key = /** @type {number | null} */ (null),
    ringed = /** @type {number | null} */ (null)
  /** @type {string} */
  let unit

  /**
   * [query, key] of the stage's token and the other, and back: in reverse the stage is on the
   * key.
   * @param {number} token
   * @param {number} other
   */
  const pair = (token, other) => (store.get().reverse ? [other, token] : [token, other])

  /**
   * @param {number} token
   * @returns {PageQuery}
   */
  const queryOf = (token) => {
    const { prefixTokens, columns } = shape
    return token < prefixTokens
      ? 'cls'
      : [Math.floor((token - prefixTokens) / columns), (token - prefixTokens) % columns]
  }
  /**
   * @param {PointerEvent} event
   * @returns {[query: number, key: number]}
   */
  const at = (event) => {
    const box = canvas.getBoundingClientRect(),
      { tokens } = shape
    /** @param {number} share */
    const index = (share) => Math.min(tokens - 1, Math.max(0, Math.floor(share * tokens)))
    return [
      index((event.clientY - box.top) / box.height),
      index((event.clientX - box.left) / box.width)
    ]
  }

  /* What lies under the crosshair comes into the window. */
  function look() {
    const view = surface.parentElement,
      at = (/** @type {number} */ token) =>
        ((token + 0.5) / shape.tokens) * surface.offsetWidth -
        /** @type {HTMLElement} */ (view).clientWidth / 2
    const [down, across] = pair(page.drawn.token, key ?? page.drawn.token)
    view?.scrollTo(at(across), at(down))
  }

  /**
   * A stroke goes on as its first pair began; the brush ends at the matrix's edge.
   * @param {number[]} pair
   */
  function paint([token, to], begin = false) {
    const size = Number(field('brush').value),
      { tokens } = shape,
      { cuts } = store.get(),
      first = (/** @type {number} */ at) => Math.max(0, at - ((size - 1) >> 1))
    if (!size || !engine.canChange) return false
    if (begin) painting = !cuts.includes(`${token}.${to}`)
    const pairs = Array.from({ length: size * size }, (_, i) => [
      first(token) + Math.floor(i / size),
      first(to) + (i % size)
    ])
      .filter((pair) => pair.every((at) => at < tokens))
      .map((pair) => pair.join('.'))
    store.set({
      cuts: painting
        ? [...new Set([...cuts, ...pairs])].sort()
        : cuts.filter((pair) => !pairs.includes(pair))
    })
    return true
  }

  function cross() {
    const { tokens, prefixTokens, rows, columns } = shape,
      { token } = page.drawn
    const lines = Array.from({ length: rows }, (_, r) => prefixTokens + r * columns)
    svg.setAttribute('viewBox', `0 0 ${tokens} ${tokens}`)
    const [down, across] = pair(token, /** @type {number} */ (key)),
      line = (/** @type {number | null} */ at, /** @type {(at: number) => string} */ path) =>
        at === null ? '' : path(at + 0.5),
      path = line(down, (y) => `M0 ${y}H${tokens}`) + line(across, (x) => `M${x} 0V${tokens}`)
    svg.children[0].setAttribute(
      'd',
      lines.map((line) => `M0 ${line}H${tokens}M${line} 0V${tokens}`).join('')
    )
    svg.children[1].setAttribute(
      'd',
      store
        .get()
        .cuts.map((pair) => {
          const [y, x] = pair.split('.')
          return `M${x} ${y}h1v1h-1z`
        })
        .join('')
    )
    for (const line of [svg.children[2], svg.children[3]]) line.setAttribute('d', path)
    said.textContent =
      key === null
        ? summary()
        : `${tokenName(down, prefixTokens, columns)} to ${tokenName(across, prefixTokens, columns)}: ${amount(/** @type {Float32Array} */ (matrix)[down * tokens + across])}`
    if (key !== ringed) page.look?.((ringed = key))
  }
  /** @param {number} value */
  const amount = (value) =>
    page.drawn.scale.numbers
      ? `${page.drawn.scale.signed ? 'score ' : ''}${value.toFixed(3)}`
      : `${percent(value)} = ${times(value, shape.tokens)}`
  /** @param {Pick<State, 'layer' | 'head'>} state */
  const name = ({ layer, head }) =>
    `Layer ${layer}, ${head === 'mean' ? 'mean of the heads' : `head ${head}`}`
  const summary = () =>
    `${unit}. ${name(store.get())}: ${shape.tokens} × ${shape.tokens}, the largest ${amount(largestOf(/** @type {Iterable<number>} */ (matrix)))}`

  /* Of the kind that the stage has, over the whole matrix: it ends at the largest weight on a
   * patch, and CLS may be beyond. */
  function scaleOfAll() {
    const { scale } = page.drawn,
      { tokens, prefixTokens } = shape
    if (scale.numbers)
      return (scale.signed ? signedScale : plainScale)(
        scale.label,
        /** @type {Float32Array} */ (matrix).reduce(
          (most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most),
          0
        )
      )
    if (scale.kind === 'own') return scale
    const largests = Array.from({ length: tokens }, (_, i) =>
      largestOf(
        /** @type {Float32Array} */ (matrix).subarray(i * tokens + prefixTokens, (i + 1) * tokens)
      )
    )
    return gridScale(/** @type {ScaleKind} */ (scale.kind === 'all' ? 'uniform' : scale.kind), {
      tokens,
      largests,
      beyond: largestOf(/** @type {Iterable<number>} */ (matrix))
    })
  }

  surface.addEventListener('pointermove', (event) => {
    if (!matrix || event.pointerType !== 'mouse') return
    const place = at(event),
      [token, other] = pair(...place),
      query = queryOf(token)
    key = other
    if (painting !== null) paint(place)
    over = query
    store.set({ hover: /** @type {State['hover']} */ (query) })
    cross()
  })
  surface.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !paint(at(event), true)) return
    event.preventDefault() // no text is selected by a stroke
    surface.setPointerCapture(event.pointerId)
  })
  for (const type of ['pointerup', 'pointercancel'])
    surface.addEventListener(type, () => (painting = null))
  surface.addEventListener('pointerleave', () => {
    key = over = null
    store.set({ hover: null })
    if (matrix) cross()
  })
  surface.addEventListener('click', (event) => {
    if (Number(field('brush').value) && engine.canChange) return
    const [token, other] = pair(...at(event))
    key = other
    store.set({ query: queryOf(token), hover: null })
  })
  surface.addEventListener('keydown', (event) => {
    const step = steps[event.key],
      { tokens } = shape
    if (event.key === ' ' && matrix) {
      event.preventDefault()
      paint(pair(page.drawn.token, key ?? page.drawn.token), true)
      painting = null
    }
    if (!step || !matrix || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const within = (/** @type {number} */ value) => Math.min(tokens - 1, Math.max(0, value)),
      [along, across] = pair(...step)
    key = within((key ?? page.drawn.token) + across)
    if (along) store.set({ query: queryOf(within(page.drawn.token + along)), hover: null })
    else cross()
    look()
  })

  /** @param {() => boolean} latest */
  async function draw(latest) {
    const { layer, head, ran, score } = store.get()
    const wanted = `${ran} ${layer} ${head} ${score}`
    if (wanted !== held) {
      const found = await engine.matrix(layer, /** @type {number} */ (head), score)
      if (!latest()) return
      matrix = found
      shape = engine.shape // of the matrix: another model may come before it is drawn anew
      held = wanted
    }
    field('brush').disabled = !engine.canChange
    field('free').disabled = !store.get().cuts.length
    const scale = scaleOfAll(),
      { table } = page.drawn
    put(
      canvas,
      heat({
        weights: /** @type {Numbers} */ (matrix),
        rows: shape.tokens,
        columns: shape.tokens,
        scale,
        table
      })
    )
    drawBar(element, scale, table)
    unit = scale.label
    ringed = null // the stage has drawn its marks anew
    cross()
    if (over) store.set({ hover: /** @type {State['hover']} */ (over) })
  }
  left.addEventListener('abort', () => {
    store.set({ hover: null })
    page.look?.(null)
  })
  return { keys: ['drawn', 'cuts'], draw }
}
