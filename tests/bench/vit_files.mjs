/* Writes ViTs with seeded weights twice, as heed reads them and as ONNX, and the bare operators as
 * ONNX: what the benchmarks compare on.
 *   node vit_files.mjs FOLDER [ti,s,b]
 * FOLDER/vit_ti/{config.json,model.safetensors} (Hugging Face names), FOLDER/vit_ti.onnx (opset 17,
 * nodes as PyTorch exports them), FOLDER/attention_<heads>x<tokens>x<depth>.onnx,
 * FOLDER/linear_<rows>x<depth>x<columns>.onnx. Nothing is written anew that is there. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const sizes = {
  ti: [192, 3],
  s: [384, 6],
  b: [768, 12]
} /* width, heads; 12 layers, patches of 16 in 224 */
export const attentions = [
  [12, 197, 64],
  [12, 1024, 64]
]
export const linears = [[197, 768, 3072]]
const layers = 12,
  patch = 16,
  tokens = 197,
  classes = 1000,
  epsilon = 1e-12

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
  if (Number.isInteger(value)) return group(5, text(1, name), whole(3, value), whole(20, 2))
  return group(5, text(1, name), real(2, value), whole(20, 1))
}

/** An ONNX graph under construction: add(op, inputs, attributes) gives the name of the node's
 * output. */
class Graph {
  nodes = []
  tensors = []
  inputs = []
  add(op, inputs, attributes = {}, output = `${op}_${this.nodes.length}`) {
    const parts = inputs.map((name) => text(1, name))
    this.nodes.push(
      group(
        1,
        ...parts,
        text(2, output),
        text(3, output),
        text(4, op),
        ...Object.entries(attributes).map(([name, value]) => attribute(name, value))
      )
    )
    return output
  }
  constant(name, shape, data) {
    const type = data instanceof BigInt64Array ? 7 : 1
    const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    this.tensors.push(
      group(5, ...shape.map((d) => whole(1, d)), whole(2, type), text(8, name), bytes(9, raw))
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
  static info(field, name, shape) {
    return group(
      field,
      text(1, name),
      group(2, group(1, whole(1, 1), group(2, ...shape.map((d) => group(1, whole(1, d))))))
    )
  }
  encode(outputs) {
    const graph = group(
      7,
      ...this.nodes,
      text(2, 'heed'),
      ...this.tensors,
      ...this.inputs,
      ...Object.entries(outputs).map(([name, shape]) => Graph.info(12, name, shape))
    )
    return Buffer.concat([whole(1, 8), group(8, text(1, ''), whole(2, 17)), graph])
  }
}

/** Weights by name: [shape, values], roughly normal and small, so that activations stay of ordinary
 * size through the layers. */
function weights(width) {
  let state = 1
  const random = (count, spread) =>
    Float32Array.from({ length: count }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return ((state >>> 8) / 8388608 - 1) * spread
    })
  const table = {}
  const put = (name, shape, spread, around = 0) => {
    const values = random(
      shape.reduce((a, b) => a * b),
      spread
    )
    table[name] = [shape, around ? values.map((v) => v + around) : values]
  }
  const linear = (name, rows, depth) => {
    put(`${name}.weight`, [rows, depth], 1 / Math.sqrt(depth))
    put(`${name}.bias`, [rows], 0.02)
  }
  const norm = (name) => {
    put(`${name}.weight`, [width], 0.1, 1)
    put(`${name}.bias`, [width], 0.02)
  }
  put('vit.embeddings.cls_token', [1, 1, width], 0.1)
  put('vit.embeddings.position_embeddings', [1, tokens, width], 0.1)
  put(
    'vit.embeddings.patch_embeddings.projection.weight',
    [width, 3, patch, patch],
    1 / Math.sqrt(3 * patch * patch)
  )
  put('vit.embeddings.patch_embeddings.projection.bias', [width], 0.02)
  for (let i = 0; i < layers; i++) {
    const layer = `vit.encoder.layer.${i}`
    for (const part of ['query', 'key', 'value'])
      linear(`${layer}.attention.attention.${part}`, width, width)
    linear(`${layer}.attention.output.dense`, width, width)
    linear(`${layer}.intermediate.dense`, 4 * width, width)
    linear(`${layer}.output.dense`, width, 4 * width)
    norm(`${layer}.layernorm_before`)
    norm(`${layer}.layernorm_after`)
  }
  norm('vit.layernorm')
  linear('classifier', classes, width)
  return table
}

function transposed([[rows, columns], from]) {
  const to = new Float32Array(from.length)
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) to[j * rows + i] = from[i * columns + j]
  return to
}

