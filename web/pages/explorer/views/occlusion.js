/* What the answer needs of the picture, beside what the model attends to: each square is covered
 * with the picture's mean colour, and the model runs again (Zeiler and Fergus 2014, section 4.2).
 * The model is the whole one: changes of its attention do not count here. */
import { divergingTable } from '../../plot/diverging.js'
import { heat } from '../../plot/heat.js'
import { percent } from '../../plot/caption.js'
import { largestOf } from '../../plot/raster.js'
import { signedScale } from '../../plot/scale.js'
import { drawSmallBar, smallBar } from './bar.js'
import { put } from './canvas.js'
/** @import {MakeView, Page} from '../../../types/pages.js' */

const diverging = divergingTable()

/**
 * The ranks of values, 1 the least; equal ones share the mean of theirs.
 * @param {ArrayLike<number>} values
 */
function ranksOf(values) {
  const order = Array.from(values, (value, i) => ({ value, i })).sort((a, b) => a.value - b.value),
    ranks = new Array(values.length)
  for (let from = 0; from < order.length; ) {
    let end = from
    while (end < order.length && order[end].value === order[from].value) end++
    for (let i = from; i < end; i++) ranks[order[i].i] = (from + end + 1) / 2
    from = end
  }
  return ranks
}

/**
 * Spearman's rank correlation; NaN where one of the two is constant.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export function rankCorrelation(a, b) {
  const [x, y] = [ranksOf(a), ranksOf(b)],
    middle = (a.length + 1) / 2,
    sum = (/** @type {number[]} */ u, /** @type {number[]} */ v) =>
      u.reduce((total, value, i) => total + (value - middle) * (v[i] - middle), 0)
  return sum(x, y) / Math.sqrt(sum(x, x) * sum(y, y))
}

/**
 * The picture on a canvas, and its mean colour within what the model sees.
 * @param {Page} page
 */
function canvasOf({ picture, engine }) {
  const { source } = picture,
    canvas = new OffscreenCanvas(source.width, source.height),
    context = /** @type {OffscreenCanvasRenderingContext2D} */ (
      canvas.getContext('2d', { willReadFrequently: true })
    )
  if (source instanceof ImageData) context.putImageData(source, 0, 0)
  else context.drawImage(source, 0, 0)
  const { x, y, width, height } = engine.result.region,
    { data } = context.getImageData(x, y, Math.max(1, width), Math.max(1, height)),
    sums = [0, 0, 0]
  for (let i = 0; i < data.length; i += 4) for (let c = 0; c < 3; c++) sums[c] += data[i + c]
  return {
    canvas,
    context,
    mean: `rgb(${sums.map((sum) => Math.round((4 * sum) / data.length)).join(' ')})`
  }
}

/**
 * How much less probable the model's class is with each square covered, [rows * columns]: a square
 * of `side` patches counts for each of its patches.
 * @param {Page} page
 * @param {number} side
 * @param {AbortSignal} signal
 * @param {(done: number, of: number) => void} onStep
 * @returns {Promise<{drops: Float32Array, best: number, share: number}>}
 */
export async function occlude(page, side, signal, onStep) {
  const { engine } = page,
    { rows, columns } = engine.shape,
    { x, y, width, height } = engine.result.region,
    { fit = 'model' } = engine.result,
    drops = new Float32Array(rows * columns),
    { canvas, context, mean } = canvasOf(page),
    [height_, width_] = engine.size ?? [],
    session = engine.opened.createSession(engine.size ? { height: height_, width: width_ } : {})
  try {
    const run = async () =>
      engine.explain.softmax(
        /** @type {ArrayLike<number>} */ ((await session.run(canvas, { fit, signal })).logits)
      )
    const whole = await run(),
      best = whole.indexOf(Math.max(...whole)),
      across = Math.ceil(columns / side),
      count = across * Math.ceil(rows / side)
    for (let i = 0; i < count; i++) {
      const [row, column] = [Math.floor(i / across) * side, (i % across) * side],
        [down, wide] = [Math.min(side, rows - row), Math.min(side, columns - column)],
        left = Math.round(x + (column * width) / columns),
        top = Math.round(y + (row * height) / rows),
        right = Math.round(x + ((column + wide) * width) / columns),
        bottom = Math.round(y + ((row + down) * height) / rows),
        before = context.getImageData(left, top, right - left, bottom - top)
      context.fillStyle = mean
      context.fillRect(left, top, right - left, bottom - top)
      const drop = whole[best] - (await run())[best]
      context.putImageData(before, left, top)
      for (let r = row; r < row + down; r++)
        drops.fill(drop, r * columns + column, r * columns + column + wide)
      onStep(i + 1, count)
    }
    return { drops, best, share: whole[best] }
  } finally {
    session.close()
  }
}

