/* A model without some of its heads: the columns of a layer's output projection that a head's output goes through are set to zero in the
 * weights, so that the head adds nothing; biases stay. Works on HF and timm names, with weights of 2 or 4 bytes. */
import { readSafetensorsHeader } from './arrays.js'

const names = [/(?:^|\.)layers?\.(\d+)\.attention\.(?:output\.dense|o_proj)\.weight$/, /(?:^|\.)blocks\.(\d+)\.attn\.proj\.weight$/]
const bytesOf = { F32: 4, F16: 2, BF16: 2 }

/* The file of weights in a model's source, and the source with another in its place. */
async function weightsOf(source) {
  if (Array.isArray(source)) {
    const file = source.find(({ name }) => name.endsWith('.safetensors'))
    return { file, replace: (made) => source.map((entry) => (entry === file ? made : entry)) }
  }
  const file = new File([await (await fetch(source.weights)).blob()], 'model.safetensors')
  return { file, replace: (made) => ({ ...source, weights: made }) }
}

/** off: [{ layer, head }]. Resolves to a source for loadModel. */
export async function withoutHeads(source, off, heads) {
  const { file, replace } = await weightsOf(source), { header, start } = await readSafetensorsHeader(file), bytes = new Uint8Array(await file.arrayBuffer())
  for (const { layer, head } of off) {
    const found = Object.entries(header).find(([name]) => names.some((form) => Number(form.exec(name)?.[1] ?? -1) === layer))
    const [, { dtype, shape: [rows, columns], data_offsets: [from] }] = found ?? [null, { shape: [] }]
    if (!bytesOf[dtype] || columns % heads) throw new Error(`Layer ${layer}: this file’s output projection cannot be changed here (expected F32, F16 or BF16 under a known name).`)
    const width = (columns / heads) * bytesOf[dtype]
    for (let row = 0; row < rows; row++) bytes.fill(0, start + from + row * columns * bytesOf[dtype] + head * width, start + from + row * columns * bytesOf[dtype] + (head + 1) * width)
  }
  return replace(new File([bytes], file.name))
}
