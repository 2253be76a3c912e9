/* ONNX files without a library: the few fields of its protocol buffers that the benchmarks' graphs
 * need (opset 17). */

/* Protocol buffers: fields as byte arrays, nested by concatenation. */
const varint = (value) => {
  const bytes = []
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)])
    bytes.push(Number(rest & 127n) | 128)
  }
}
const whole = (field, value) => Buffer.concat([varint(field << 3), varint(value)])
const bytes = (field, value) =>
  Buffer.concat([varint((field << 3) | 2), varint(value.length), value])
const text = (field, value) => bytes(field, Buffer.from(value))
const group = (field, ...parts) => bytes(field, Buffer.concat(parts))
const real = (field, value) => {
  const data = Buffer.alloc(4)
  data.writeFloatLE(value)
  return Buffer.concat([varint((field << 3) | 5), data])
}

function attribute(name, value) {
  if (Array.isArray(value))
    return group(5, text(1, name), ...value.map((v) => whole(8, v)), whole(20, 7))
  if (typeof value === 'string') return group(5, text(1, name), text(4, value), whole(20, 3))
  if (Number.isInteger(value)) return group(5, text(1, name), whole(3, value), whole(20, 2))
  return group(5, text(1, name), real(2, value), whole(20, 1))
}

const types = new Map([
  [Float32Array, 1],
  [Uint8Array, 2],
  [Int8Array, 3],
  [BigInt64Array, 7]
])

/** An ONNX graph under construction: add(op, inputs, attributes) gives the name of the node's
 * output, or the names that were asked for. */
export class Graph {
  nodes = []
  tensors = []
  inputs = []
  add(op, inputs, attributes = {}, output = `${op}_${this.nodes.length}`) {
    const parts = inputs.map((name) => text(1, name))
    this.nodes.push(
      group(
        1,
        ...parts,
        ...[output].flat().map((name) => text(2, name)),
        text(3, [output].flat()[0]),
        text(4, op),
        ...Object.entries(attributes).map(([name, value]) => attribute(name, value))
      )
    )
    return output
  }
  constant(name, shape, data) {
    const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    this.tensors.push(
      group(
        5,
        ...shape.map((d) => whole(1, d)),
        whole(2, types.get(data.constructor)),
        text(8, name),
        bytes(9, raw)
      )
    )
    return name
  }
  scalar(value) {
    return this.constant(`scalar_${this.tensors.length}`, [], Float32Array.of(value))
  }
  shape(...dims) {
    return this.constant(
      `shape_${this.tensors.length}`,
      [dims.length],
      BigInt64Array.from(dims.map(BigInt))
    )
  }
  input(name, shape) {
    this.inputs.push(Graph.info(11, name, shape))
    return name
  }
  /** A size that is text stays open. */
  static info(field, name, shape, type = 1) {
    const sizes = shape.map((size) =>
      group(1, typeof size === 'string' ? text(2, size) : whole(1, size))
    )
    return group(field, text(1, name), group(2, group(1, whole(1, type), group(2, ...sizes))))
  }
  encode(outputs, type = 1) {
    const graph = group(
      7,
      ...this.nodes,
      text(2, 'heed'),
      ...this.tensors,
      ...this.inputs,
      ...Object.entries(outputs).map(([name, shape]) => Graph.info(12, name, shape, type))
    )
    return Buffer.concat([whole(1, 8), group(8, text(1, ''), whole(2, 17)), graph])
  }
}
