/* What the answer needs of the tokens, beside the attention that they receive: each square of
 * patches is masked as key of every query in all layers, and the model runs again. Its pixels stay;
 * what is taken away is that anything can attend to them. */
import { probabilitiesOf } from '../model/probabilities.js'
import { unchanged } from '../state/changes.js'
import { patchesOf, squareView } from './square_effects.js'
import { say } from '../../languages/say.js'
/** @import {MakeView, Page} from '../../../types/pages.js' */
/** @import {Removal} from './square_effects.js' */

/**
 * @param {Page} page
 * @returns {Promise<Removal>}
 */
async function mask(page) {
  const { engine, picture } = page,
    { columns } = engine.shape,
    shares = (/** @type {ArrayLike<number>} */ logits) =>
      Float32Array.from(probabilitiesOf(engine, logits))
  return {
    whole: shares(/** @type {ArrayLike<number>} */ (engine.whole?.logits)),
    without: async (square) =>
      shares(
        /** @type {ArrayLike<number>} */ (
          await engine.logits(picture.source, {
            ...unchanged,
            dropped: patchesOf(square, columns)
          })
        )
      ),
    end: () => page.run(page.picture)
  }
}

/** @type {MakeView} */
export const view = (page, element, { left }) =>
  squareView(page, element, left, {
    about: say('ablation.eachSquarePatchesMasked'),
    press: say('ablation.maskEachSquare'),
    verb: 'Masking',
    unable() {
      if (!page.engine.canChange) return say('ablation.needsModelSmallEnough')
      return page.engine.result.logits ? '' : say('ablation.needsModelClassifier')
    },
    begin: () => mask(page)
  })
