/* Two models of one shape on one picture: differences of logits and of every head's map, by the
 * definitions of `heed compare` (native/cli/compare.c). Loaded with the first comparison. */
import { html } from 'lit-html'
import { significant } from '../../plot/parts/numbers.js'
import { say } from '../../languages/say.js'
import type { Runner } from '../../shared/model_runner.js'

/** `largest` and `mean` of a weight's difference; divergence of rows in bits, mean and largest */
export type HeadDifference = {
  layer: number
  head: number
  largest: number
  mean: number
  divergence: number
  largestDivergence: number
}
export type ModelDifference = {
  heads: HeadDifference[]
  logits: { largest: number; mean: number; agreed: boolean } | null
}

/** Jensen and Shannon's, in bits, of two rows that each sum to 1. */
function divergenceOf(a: Float32Array, b: Float32Array, from: number, end: number) {
  let sum = 0
  for (let i = from; i < end; i++) {
    const middle = 0.5 * (a[i] + b[i])
    if (a[i] > 0) sum += 0.5 * a[i] * Math.log2(a[i] / middle)
    if (b[i] > 0) sum += 0.5 * b[i] * Math.log2(b[i] / middle)
  }
  return Math.max(0, sum)
}

/** @param a [tokens, tokens] */
export function mapDifference(a: Float32Array, b: Float32Array, tokens: number) {
  let largest = 0,
    sum = 0,
    divergence = 0,
    largestDivergence = 0
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i] - b[i])
    sum += difference
    largest = Math.max(largest, difference)
  }
  for (let row = 0; row < tokens; row++) {
    const found = divergenceOf(a, b, row * tokens, (row + 1) * tokens)
    divergence += found
    largestDivergence = Math.max(largestDivergence, found)
  }
  return { largest, mean: sum / a.length, divergence: divergence / tokens, largestDivergence }
}

const topOf = (values: ArrayLike<number>) =>
  Array.from(values).reduce((best, value, i) => (value > values[best] ? i : best), 0)

function logitDifference(a: ArrayLike<number> | null, b: ArrayLike<number> | null) {
  if (!a || !b) return null
  const apart = Array.from(a, (value, i) => Math.abs(value - b[i]))
  return {
    largest: Math.max(...apart),
    mean: apart.reduce((x, y) => x + y, 0) / apart.length,
    agreed: topOf(a) === topOf(b)
  }
}

/** Whether two models can be compared: the sentence that says why not, or nothing. */
export function whyNot(a: Runner, b: Runner) {
  const said = ({ model, shape }: Runner) =>
    say('modelDifference.layersHeadsPxPatches', {
      layers: model.layers,
      heads: model.heads,
      imageSize: [...new Set([shape.rows, shape.columns])]
        .map((side) => side * model.patch)
        .join(' × '),
      patch: model.patch,
      classes: model.classes
    })
  return said(a) === said(b)
    ? undefined
    : say('modelDifference.otherShape', { found: said(b), expected: said(a) })
}

/** Of the last runs of both, which were of one picture. null where another run came meanwhile. */
export async function modelDifference(a: Runner, b: Runner): Promise<ModelDifference | null> {
  const of = [a.result, b.result],
    { layers, heads, tokens } = a.shape,
    found = []
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const maps = await Promise.all([a.matrix(layer, head), b.matrix(layer, head)])
      if (a.result !== of[0] || b.result !== of[1]) return null
      found.push({ layer, head, ...mapDifference(maps[0], maps[1], tokens) })
    }
  return { heads: found, logits: logitDifference(of[0].logits, of[1].logits) }
}

const digits = (value: number) => (value === 0 ? '0' : significant(value, 3))

/** What follows the facts of one row. */
export function differenceTable({ heads, logits }: ModelDifference) {
  const largest = heads.reduce((most, { largest }) => Math.max(most, largest), 0),
    mean = heads.reduce((sum, { divergence }) => sum + divergence, 0) / heads.length,
    facts = [
      ...(logits
        ? [
            [say('modelDifference.logitsLargestDifference'), digits(logits.largest)],
            [say('modelDifference.logitsMeanDifference'), digits(logits.mean)],
            [say('modelDifference.sameFirstClass'), logits.agreed ? 'yes' : 'no']
          ]
        : []),
      [say('modelDifference.mapsLargestDifferenceWeight'), digits(largest)],
      [
        say('modelDifference.mapsMeanDivergence'),
        say('modelDifference.bits', { mean: digits(mean) })
      ]
    ]
  const line = (head: HeadDifference) =>
    html`<tr><th scope="row">${head.layer}.${head.head}</th>${[head.largest, head.mean, head.divergence, head.largestDivergence].map((value) => html`<td>${digits(value)}</td>`)}</tr>`
  return html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<div class="scroll" tabindex="0" role="region" aria-label=${say('modelDifference.differencesEveryHead')}><table><caption>${say('modelDifference.everyHeadBPicture')} <code>heed compare</code></caption><thead><tr><th scope="col">${say('modelDifference.head')}</th><th scope="col">${say('modelDifference.largest')}</th><th scope="col">${say('modelDifference.mean')}</th><th scope="col">${say('modelDifference.jsMeanBits')}</th><th scope="col">${say('modelDifference.jsLargest')}</th></tr></thead><tbody>${heads.map(line)}</tbody></table></div>`
}
