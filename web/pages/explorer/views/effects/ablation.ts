/* What the answer needs of the tokens, beside the attention that they receive: each square of
 * patches is masked as key of every query in all layers, and the model runs again. Its pixels stay;
 * what is taken away is that anything can attend to them. */
import { probabilitiesOf } from '../../model/probabilities.js'
import { unchanged } from '../../../shared/changes.js'
import { patchesOf, squareView } from './square_effects.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page } from '../../types.js'
import type { Removal } from './square_effects.js'

async function mask(page: Page): Promise<Removal> {
  const { engine, picture } = page,
    { columns } = engine.shape,
    shares = (logits: ArrayLike<number>) => Float32Array.from(probabilitiesOf(engine, logits))
  return {
    whole: shares(engine.whole?.logits as ArrayLike<number>),
    without: async (square) =>
      shares(
        (await engine.logits(picture.source, {
          ...unchanged,
          dropped: patchesOf(square, columns)
        })) as ArrayLike<number>
      ),
    end: () => page.run(page.picture)
  }
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
    begin: () => mask(page)
  })
