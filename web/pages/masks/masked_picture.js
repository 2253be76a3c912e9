/* A mask used on a picture: the demo model's answer for it as it is and with the patches hidden
 * that no query of the mask sees. Fetched and run when asked for. */
import { fixed } from '../plot/parts/numbers.js'
import { className } from '../shared/names.js'
import { say } from '../languages/say.js'
import { explorerLink } from './mask_link.js'
import { demoModel } from '../heed/demo.js'
import { createRuntime } from '../heed/index.js'
import { softmax } from '../shared/small_attention.js'
/** @import {DrawnScene, ImageInput, Session} from '../../src/index.js' */
/** @import {Shape} from '../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)
const shown = 3
/** @type {ReturnType<typeof load> | null} */
let open = null
/** @type {{hidden: number[] | 'twin', scene: number}} the last that was asked for */
let last
/** @type {Promise<unknown>} */
let busy = Promise.resolve()

async function load() {
  const runtime = await createRuntime({ threads: 1 }),
    model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'none', intervene: {} })
  return { runtime, session, labels: model.info.labels.map(className), shape: await session.ready }
}

/**
 * Class shares with these patches hidden from every head.
 * @param {{session: Session, shape: Shape}} model
 * @param {ImageInput} image
 * @param {number[]} hidden
 */
async function sharesWithout({ session, shape: { tokens, prefixTokens } }, image, hidden) {
  const seen = new Uint8Array(tokens).fill(1)
  for (const patch of hidden) seen[prefixTokens + patch] = 0
  await session.write('token_mask', seen)
  return softmax([.../** @type {Float32Array} */ ((await session.run(image)).logits)])
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {DrawnScene['image']} image
 * @param {number[]} hidden
 * @param {number} columns
 */
function drawPicture(canvas, { data, width, height }, hidden, columns) {
  const context = /** @type {CanvasRenderingContext2D} */ (
      Object.assign(canvas, { width, height }).getContext('2d')
    ),
    side = width / columns
  context.putImageData(new ImageData(data, width, height), 0, 0)
  for (const patch of hidden) {
    const x = (patch % columns) * side,
      y = Math.floor(patch / columns) * side
    context.fillStyle = '#808080'
    context.fillRect(x, y, side, side)
    context.fillStyle = '#606060'
    context.fillRect(x, y, side / 2, side / 2)
    context.fillRect(x + side / 2, y + side / 2, side / 2, side / 2)
  }
  canvas.setAttribute(
    'aria-label',
    hidden.length ? say('masks.sceneHidden', { count: hidden.length }) : say('masks.sceneWhole')
  )
}

/** @param {string[]} texts */
function line(texts) {
  const row = document.createElement('tr')
  row.append(
    ...texts.map((textContent) => Object.assign(document.createElement('td'), { textContent }))
  )
  return row
}

/** @param {number} share */
const percent = (share) => say('number.percent', { number: fixed(100 * share, 1) })

/**
 * @param {string[]} labels
 * @param {number[]} before
 * @param {number[]} after
 */
function sayAnswer(labels, before, after) {
  const best = (/** @type {number[]} */ shares) => shares.indexOf(Math.max(...shares)),
    [was, is] = [best(before), best(after)]
  const order = before
    .map((_, i) => i)
    .sort((a, b) => Math.max(before[b], after[b]) - Math.max(before[a], after[a]))
    .slice(0, shown)
  element('picture-rows').replaceChildren(
    ...order.map((i) => line([labels[i], percent(before[i]), percent(after[i])]))
  )
  element('picture-answer').textContent =
    was === is
      ? say('masks.answerStays', {
          label: labels[was],
          before: percent(before[was]),
          after: percent(after[was])
        })
      : say('masks.answerChanges', {
          was: labels[was],
          before: percent(before[was]),
          is: labels[is],
          after: percent(after[is])
        })
}

/**
 * The patches that the second of the twins touches: the radius is that of its circle.
 * @param {DrawnScene} drawn
 * @param {Shape} shape
 */
function patchesOfTwin({ scene: { objects }, twins, image }, { rows, columns }) {
  if (!twins) throw new Error(say('masks.noTwins'))
  const { x, y, radius } = objects[twins[1]],
    side = image.width / columns,
    near = (/** @type {number} */ at, /** @type {number} */ centre) =>
      Math.abs((at + 0.5) * side - centre) < radius + side / 2
  return Array.from({ length: rows * columns }, (_, i) => i).filter(
    (i) => near(i % columns, x) && near(Math.floor(i / columns), y)
  )
}

async function show() {
  const { scene } = last,
    found = await (open ??= load()),
    drawn = await found.runtime.scene(scene),
    { image } = drawn,
    { columns } = found.shape,
    hidden = last.hidden === 'twin' ? patchesOfTwin(drawn, found.shape) : last.hidden
  const before = await sharesWithout(found, image, []),
    after = await sharesWithout(found, image, hidden)
  drawPicture(element('picture-whole'), image, [], columns)
  drawPicture(element('picture-hidden'), image, hidden, columns)
  sayAnswer(found.labels, before, after)
  element('on-picture').href = explorerLink(hidden, scene)
  element('on-picture').hidden = false
  element('picture-result').hidden = false
  element('picture-result').dataset.shown = `${scene} ${hidden.length}`
}

/**
 * hidden: numbers of patches in raster order, or 'twin': those of one of the two that are alike. Runs take turns; of several that wait the last alone
 * runs.
 * @param {number[] | 'twin'} hidden
 * @param {number} scene
 */
export function showMasked(hidden, scene) {
  const mine = (last = { hidden, scene })
  busy = busy
    .then(() => (mine === last ? show() : null))
    .catch((error) => {
      open = null
      element('picture-answer').textContent = error.message
    })
  return busy
}
