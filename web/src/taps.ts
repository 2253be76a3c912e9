/* The names of values that a session keeps, as heed_tap_name has them. */
import { argument } from './options.js'

/** Behind "layer.3." where they begin with a dot. */
const names: Record<string, string> = {
  query: '.query',
  key: '.key',
  value: '.value',
  weights: '.attention.weights',
  scores: '.attention.logits',
  heads: '.attention.output',
  output: '.output',
  embeddings: 'embeddings',
  poolQuery: 'pool.query',
  poolKey: 'pool.key',
  poolValue: 'pool.value',
  poolWeights: 'pool.attention.weights',
  poolScores: 'pool.attention.logits',
  poolHeads: 'pool.attention.output'
}

function nameOf(tap: string, layer?: number) {
  const name = names[argument('tapName', 'the value', tap, Object.keys(names).join('|'))]
  return name[0] === '.' ? `layer.${argument('tapName', 'layer', layer, 'Count')}${name}` : name
}
export const tapName = nameOf as typeof import('heed').tapName
