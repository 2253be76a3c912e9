/* Changes of the attention in words. Most visits have none, so this is fetched with the first. */
import { say } from '../../languages/say.js'
import { titles } from '../../shared/changes.js'

import type { Changes } from '../../shared/types.js'

/** How a head is taken out: what stands in its place. */
export const replacements: Record<string, string> = {
  zero: say('changes.zeros'),
  mean: say('changes.meanOverTokens'),
  uniform: say('changes.equalAttentionAll')
}

/** In words, for titles: "" where nothing is changed. */
export function wordsOfChanges({
  off = [],
  how,
  temperature = 1,
  dropped = [],
  cuts = [],
  gains = []
}: Partial<Changes>) {
  return [
    off.length &&
      say('changes.without', {
        off: off.length > 3 ? say('changes.heads', { off: off.length }) : off.join(', '),
        how: how === 'zero' || !how ? '' : ` (${how})`
      }),
    dropped.length && say('changes.dropped', { count: dropped.length }),
    cuts.length && say('changes.cut', { count: cuts.length }),
    gains.length &&
      (gains.length > 2
        ? say('changes.headsShare', { gains: gains.length })
        : gains
            .map((gain) => gain.replace(/^(\d+\.\d+)\.(\d+)$/, say('changes.head1At2')))
            .join(', ')),
    temperature !== 1 && say('changes.temperature', { temperature })
  ]
    .filter(Boolean)
    .map((text) => `, ${text}`)
    .join('')
}

titles.changes = wordsOfChanges
