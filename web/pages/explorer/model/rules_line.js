/* Which family and rules a model was taken by, in one line as `heed inspect` says it. */
/** @import {ModelInfo} from '../../../src/index.js' */

/** @param {Pick<ModelInfo, 'family' | 'rules' | 'assumed'>} model */
export const rulesOf = ({ family, rules, assumed }) =>
  `${family}: ${rules}.${assumed ? ` Assumed: ${assumed}.` : ''}`
