/* What the answer needs of the picture, beside what the model attends to: each square is covered
 * with the picture's mean colour, and the model runs again (Zeiler and Fergus 2014, section 4.2).
 * The model is the whole one: changes of its attention do not count here. */
import { probabilitiesOf } from '../../model/probabilities.js'
import { squareView } from './square_effects.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page } from '../../types.js'
import type { Removal, Square } from './square_effects.js'

/** The picture on a canvas, and its mean colour within what the model sees. */
function canvasOf({ picture, engine }: Page) {
  const { source } = picture,
    canvas = new OffscreenCanvas(source.width, source.height),
    context = canvas.getContext('2d', {
      willReadFrequently: true
    }) as OffscreenCanvasRenderingContext2D
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

/** Squares are taken away by covering them, in a session of their own. */
async function cover(page: Page): Promise<Removal> {
  const { engine } = page,
    { rows, columns } = engine.shape,
    { x, y, width, height } = engine.result.region,
    { fit = 'model' } = engine.result,
    { canvas, context, mean } = canvasOf(page),
    [height_, width_] = engine.size ?? [],
    session = engine.opened.createSession(engine.size ? { height: height_, width: width_ } : {})
  const run = async () =>
    Float32Array.from(
      probabilitiesOf(engine, (await session.run(canvas, { fit })).logits as ArrayLike<number>)
    )
  async function without({ row, column, down, wide }: Square) {
    const left = Math.round(x + (column * width) / columns),
      top = Math.round(y + (row * height) / rows),
      right = Math.round(x + ((column + wide) * width) / columns),
      bottom = Math.round(y + ((row + down) * height) / rows),
      before = context.getImageData(left, top, right - left, bottom - top)
    context.fillStyle = mean
    context.fillRect(left, top, right - left, bottom - top)
    const shares = await run()
    context.putImageData(before, left, top)
    return shares
  }
  return { whole: await run(), without, end: () => session.close() }
}

export const view: MakeView = (page, element, { left }) =>
  squareView(page, element, left, {
    about: say('occlusion.eachSquareImageCovered'),
    press: say('occlusion.coverEachSquare'),
    verb: say('occlusion.covering'),
    unable: () =>
      page.engine.result.logits && !page.engine.saved ? '' : say('ablation.needsModelClassifier'),
    begin: () => cover(page)
  })
