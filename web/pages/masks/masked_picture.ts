/* A mask used on a picture: the demo model's answer for it as it is and with the patches hidden
 * that no query of the mask sees. Fetched and run when asked for. */
import { html, render } from 'lit-html'
import { element } from '../shared/elements.js'
import { fixed } from '../plot/parts/numbers.js'
import { className } from '../shared/names.js'
import { say } from '../languages/say.js'
import { explorerLink } from './mask_link.js'
import { demoModel } from '../heed/demo.js'
import { createRuntime } from '../heed/index.js'
import { softmax } from '../shared/small_attention.js'
import type { DrawnScene, ImageInput, Session } from 'heed'
import type { Shape } from '../shared/types.js'

const shown = 3
let open: ReturnType<typeof load> | null = null
/** the last that was asked for */
let last: { hidden: number[] | 'twin'; scene: number }
let busy: Promise<unknown> = Promise.resolve()

async function load() {
  const runtime = await createRuntime({ threads: 1 }),
    model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'none', intervene: {} })
  return { runtime, session, labels: model.info.labels.map(className), shape: await session.ready }
}

/** Class shares with these patches hidden from every head. */
async function sharesWithout(
  { session, shape: { tokens, prefixTokens } }: { session: Session; shape: Shape },
  image: ImageInput,
  hidden: number[]
) {
  const seen = new Uint8Array(tokens).fill(1)
  for (const patch of hidden) seen[prefixTokens + patch] = 0
  await session.write('token_mask', seen)
  return softmax([...((await session.run(image)).logits as Float32Array)])
}

function drawPicture(
  canvas: HTMLCanvasElement,
  { data, width, height }: DrawnScene['image'],
  hidden: number[],
  columns: number
) {
  const context = Object.assign(canvas, { width, height }).getContext(
      '2d'
    ) as CanvasRenderingContext2D,
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

const percent = (share: number) => say('number.percent', { number: fixed(100 * share, 1) })

function sayAnswer(labels: string[], before: number[], after: number[]) {
  const best = (shares: number[]) => shares.indexOf(Math.max(...shares)),
    [was, is] = [best(before), best(after)]
  const order = before
    .map((_, i) => i)
    .sort((a, b) => Math.max(before[b], after[b]) - Math.max(before[a], after[a]))
    .slice(0, shown)
  render(
    order.map(
      (i) =>
        html`<tr><td>${labels[i]}</td><td>${percent(before[i])}</td><td>${percent(after[i])}</td></tr>`
    ),
    element('picture-rows')
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

/** The patches that the second of the twins touches: the radius is that of its circle. */
function patchesOfTwin({ scene: { objects }, twins, image }: DrawnScene, { rows, columns }: Shape) {
  if (!twins) throw new Error(say('masks.noTwins'))
  const { x, y, radius } = objects[twins[1]],
    side = image.width / columns,
    near = (at: number, centre: number) => Math.abs((at + 0.5) * side - centre) < radius + side / 2
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

/** hidden: numbers of patches in raster order, or 'twin': those of one of the two that are alike. Runs take turns; of several that wait the last alone
 * runs. */
export function showMasked(hidden: number[] | 'twin', scene: number) {
  const mine = (last = { hidden, scene })
  busy = busy
    .then(() => (mine === last ? show() : null))
    .catch((error) => {
      open = null
      element('picture-answer').textContent = error.message
    })
  return busy
}