/* CLS and the patches of the picture, with their positions. */
function embedded(g, plain, width) {
  const projection = 'vit.embeddings.patch_embeddings.projection'
  const patches = g.add(
    'Conv',
    [
      g.input('pixel_values', [1, 3, 224, 224]),
      plain(`${projection}.weight`),
      plain(`${projection}.bias`)
    ],
    { kernel_shape: [patch, patch], strides: [patch, patch] }
  )
  const x = g.add('Transpose', [g.add('Reshape', [patches, g.shape(1, width, tokens - 1)])], {
    perm: [0, 2, 1]
  })
  return g.add('Add', [
    g.add('Concat', [plain('vit.embeddings.cls_token'), x], { axis: 1 }),
    plain('vit.embeddings.position_embeddings')
  ])
}

/* With maps every layer's attention weights are outputs too. */
function vitGraph(table, width, heads, maps) {
  const g = new Graph(),
    outputs = { logits: [1, classes] }
  const plain = (name) => g.constant(name, ...table[name])
  const linear = (x, name) => {
    const weight = g.constant(
      `${name}.weight`,
      [...table[`${name}.weight`][0]].reverse(),
      transposed(table[`${name}.weight`])
    )
    return g.add('Add', [plain(`${name}.bias`), g.add('MatMul', [x, weight])])
  }
  const norm = (x, name) =>
    g.add('LayerNormalization', [x, plain(`${name}.weight`), plain(`${name}.bias`)], {
      axis: -1,
      epsilon
    })
  const split = (x, perm) =>
    g.add('Transpose', [g.add('Reshape', [x, g.shape(1, tokens, heads, width / heads)])], { perm })
  const gelu = (x) => {
    const erf = g.add('Erf', [g.add('Div', [x, g.scalar(Math.SQRT2)])])
    return g.add('Mul', [g.add('Mul', [x, g.add('Add', [erf, g.scalar(1)])]), g.scalar(0.5)])
  }
  let x = embedded(g, plain, width)
  for (let i = 0; i < layers; i++) {
    const layer = `vit.encoder.layer.${i}`,
      normed = norm(x, `${layer}.layernorm_before`)
    const q = split(linear(normed, `${layer}.attention.attention.query`), [0, 2, 1, 3])
    const k = split(linear(normed, `${layer}.attention.attention.key`), [0, 2, 3, 1])
    const v = split(linear(normed, `${layer}.attention.attention.value`), [0, 2, 1, 3])
    const scores = g.add('Div', [g.add('MatMul', [q, k]), g.scalar(Math.sqrt(width / heads))])
    const map = g.add('Softmax', [scores], { axis: -1 }, `attention_${i}`)
    if (maps) outputs[map] = [1, heads, tokens, tokens]
    const mixed = g.add('Transpose', [g.add('MatMul', [map, v])], { perm: [0, 2, 1, 3] })
    const merged = g.add('Reshape', [mixed, g.shape(1, tokens, width)])
    x = g.add('Add', [linear(merged, `${layer}.attention.output.dense`), x])
    x = g.add('Add', [
      linear(
        gelu(linear(norm(x, `${layer}.layernorm_after`), `${layer}.intermediate.dense`)),
        `${layer}.output.dense`
      ),
      x
    ])
  }
  const first = g.add(
    'Gather',
    [norm(x, 'vit.layernorm'), g.constant('first', [], BigInt64Array.of(0n))],
    { axis: 1 }
  )
  const weight = g.constant(
    'classifier.weight',
    [width, classes],
    transposed(table['classifier.weight'])
  )
  g.add('Gemm', [first, weight, plain('classifier.bias')], {}, 'logits')
  return g.encode(outputs)
}

