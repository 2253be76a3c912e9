/* What the answer loses without each head: the model runs once more for each, with that head's output
 * set to zero, in a session beside the page's own. */
import { probabilitiesOf } from '../model/probabilities.js'
import type { Session } from 'heed'
import type { Page } from '../types.js'

/* Parameters of all runs together: what is more is begun by a press. */
const atOnce = 1e8

/** Whether taking out each head takes a moment. */
export const isQuick = ({ engine: { model, shape } }: Page) =>
  (model.parameters || atOnce) * shape.layers * shape.heads < atOnce

export interface Effects {
  /** Of the class whose share is measured. */
  best: number
  whole: number
  /** The class's share without a head, [layers * heads]; NaN: not measured yet. */
  shares: Float32Array
  done: number
}

/** Why heads cannot be taken out one by one; '' where they can. */
export const canMeasure = ({ engine }: Page) => Boolean(engine.canChange && engine.result?.logits)

/**
 * @param onStep after each head
 * @param stop ends it between two runs
 */
export async function measureHeads(
  page: Page,
  onStep: (effects: Effects) => void,
  stop: AbortSignal
): Promise<void> {
  const { engine, picture } = page,
    { layers, heads } = engine.shape,
    { fit } = engine.result,
    [height, width] = engine.size ?? [],
    session: Session = engine.opened.createSession({
      taps: 'none',
      intervene: {},
      ...(engine.size && { height, width })
    }),
    shares = async () =>
      probabilitiesOf(engine, (await session.run(picture.source, { fit })).logits as Float32Array)
  try {
    const all = await shares(),
      best = all.indexOf(Math.max(...all)),
      effects: Effects = {
        best,
        whole: all[best],
        shares: new Float32Array(layers * heads).fill(Number.NaN),
        done: 0
      }
    for (let layer = layers - 1; layer >= 0; layer--) {
      const name = `layer.${layer}.attention.gain`,
        gain = new Float32Array(heads).fill(1)
      for (let head = 0; head < heads; head++) {
        if (stop.aborted) return
        await session.write(
          name,
          Float32Array.from(gain, (one, i) => (i === head ? 0 : one))
        )
        effects.shares[layer * heads + head] = (await shares())[best]
        effects.done++
        if (!stop.aborted) onStep(effects)
      }
      await session.write(name, gain)
    }
  } finally {
    session.close()
  }
}
