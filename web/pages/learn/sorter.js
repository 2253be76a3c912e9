/* The sorter: a trained causal transformer of two blocks that writes six letters in the order of
 * the alphabet (sorting/README.md). Its weights take two ways: through the runtime, block by block
 * as cases of `heed check`, which is what the page shows; and through the definition in double
 * precision below, which that is compared with. T tokens, C = width, H heads of D = C / H; rows are
 * arrays. */
import { readArrays, safetensorsParts } from '../shared/array_files.js'
import { attend } from '../shared/small_attention.js'
/** @import {NamedArray, Sorter, SorterHead} from '../../types/pages.js' */
/** @import {Runtime} from '../../src/index.js' */

export const heads = 3,
  given = 6

/**
 * To letters A to Z as numbers from 0.
 * @param {string} text
 */
export const codesOf = (text) => [...text].map((letter) => letter.charCodeAt(0) - 65)
/** @param {number[]} codes */
export const lettersOf = (codes) => codes.map((code) => String.fromCharCode(65 + code)).join('')

/**
 * The weights of a Blob of safetensors: { tensors, layers, width }.
 * @param {Blob} blob
 * @returns {Promise<Sorter>}
 */
export async function readSorter(blob) {
  const tensors = await readArrays(
      /** @type {File} */ (Object.assign(blob, { name: 'model.safetensors' }))
    ),
    layers = Object.keys(tensors).filter((name) => name.endsWith('in_proj_weight')).length
  return { tensors, layers, width: tensors['letters.weight'].shape[1] }
}

/** @param {NamedArray} tensor */
const lines = ({ shape: [rows, columns], data }) =>
  Array.from({ length: rows }, (_, i) => [...data.subarray(i * columns, (i + 1) * columns)])
/**
 * @param {number[][]} a
 * @param {number[][]} b
 */
const add = (a, b) => a.map((row, i) => row.map((value, d) => value + b[i][d]))

/**
 * Letter and place of each token.
 * @param {Pick<Sorter, 'tensors'>} sorter
 * @param {number[]} codes
 */
function embed({ tensors }, codes) {
  const letters = lines(tensors['letters.weight']),
    places = lines(tensors['places.weight'])
  return codes.map((code, i) => letters[code].map((value, d) => value + places[i][d]))
}

/**
 * With PyTorch's names: NAME.weight and NAME.bias, or NAME_weight and NAME_bias.
 * @param {Sorter['tensors']} tensors
 * @param {string} stem
 */
const pair = (tensors, stem) =>
  ['weight', 'bias'].map((kind) => tensors[`${stem}.${kind}`] ?? tensors[`${stem}_${kind}`])

/**
 * @param {number[][]} rows
 * @param {NamedArray[]} layer
 */
function linear(rows, [weight, bias]) {
  const matrix = lines(weight)
  return rows.map((row) =>
    matrix.map((line, o) => line.reduce((sum, entry, i) => sum + entry * row[i], bias.data[o]))
  )
}

/**
 * @param {number[][]} rows
 * @param {NamedArray[]} layer
 */
function layerNorm(rows, [{ data: gain }, { data: bias }]) {
  return rows.map((row) => {
    const mean = row.reduce((a, b) => a + b) / row.length,
      spread = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length
    return row.map((x, d) => ((x - mean) / Math.sqrt(spread + 1e-5)) * gain[d] + bias[d])
  })
}

/**
 * One head: its columns of query, key and value, and what attention makes of them.
 * @param {number[][]} projected
 * @param {number} head
 * @param {number} width
 */
function headOf(projected, head, width) {
  const size = width / heads,
    [query, key, value] = [0, 1, 2].map((part) =>
      projected.map((row) =>
        row.slice(part * width + head * size, part * width + (head + 1) * size)
      )
    )
  return { query, key, ...attend({ query, key, value, may: (i, j) => j <= i }) }
}

/**
 * @param {Sorter} sorter
 * @param {number} layer
 * @param {number[][]} x
 */
