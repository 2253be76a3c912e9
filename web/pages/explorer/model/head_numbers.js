/* The numbers that heads are sorted and filtered by. */
import { say } from '../../languages/say.js'

/** @import {HeadEntry, PageStatistics} from '../../../types/pages.js' */

/**
 * By the name that a filter and a link use: the key in the runtime's statistics, a sentence,
 * decimals.
 * @type {Record<string, [key: keyof PageStatistics, sentence: string, decimals: number]>}
 */
export const numbersOfHeads = {
  entropy: ['entropyPatches', say('headFinder.entropyPatchQueriesNats'), 3],
  distance: ['distance', say('headFinder.meanAttentionDistancePixels'), 1],
  'distance-patches': ['distanceRenormalised', say('headFinder.meanDistanceOverPatches'), 1],
  cls: ['prefixMass', say('headFinder.weightClsRegisters'), 3],
  self: ['selfMass', say('headFinder.weightItself'), 3],
  top5: ['top5Mass', say('headFinder.sumFiveLargestWeights'), 3],
  'cls-entropy': ['entropyCls', say('headFinder.entropyClsNats'), 3]
}

/**
 * @param {HeadEntry} entry
 * @param {string} name
 * @returns {number}
 */
export const numberOf = (entry, name) => entry[numbersOfHeads[name]?.[0] ?? name]
