/* Classes' probabilities, wherever the page shows some. */
/** @import {Runner} from '../../../types/pages.js' */

/**
 * Each class by itself where the graph ends with a sigmoid; else those of all sum to 1.
 * @param {Pick<Runner, 'explain' | 'model'>} engine
 * @param {ArrayLike<number>} logits
 * @returns {number[]}
 */
export const probabilitiesOf = ({ explain, model }, logits) =>
  model.eachClass
    ? Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)))
    : Array.from(explain.softmax(logits))
