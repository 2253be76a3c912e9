/* Which family and rules a model was taken by, in one line as `heed inspect` says it; of a classifier only
 * where there is one. */
import type { ModelInfo } from 'heed'

export const rulesOf = ({
  family,
  rules,
  assumed,
  labels
}: Pick<ModelInfo, 'family' | 'rules' | 'assumed' | 'labels'>) =>
  `${family}: ${labels.length ? rules : rules.replace(/^classifier on [^,]+, /, '')}.${assumed ? ` Assumed: ${assumed}.` : ''}`
