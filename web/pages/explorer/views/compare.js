/* A, the row that the stage shows, beside B: a row that was pinned (another head, query, layer,
 * picture or model), or the same place in the same model with coarser weights or by another of the
 * runtime's modules. Side by side or with a curtain between them, their difference, and how far
 * apart they are: weights, or the scores of the stage that is chosen where both have them. */
import { cosine, divergence } from '../model/row_distance.js'
import { pin, swap } from '../state/pins.js'
import { pictureNow } from '../state/place.js'
import { percent } from '../../plot/caption.js'
import { divergingTable } from '../../plot/diverging.js'
import { heat } from '../../plot/heat.js'
import { largestOf } from '../../plot/raster.js'
import { makeScale, plainScale, signedScale } from '../../plot/scale.js'
import { stageWords } from '../../shared/scores.js'
import { drawRow } from './row_picture.js'
import { drawSmallBar, smallBar } from './bar.js'
import { put } from './canvas.js'
/** @import {Field, MakeView, Other, Page, PageSource, Runner} from '../../../types/pages.js' */
/** @import {Scale} from '../../../plot/index.js' */

const diverging = divergingTable()
/** @type {Record<string, string>} */
const others = {
  pinned: 'the pinned row',
  bf16: 'weights in BF16',
  int8: 'weights in 8 bits',
  int4: 'weights in 4 bits',
  scalar: 'the scalar module',
  simd: 'the SIMD module'
}
/** @type {Record<string, 'none' | 'simd'>} */
const modules = { scalar: 'none', simd: 'simd' } // as createRuntime names them

