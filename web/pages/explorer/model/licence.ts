/* The licence of a model that is open. Loaded with the first model of one's own. */
import { say } from '../../languages/say.js'
import { licenceOf } from './licence_words.js'
import { filesOf } from '../../shared/weight_hashes.js'
import type { PageSource } from '../../shared/types.js'

/** The licence in words. */
export function readLicence(source: PageSource) {
  const files = filesOf(source)
  return licenceOf(
    files.map(([name]) => name),
    async (name) => (await files.find(([found]) => found === name)?.[1].text()) ?? '',
    { file: say('origin.licenceFile'), none: say('origin.licenceNone') }
  )
}
