/* What the answer needs of the tokens, beside the attention that they receive: each square of
 * patches is masked as key of every query in all layers, and the model runs again. Its pixels stay;
 * what is taken away is that anything can attend to them. */
import { probabilitiesOf } from '../../model/probabilities.js'
import { unchanged } from '../../../shared/changes.js'
import { patchesOf, squaresOf, squareView } from './square_effects.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page } from '../../types.js'
import type { LossesOf } from './square_effects.js'

/** One run a square. The page's own run is made again at the end. */
const mask =
  (page: Page): LossesOf =>
  async (side, onStep, stop) => {
    const { engine, picture } = page,
      { rows, columns } = engine.shape,
      whole = probabilitiesOf(engine, engine.whole?.logits as ArrayLike<number>),
      best = whole.indexOf(Math.max(...whole)),
      drops = new Float32Array(rows * columns),
      squares = squaresOf(rows, columns, side)
    try {
      for (const [i, square] of squares.entries()) {
        onStep(i + 1, squares.length)
        stop.throwIfAborted()
        const dropped = patchesOf(square, columns),
          logits = await engine.logits(picture.source, { ...unchanged, dropped }),
          share = probabilitiesOf(engine, logits as ArrayLike<number>)[best]
        for (const patch of dropped) drops[patch] = whole[best] - share
      }
    } finally {
      await page.run(page.picture)
    }
    return { drops, best, share: whole[best] }
  }

export const view: MakeView = (page, element, { left }) =>
  squareView(page, element, left, {
    about: say('ablation.eachSquarePatchesMasked'),
    press: say('ablation.maskEachSquare'),
    verb: 'Masking',
    unable() {
      if (!page.engine.canChange) return say('ablation.needsModelSmallEnough')
      return page.engine.result.logits ? '' : say('ablation.needsModelClassifier')
    },
    lossesOf: mask(page)
  })
