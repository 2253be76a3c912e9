/* A model some of whose heads give a share of what they gave: in the projection that the heads' outputs go through, W [C, C] with a row for
 * each number that comes out, the columns of a head are multiplied by its gain. */
import { readSafetensorsHeader } from './arrays.js'
import { types, weightsOf } from './rounded.js'

/** gains: "layer.head.percent"; tensors: as model.tensors() found them; shape: { heads }. Resolves to a source for loadModel. */
export async function scaledSource(source, gains, tensors, { heads }) {
  const { file, replace } = await weightsOf(source), { header, start } = await readSafetensorsHeader(file), bytes = await file.arrayBuffer(), view = new DataView(bytes)
  for (const gain of gains) {
    const [layer, head, percent] = gain.split('.').map(Number), tensor = tensors.find(({ role }) => role === `encoder.layer.${layer}.attention.output.dense.weight`)
    if (!tensor) throw new Error(`Layer ${layer} has no projection of its heads in this file, so that gains of heads cannot be set.`)
    const { dtype, shape: [rows, columns], data_offsets: [from] } = header[tensor.name], { size, read, write } = types[dtype], depth = columns / heads
    for (let row = 0; row < rows; row++)
      for (let i = head * depth; i < (head + 1) * depth; i++) {
        const at = start + from + (row * columns + i) * size
        write(view, at, (read(view, at) * percent) / 100)
      }
  }
  return replace(new File([bytes], file.name))
}
