/* Where numbers are from, in one line. */

import type { Provenance } from '../types.js'

/** In words, for captions and heads of files. */
export function provenanceText({
  heed,
  model,
  layers,
  heads,
  weights_sha256: sums,
  picture,
  settings,
  changes
}: Provenance) {
  const sum = Object.values(sums ?? {})
    .map((text) => text?.slice(0, 16))
    .join('+')
  return `heed ${heed}, ${model} ${layers} x ${heads}${sum ? `, weights sha256 ${sum}` : ''}, ${picture}, ${settings}${changes ? `, changed: ${changes}` : ''}`
}
