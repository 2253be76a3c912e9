/* What the answer needs of the picture, beside what the model attends to: each square is covered
 * with the picture's mean colour, and the model runs again (Zeiler and Fergus 2014, section 4.2), as
 * session.explain computes it. The model is the whole one: changes of its attention do not count
 * here. */
import { explainerOf, numbersOf } from '../../model/explainer.js'
import { probabilitiesOf } from '../../model/probabilities.js'
import { squareView } from './square_effects.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page } from '../../types.js'
import type { LossesOf } from './square_effects.js'

const cover =
  (page: Page): LossesOf =>
  async (square, onStep, signal) => {
    const { engine } = page,
      { session, result } = await explainerOf(page).own(),
      whole = probabilitiesOf(engine, result.logits as ArrayLike<number>),
      best = whole.indexOf(Math.max(...whole)),
      found = await session.explain({
        methods: ['occlusion'],
        target: best,
        square,
        signal,
        onProgress: ({ phase, done, total }) => phase === 'run' && onStep(done, total)
      }),
      /* Where each class has a sigmoid, its logit alone says its probability. */
      shares = engine.model.eachClass
        ? probabilitiesOf(engine, numbersOf(found, 'occlusion'))
        : numbersOf(found, 'occlusion.probability')
    return {
      drops: Float32Array.from(shares, (share) => whole[best] - share),
      best,
      share: whole[best]
    }
  }

export const view: MakeView = (page, element, { left }) =>
  squareView(page, element, left, {
    about: say('occlusion.eachSquareImageCovered'),
    press: say('occlusion.coverEachSquare'),
    verb: say('occlusion.covering'),
    unable: () =>
      page.engine.result.logits && !page.engine.only ? '' : say('ablation.needsModelClassifier'),
    lossesOf: cover(page)
  })