/** @type {MakeView} */
export function view(page, element, { left, redraw }) {
  const { store } = page,
    figure = (/** @type {string} */ name) =>
      `<figure><figcaption><b>${name}</b> <span></span></figcaption><div class="raster"><canvas role="img" aria-label="${name}"></canvas></div>${smallBar}</figure>`
  element.innerHTML = `<div class="even two"><button type="button" name="pin">Pin this row as B</button><button type="button" name="back" disabled>Swap A and B</button></div>
    <div class="fields"><label>B is <select name="other">${Object.entries(others)
      .map(([name, text]) => `<option value="${name}">${text}</option>`)
      .join('')}</select></label>
    <label>Shown <select name="shown"><option value="side">side by side</option><option value="swipe">with a curtain</option></select></label></div>
    <div class="pair compared">${['A', 'B', 'A − B'].map(figure).join('')}<dl class="facts"></dl></div>
    <p hidden><label class="range">Curtain <input type="range" name="curtain" min="0" max="100" value="50"></label></p>
    <p class="hint" aria-live="polite"></p>`
  const field = /** @type {(name: string) => Field} */ (
      (name) => /** @type {Field} */ (element.querySelector(`[name=${name}]`))
    ),
    figures = element.querySelectorAll('figure'),
    hint = element.querySelector('.hint')
  /** @type {{other: string, source: PageSource, ran: number, engine: Promise<Runner>} | null} */
  let second = null // a model of its own for another precision or module: { other, source, engine (a promise), ran }
  field('pin').addEventListener('click', () => {
    field('other').value = 'pinned'
    pin(page)
  })
  field('back').addEventListener('click', () => swap(page).catch(page.showError))
  for (const name of ['other', 'shown']) field(name).addEventListener('change', redraw)
  field('curtain').addEventListener('input', () =>
    element.style.setProperty('--curtain', `${field('curtain').value}%`)
  )

  /* Also one that is still on its way. */
  const close = () => {
    second?.engine.then(
      (engine) => engine.close(),
      () => {}
    )
    second = null
  }
  left.addEventListener('abort', close)

  /**
   * @param {string} other
   * @param {PageSource} source
   */
  async function open(other, source) {
    const [{ createRunner }, { roundedSource }] = await Promise.all([
      import('../model/model_runner.js'),
      import('../model/rounded_weights.js')
    ])
    return createRunner(
      modules[other]
        ? { source, simd: modules[other], threads: 1 }
        : { source: await roundedSource(source, other), threads: 1 }
    )
  }

  /**
   * @param {string} other
   * @returns {Promise<[second: {ran: number}, engine: Runner]>}
   */
  async function secondOf(other) {
    if (second?.other !== other || second.source !== page.source) {
      hint.textContent = 'Loading the model a second time …'
      close()
      second = { other, source: page.source, ran: -1, engine: open(other, page.source) }
    }
    const mine = second
    try {
      return [mine, await mine.engine]
    } catch (error) {
      if (second === mine) second = null // the next draw tries again
      throw error
    }
  }

  /** @param {string} other */
  async function rowsOf(other) {
    const { layer, head, reverse, ran, score } = store.get(),
      [mine, engine] = await secondOf(other)
    if (mine.ran !== ran)
      await engine.run(page.picture.source, {
        changes: page.engine.result.changes,
        fit: page.engine.result.fit
      })
    mine.ran = ran
    const at = { layer, head, query: page.query(), reverse }
    return {
      row: await engine.row(at),
      scores: page.drawn.scores && (await engine.row({ ...at, score })),
      score,
      device: engine.info.device
    }
  }

  /**
   * @param {string} other
   * @returns {Promise<Other | null>}
   */
  async function findB(other) {
    const { pinned } = store.get()
    if (other === 'pinned')
      return pinned && { ...pinned, title: `${pinned.title} (${pinned.name})` }
    return {
      ...(await rowsOf(other)),
      title: `${others[other]}, the same place`,
      shape: page.engine.shape,
      picture: pictureNow(page)
    }
  }

  /**
   * @param {number} index
   * @param {string} words
   * @param {Float32Array} weights
   * @param {Scale} scale
   * @param {Uint8Array} table
   * @param {HTMLCanvasElement} [picture]
   */
  function show(index, words, weights, scale, table, picture) {
    const { rows, columns } = page.engine.shape,
      canvas = figures[index].querySelector('canvas')
    figures[index].querySelector('span').textContent = words
    drawSmallBar(figures[index], scale, table)
    if (picture)
      drawRow(canvas, picture, {
        weights,
        rows,
        columns,
        scale,
        table,
        strength: store.get().strength
      })
    else put(canvas, heat({ weights, rows, columns, scale, table }))
  }

  /**
   * What stands in the pictures: { a, b, less, scale, lessScale, table, words }, of the patches.
   * @param {Other} b
   */
  function shownOf(b) {
    const { row, scores } = page.drawn,
      { tokens, prefixTokens } = page.engine.shape,
      { score } = store.get(),
      staged = scores && b.scores && b.score === score
    const [first, second] = /** @type {Float32Array[]} */ (
        staged ? [scores, b.scores] : [row, b.row]
      ).map((of) => of.subarray(prefixTokens)),
      size = (/** @type {Float32Array} */ of) =>
        of.reduce(
          (most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most),
          0
        )
    const [unit, factor] = /** @type {[string, number]} */ (
        staged ? [stageWords[score], 1] : ['× uniform', tokens]
      ),
      largest = Math.max(size(first), size(second))
    const less = first.map((value, i) =>
        Number.isFinite(value) && Number.isFinite(second[i]) ? (value - second[i]) * factor : NaN
      ),
      lessScale = signedScale(
        unit,
        Math.max(size(less), staged || store.get().scale === 'own' ? 0 : 1)
      ) // less than uniform is no difference to shine
    const scale = !staged
      ? makeScale('uniform', { tokens, largest })
      : score === 'value'
        ? plainScale(stageWords[score], largest)
        : signedScale(stageWords[score], largest)
    const words = `All in ${unit}; A and B on one scale.${staged ? ' Divergence and cosine are of the weights.' : scores ? ' B has no scores of this stage: weights stand here.' : ''}`
    return {
      a: first,
      b: second,
      less,
      scale,
      lessScale,
      table: scale.signed ? diverging : page.table,
      words
    }
  }

  /** @param {Other | null} b */
  function showNothing(b) {
    const { row, title } = page.drawn,
      { tokens, prefixTokens } = page.engine.shape,
      patches = row.subarray(prefixTokens)
    show(
      0,
      title,
      patches,
      makeScale('uniform', { tokens, largest: largestOf(patches) }),
      page.table,
      pictureNow(page)
    )
    figures[1].querySelector('span').textContent = b
      ? `${b.title} has another grid of patches.`
      : 'nothing pinned yet'
    hint.textContent = b
      ? 'Pin a row of this model.'
      : 'Pin a row as B (p, or Shift and a press on a patch), then choose another head, patch, layer, picture or model; or take the model with coarser weights, or another module of the runtime, as B. Both stand here on one scale, with their difference.'
  }

  /**
   * Which of the controls make sense.
   * @param {string} other
   * @param {boolean | null} fits
   */
  function showControls(other, fits) {
    const { simd } = page.engine.info,
      pair = element.querySelector('.pair')
    field('other').disabled = Boolean(page.engine.saved)
    for (const option of field('other').options)
      option.disabled =
        option.value in modules && (simd === 'none' || simd === modules[option.value])
    field('back').disabled = !fits || other !== 'pinned'
    pair.classList.toggle('waiting', !fits)
    pair.classList.toggle('swipe', field('shown').value === 'swipe')
    field('curtain').closest('p').hidden = !fits || field('shown').value !== 'swipe'
  }

  /** @param {() => boolean} latest */
  async function draw(latest) {
    const other = page.engine.saved ? 'pinned' : field('other').value,
      b = await findB(other)
    if (!latest()) return
    const { row, title } = page.drawn,
      { shape, info } = page.engine,
      fits = b && b.row.length === row.length && b.shape.rows === shape.rows
    showControls(other, fits)
    page.compared = fits ? b : null
    if (!fits) return showNothing(/** @type {Other} */ (b))
    const shown = shownOf(/** @type {Other} */ (b))
    show(0, title, shown.a, shown.scale, shown.table, pictureNow(page))
    show(
      1,
      /** @type {Other} */ (b).title,
      shown.b,
      shown.scale,
      shown.table,
      /** @type {Other} */ (b).picture
    )
    show(2, 'blue: B has more, orange: A has more', shown.less, shown.lessScale, diverging)
    hint.textContent = `${shown.words}${modules[other] ? ` A is by ${info.device}, B by ${/** @type {Other} */ (b).device}.` : ''}`
    const apart = divergence(row, /** @type {Other} */ (b).row),
      digits = apart > 1e-12 && apart < 5e-4 ? apart.toExponential(1) : apart.toFixed(4)
    element.querySelector('dl').innerHTML =
      `<dt>Jensen–Shannon divergence</dt><dd>${digits} nats</dd><dt>of the largest, ln 2</dt><dd>${percent(apart / Math.LN2)}</dd><dt>Cosine</dt><dd>${cosine(row, /** @type {Other} */ (b).row).toFixed(4)}</dd>`
  }
  return { keys: ['drawn', 'pinned'], draw }
}
