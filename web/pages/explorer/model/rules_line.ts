/* Which family and rules a model was taken by, in one line as `heed inspect` says it. */
import type { ModelInfo } from 'heed'

export const rulesOf = ({
  family,
  rules,
  assumed
}: Pick<ModelInfo, 'family' | 'rules' | 'assumed'>) =>
  `${family}: ${rules}.${assumed ? ` Assumed: ${assumed}.` : ''}`