function block({ tensors, width }, layer, x) {
  const of = (/** @type {string} */ stem) => pair(tensors, `layers.${layer}.${stem}`),
    projected = linear(layerNorm(x, of('norm1')), of('self_attn.in_proj'))
  const parts = Array.from({ length: heads }, (_, head) => headOf(projected, head, width)),
    joined = x.map((_, i) => parts.flatMap(({ output }) => output[i]))
  const mixed = add(x, linear(joined, of('self_attn.out_proj'))),
    hidden = linear(layerNorm(mixed, of('norm2')), of('linear1')).map((row) =>
      row.map((value) => Math.max(0, value))
    )
  return { y: add(mixed, linear(hidden, of('linear2'))), parts }
}

/**
 * In double precision: { heads: [layer][head] = { query, key, scores, weights }, logits: rows
 * }.
 * @param {Sorter} sorter
 * @param {number[]} codes
 */
export function reference(sorter, codes) {
  const found = []
  let x = embed(sorter, codes)
  for (let layer = 0; layer < sorter.layers; layer++) {
    const { y, parts } = block(sorter, layer, x)
    found.push(parts)
    x = y
  }
  return {
    heads: found,
    logits: linear(layerNorm(x, pair(sorter.tensors, 'norm')), pair(sorter.tensors, 'out'))
  }
}

/**
 * @param {Runtime} runtime
 * @param {string} op
 * @param {object} attrs
 * @param {Record<string, NamedArray>} tensors
 * @returns {Promise<Record<string, NamedArray>>}
 */
async function results(runtime, op, attrs, tensors) {
  const bytes = new Uint8Array(
    await new Blob(safetensorsParts(tensors, { op, attrs: JSON.stringify(attrs) })).arrayBuffer()
  )
  return /** @type {Record<string, NamedArray>} */ (
    (await runtime.check(bytes, { results: true })).results
  )
}

/**
 * Through the runtime: { weights: [layer] = tensor [1, H, T, T], logits: tensor [1, T, 26] }.
 * @param {Runtime} runtime
 * @param {Sorter} sorter
 * @param {number[]} codes
 */
export async function runSorter(runtime, { tensors, layers, width }, codes) {
  const weights = [],
    [gain, shift] = pair(tensors, 'norm'),
    [weight, bias] = pair(tensors, 'out')
  /** @type {NamedArray} */
  let x = {
    shape: [1, codes.length, width],
    data: Float32Array.from(embed({ tensors }, codes).flat())
  }
  for (let layer = 0; layer < layers; layer++) {
    const stem = `layers.${layer}.`,
      own = Object.entries(tensors)
        .filter(([name]) => name.startsWith(stem))
        .map(([name, tensor]) => [name.slice(stem.length), tensor])
    const { y, self_weights: found } = await results(
      runtime,
      'encoder_block',
      { heads, norm: 'pre', causal: true, activation: 'relu' },
      { x, ...Object.fromEntries(own) }
    )
    weights.push(found)
    x = y
  }
  const { y } = await results(runtime, 'layer_norm', { epsilon: 1e-5 }, { x, gain, bias: shift })
  return { weights, logits: (await results(runtime, 'linear', {}, { x: y, weight, bias })).y }
}

/** @param {number[]} row */
const largest = (row) => row.indexOf(Math.max(...row))

/**
 * The letters that the model writes after six given ones, each the likeliest; with what the last
 * run gave.
 * @param {Runtime} runtime
 * @param {Sorter} sorter
 * @param {number[]} codes
 */
export async function write(runtime, sorter, codes) {
  const tokens = [...codes],
    answer = []
  for (;;) {
    const found = await runSorter(runtime, sorter, tokens),
      count = found.logits.shape.at(-1)
    answer.push(largest([...found.logits.data.subarray(-(/** @type {number} */ (count)))]))
    if (answer.length === given) return { tokens, answer, ...found }
    tokens.push(/** @type {number} */ (answer.at(-1)))
  }
}

/**
 * The largest difference of a weight between the runtime and double precision.
 * @param {{weights: NamedArray[]}} written
 * @param {{heads: SorterHead[][]}} exact
 */
export const apart = ({ weights }, { heads: exact }) =>
  Math.max(
    ...weights.flatMap(({ data }, layer) =>
      exact[layer]
        .flatMap((part) => part.weights.flat())
        .map((weight, i) => Math.abs(weight - data[i]))
    )
  )
