/* The sorter: a trained causal transformer of two blocks that writes six letters in the order of
 * the alphabet (sorting/README.md). Its weights take two ways: through the runtime, block by block
 * as cases of `heed check`, which is what the page shows; and through the definition in double
 * precision below, which that is compared with. T tokens, C = width, H heads of D = C / H; rows are
 * arrays. */
import { readArrays, safetensorsParts } from '../shared/array_files.js'
import { attend } from '../shared/small_attention.js'
import type { NamedArray, Sorter, SorterHead } from '../shared/types.js'
import type { Runtime } from 'heed'

export const heads = 3,
  given = 6

/** To letters A to Z as numbers from 0. */
export const codesOf = (text: string) => [...text].map((letter) => letter.charCodeAt(0) - 65)
export const lettersOf = (codes: number[]) =>
  codes.map((code) => String.fromCharCode(65 + code)).join('')

/** The weights of a Blob of safetensors: { tensors, layers, width }. */
export async function readSorter(blob: Blob): Promise<Sorter> {
  const tensors = await readArrays(Object.assign(blob, { name: 'model.safetensors' }) as File),
    layers = Object.keys(tensors).filter((name) => name.endsWith('in_proj_weight')).length
  return { tensors, layers, width: tensors['letters.weight'].shape[1] }
}

const lines = ({ shape: [rows, columns], data }: NamedArray) =>
  Array.from({ length: rows }, (_, i) => [...data.subarray(i * columns, (i + 1) * columns)])
const add = (a: number[][], b: number[][]) =>
  a.map((row, i) => row.map((value, d) => value + b[i][d]))

/** Letter and place of each token. */
function embed({ tensors }: Pick<Sorter, 'tensors'>, codes: number[]) {
  const letters = lines(tensors['letters.weight']),
    places = lines(tensors['places.weight'])
  return codes.map((code, i) => letters[code].map((value, d) => value + places[i][d]))
}

/** With PyTorch's names: NAME.weight and NAME.bias, or NAME_weight and NAME_bias. */
const pair = (tensors: Sorter['tensors'], stem: string) =>
  ['weight', 'bias'].map((kind) => tensors[`${stem}.${kind}`] ?? tensors[`${stem}_${kind}`])

function linear(rows: number[][], [weight, bias]: NamedArray[]) {
  const matrix = lines(weight)
  return rows.map((row) =>
    matrix.map((line, o) => line.reduce((sum, entry, i) => sum + entry * row[i], bias.data[o]))
  )
}

function layerNorm(rows: number[][], [{ data: gain }, { data: bias }]: NamedArray[]) {
  return rows.map((row) => {
    const mean = row.reduce((a, b) => a + b) / row.length,
      spread = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length
    return row.map((x, d) => ((x - mean) / Math.sqrt(spread + 1e-5)) * gain[d] + bias[d])
  })
}

/** One head: its columns of query, key and value, and what attention makes of them. */
function headOf(projected: number[][], head: number, width: number) {
  const size = width / heads,
    [query, key, value] = [0, 1, 2].map((part) =>
      projected.map((row) =>
        row.slice(part * width + head * size, part * width + (head + 1) * size)
      )
    )
  return { query, key, ...attend({ query, key, value, may: (i, j) => j <= i }) }
}

function block({ tensors, width }: Sorter, layer: number, x: number[][]) {
  const of = (stem: string) => pair(tensors, `layers.${layer}.${stem}`),
    projected = linear(layerNorm(x, of('norm1')), of('self_attn.in_proj'))
  const parts = Array.from({ length: heads }, (_, head) => headOf(projected, head, width)),
    joined = x.map((_, i) => parts.flatMap(({ output }) => output[i]))
  const mixed = add(x, linear(joined, of('self_attn.out_proj'))),
    hidden = linear(layerNorm(mixed, of('norm2')), of('linear1')).map((row) =>
      row.map((value) => Math.max(0, value))
    )
  return { y: add(mixed, linear(hidden, of('linear2'))), parts }
}

/** In double precision: { heads: [layer][head] = { query, key, scores, weights }, logits: rows
 * }. */
export function reference(sorter: Sorter, codes: number[]) {
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

async function results(
  runtime: Runtime,
  op: string,
  attrs: object,
  tensors: Record<string, NamedArray>
): Promise<Record<string, NamedArray>> {
  const bytes = new Uint8Array(
    await new Blob(safetensorsParts(tensors, { op, attrs: JSON.stringify(attrs) })).arrayBuffer()
  )
  return (await runtime.check(bytes, { results: true })).results as Record<string, NamedArray>
}

/** Through the runtime: { weights: [layer] = tensor [1, H, T, T], logits: tensor [1, T, 26] }. */
export async function runSorter(
  runtime: Runtime,
  { tensors, layers, width }: Sorter,
  codes: number[]
) {
  const weights = [],
    [gain, shift] = pair(tensors, 'norm'),
    [weight, bias] = pair(tensors, 'out')
  let x: NamedArray = {
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

const largest = (row: number[]) => row.indexOf(Math.max(...row))

/** The letters that the model writes after six given ones, each the likeliest; with what the last
 * run gave. */
export async function write(runtime: Runtime, sorter: Sorter, codes: number[]) {
  const tokens = [...codes],
    answer = []
  for (;;) {
    const found = await runSorter(runtime, sorter, tokens),
      count = found.logits.shape.at(-1)
    answer.push(largest([...found.logits.data.subarray(-(count as number))]))
    if (answer.length === given) return { tokens, answer, ...found }
    tokens.push(answer.at(-1) as number)
  }
}

/** The largest difference of a weight between the runtime and double precision. */
export const apart = (
  { weights }: { weights: NamedArray[] },
  { heads: exact }: { heads: SorterHead[][] }
) =>
  Math.max(
    ...weights.flatMap(({ data }, layer) =>
      exact[layer]
        .flatMap((part) => part.weights.flat())
        .map((weight, i) => Math.abs(weight - data[i]))
    )
  )