function attentionGraph([heads, count, depth]) {
  const g = new Graph(),
    shape = [1, heads, count, depth]
  const [q, k, v] = ['q', 'k', 'v'].map((name) => g.input(name, shape))
  const scores = g.add('Mul', [
    g.add('MatMul', [q, g.add('Transpose', [k], { perm: [0, 1, 3, 2] })]),
    g.scalar(1 / Math.sqrt(depth))
  ])
  return g.encode({
    [g.add('MatMul', [g.add('Softmax', [scores], { axis: -1 }), v], {}, 'y')]: shape
  })
}

function linearGraph([rows, depth, columns]) {
  const g = new Graph(),
    values = Float32Array.from(
      { length: depth * columns },
      (_, i) => ((i * 2654435761) % 1024) / 8192 - 0.0625
    )
  return g.encode({
    [g.add(
      'MatMul',
      [g.input('a', [rows, depth]), g.constant('b', [depth, columns], values)],
      {},
      'y'
    )]: [rows, columns]
  })
}

function writeSafetensors(file, table) {
  const header = {}
  let at = 0
  for (const [name, [shape, data]] of Object.entries(table))
    header[name] = { dtype: 'F32', shape, data_offsets: [at, (at += data.byteLength)] }
  let json = JSON.stringify(header)
  json += ' '.repeat((8 - (json.length % 8)) % 8)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  const out = openSync(file, 'w')
  writeSync(out, length)
  writeSync(out, json)
  for (const [, data] of Object.values(table)) writeSync(out, Buffer.from(data.buffer))
  closeSync(out)
}

/** Writes by way of a name that no reader looks for, so that what is there is whole. */
function once(file, write) {
  if (existsSync(file)) return
  write(`${file}.part`)
  renameSync(`${file}.part`, file)
}

/** names: of ViTs, 'b', or 'b_maps' for the same with its maps as outputs. */
export function writeFiles(folder, names = Object.keys(sizes)) {
  mkdirSync(folder, { recursive: true })
  for (const [name, maps] of names.map((name) => name.split('_'))) {
    const [width, heads] = sizes[name],
      model = path.join(folder, `vit_${name}`)
    mkdirSync(model, { recursive: true })
    const file = `${model}${maps ? '_maps' : ''}.onnx`,
      weightsFile = path.join(model, 'model.safetensors')
    const table = existsSync(file) && existsSync(weightsFile) ? null : weights(width)
    const config = {
      model_type: 'vit',
      architectures: ['ViTForImageClassification'],
      hidden_size: width,
      num_hidden_layers: layers,
      num_attention_heads: heads,
      intermediate_size: 4 * width,
      hidden_act: 'gelu',
      layer_norm_eps: epsilon,
      image_size: 224,
      patch_size: patch,
      num_channels: 3,
      qkv_bias: true,
      num_labels: classes
    }
    writeFileSync(path.join(model, 'config.json'), JSON.stringify(config))
    once(weightsFile, (file) => writeSafetensors(file, table))
    once(file, (file) => writeFileSync(file, vitGraph(table, width, heads, maps)))
  }
  for (const shape of attentions)
    once(path.join(folder, `attention_${shape.join('x')}.onnx`), (file) =>
      writeFileSync(file, attentionGraph(shape))
    )
  for (const shape of linears)
    once(path.join(folder, `linear_${shape.join('x')}.onnx`), (file) =>
      writeFileSync(file, linearGraph(shape))
    )
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFiles(process.argv[2] ?? 'models', process.argv[3]?.split(','))
