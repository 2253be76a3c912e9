/* The numbers that heads are sorted and filtered by. */
import { say } from '../../languages/say.js'

import type { HeadEntry } from '../types.js'
import type { PageStatistics } from '../../shared/types.js'

/** By the name that a filter and a link use: the key in the runtime's statistics, a sentence,
 * decimals. */
export const numbersOfHeads: Record<
  string,
  [key: keyof PageStatistics, sentence: string, decimals: number]
> = {
  entropy: ['entropyPatches', say('headFinder.entropyPatchQueriesNats'), 3],
  distance: ['distance', say('headFinder.meanAttentionDistancePixels'), 1],
  'distance-patches': ['distanceRenormalised', say('headFinder.meanDistanceOverPatches'), 1],
  cls: ['prefixMass', say('headFinder.weightClsRegisters'), 3],
  self: ['selfMass', say('headFinder.weightItself'), 3],
  top5: ['top5Mass', say('headFinder.sumFiveLargestWeights'), 3],
  'cls-entropy': ['entropyCls', say('headFinder.entropyClsNats'), 3]
}

export const numberOf = (entry: HeadEntry, name: string): number =>
  entry[numbersOfHeads[name]?.[0] ?? name]
