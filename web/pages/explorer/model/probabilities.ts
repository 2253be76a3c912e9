/* Classes' probabilities, wherever the page shows some. */
import type { Runner } from '../../shared/model_runner.js'

/** Each class by itself where the graph ends with a sigmoid; else those of all sum to 1. */
export const probabilitiesOf = (
  { explain, model }: Pick<Runner, 'explain' | 'model'>,
  logits: ArrayLike<number>
): number[] =>
  model.eachClass
    ? Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)))
    : Array.from(explain.softmax(logits))