/** @type {MakeView} */
export function view(page, element, { left }) {
  const { store, engine } = page
  element.innerHTML = `<p class="hint">Each square of the image is covered, and the model runs again: the prediction then shows what it needs.</p>
    <div class="row"><label>Squares of <select name="side"><option value="1">1 patch</option><option value="2" selected>2 × 2 patches</option><option value="4">4 × 4 patches</option></select></label><button type="button" name="run">Cover each square</button><button type="button" name="stop" hidden>Stop</button></div>
    <figure hidden><figcaption></figcaption><div class="raster"><canvas role="img" aria-label="Change of the prediction with each square covered"></canvas></div>${smallBar}</figure><p class="hint" aria-live="polite"></p>`
  /** @param {string} name */
  const field = (name) => /** @type {HTMLButtonElement} */ (element.querySelector(`[name=${name}]`))
  const figure = element.querySelector('figure'),
    said = element.querySelectorAll('.hint')[1]
  let found = /** @type {(Awaited<ReturnType<typeof occlude>> & {ran: number}) | null} */ (null),
    running = /** @type {AbortController | null} */ (null)
  left.addEventListener('abort', () => running?.abort())
  field('stop').addEventListener('click', () => running?.abort())
  field('run').addEventListener('click', () => cover().catch(page.showError))

  async function cover() {
    running?.abort()
    const mine = (running = new AbortController()),
      { ran } = store.get()
    field('stop').hidden = false
    try {
      const done = await occlude(page, Number(field('side').value), mine.signal, (at, of) => {
        said.textContent = `Square ${at} of ${of}`
      })
      if (mine !== running) return
      found = { ...done, ran }
      draw()
    } catch (error) {
      if (/** @type {Error} */ (error).name !== 'AbortError') throw error
      said.textContent = 'Stopped.'
    } finally {
      if (mine === running) field('stop').hidden = true
    }
  }

  function draw() {
    const { rows, columns, prefixTokens } = engine.shape,
      able = Boolean(engine.result.logits) && !engine.saved
    field('run').disabled = field('side').disabled = !able
    if (found && found.ran !== store.get().ran) found = null
    figure.hidden = !found
    if (!able) {
      said.textContent = 'This needs a model with a classifier.'
      return
    }
    if (!found) {
      if (field('stop').hidden) said.textContent = ''
      return
    }
    const { drops, best, share } = found,
      end = largestOf(drops.map(Math.abs)),
      at = drops.indexOf(Math.max(...drops)),
      scale = signedScale('points', 100 * end),
      correlation = rankCorrelation(drops, page.drawn.row.subarray(prefixTokens))
    figure.querySelector('figcaption').textContent =
      `“${engine.model.labels[best]}” loses, percentage points`
    put(
      figure.querySelector('canvas'),
      heat({
        weights: drops.map((drop) => 100 * drop),
        rows,
        columns,
        scale,
        table: diverging
      })
    )
    drawSmallBar(figure, scale, diverging)
    said.textContent = `“${engine.model.labels[best]}” has ${percent(share)}. Covering the square at patch (${Math.floor(at / columns)}, ${at % columns}) costs most: ${(100 * drops[at]).toFixed(1)} points. Rank correlation with the map on the picture: ${Number.isNaN(correlation) ? 'none, one of the two is constant' : correlation.toFixed(2)}.`
  }
  return { keys: ['drawn', 'ran'], draw }
}
