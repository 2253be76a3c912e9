/* Writes ViTs with seeded weights twice, as heed reads them and as ONNX, and the bare operators as
 * ONNX: what the benchmarks compare on.
 *   node vit_files.mjs FOLDER [vit_ti,vit_b_maps,dinov2_s,clip_b,vit_s_int8,vit_s_s8,vit_s_u7]
 * FOLDER/vit_ti/{config.json,model.safetensors} (Hugging Face names), FOLDER/vit_ti.onnx (opset 17,
 * nodes as PyTorch exports them); in 8 bits (quantised.mjs) the folder FOLDER/vit_ti_int8 and
 * FOLDER/vit_ti_{s8,u7}.onnx; FOLDER/attention_<heads>x<tokens>x<depth>.onnx,
 * FOLDER/linear_<rows>x<depth>x<columns>.onnx. Nothing is written anew that is there. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Graph } from './onnx_graph.mjs'
import { addConvolution, addProduct, quantiseTable } from './quantised.mjs'
import { folderOf, formOf, modelOf, models } from './vit_models.mjs'

export const attentions = [
  [12, 197, 64],
  [12, 1024, 64]
]
export const linears = [[197, 768, 3072]]
const layers = 12,
  classes = 1000,
  embedding = 512
const tokensOf = ({ side, patch }) => 1 + (side / patch) ** 2

/** Weights by name: [shape, values], uniform and small, so that activations stay of ordinary size
 * through the layers. */
function weights({ width, patch, side, names, scales, output, read = 1 }) {
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
  /* CLIP's have no batch axis, and its patches no bias */
  const batch = names.preNorm ? [] : [1],
    tokens = tokensOf({ side, patch })
  put(names.cls, [...batch, ...batch, width], 0.1)
  put(names.positions, [...batch, tokens, width], 0.1)
  put(`${names.projection}.weight`, [width, 3, patch, patch], 1 / Math.sqrt(3 * patch * patch))
  if (names.preNorm) norm(names.preNorm)
  else put(`${names.projection}.bias`, [width], 0.02)
  for (let i = 0; i < layers; i++) {
    const layer = `${names.layer}.${i}`
    for (const part of ['query', 'key', 'value']) linear(`${layer}.${names[part]}`, width, width)
    linear(`${layer}.${names.output}`, width, width)
    linear(`${layer}.${names.up}`, 4 * width, width)
    linear(`${layer}.${names.down}`, width, 4 * width)
    norm(`${layer}.${names.before}`)
    norm(`${layer}.${names.after}`)
    for (const scale of scales ?? []) put(`${layer}.${scale}`, [width], 0.2, 0.3)
  }
  norm(names.norm)
  if (output === 'logits') linear('classifier', classes, read * width)
  if (output === 'image_embeds')
    put('visual_projection.weight', [embedding, width], 1 / Math.sqrt(width))
  return table
}

function transposed([[rows, columns], from]) {
  const to = new Float32Array(from.length)
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) to[j * rows + i] = from[i * columns + j]
  return to
}

/* CLS and the patches of the picture, with their positions. */
function embedded(g, table, plain, { width, patch, side, names }, form) {
  const bias = `${names.projection}.bias`,
    weight = `${names.projection}.weight`,
    pixels = g.input('pixel_values', [1, 3, side, side]),
    attributes = { kernel_shape: [patch, patch], strides: [patch, patch] }
  const convolve = () => {
    if (form !== 'u7')
      return g.add(
        'Conv',
        [pixels, plain(weight), ...(table[bias] ? [plain(bias)] : [])],
        attributes
      )
    const y = addConvolution(g, pixels, weight, table[weight], attributes)
    return table[bias] ? g.add('Add', [y, g.constant(bias, [1, width, 1, 1], table[bias][1])]) : y
  }
  const patches = convolve()
  const x = g.add(
    'Transpose',
    [g.add('Reshape', [patches, g.shape(1, width, (side / patch) ** 2)])],
    {
      perm: [0, 2, 1]
    }
  )
  const cls = g.constant(names.cls, [1, 1, width], table[names.cls][1])
  return g.add('Add', [g.add('Concat', [cls, x], { axis: 1 }), plain(names.positions)])
}

/* With maps every layer's attention weights are outputs too. form: s8 or u7, else floats. */
function vitGraph(table, model, maps, form) {
  const { width, heads, names, epsilon, scales } = model,
    tokens = tokensOf(model),
    g = new Graph(),
    outputs = {}
  const plain = (name) => g.constant(name, ...table[name])
  const product = (x, name) => {
    const weight = table[name]
    if (form) return addProduct(g, form, x, name, weight)
    return g.add('MatMul', [x, g.constant(name, [...weight[0]].reverse(), transposed(weight))])
  }
  const linear = (x, name) => g.add('Add', [plain(`${name}.bias`), product(x, `${name}.weight`)])
  const norm = (x, name) =>
    g.add('LayerNormalization', [x, plain(`${name}.weight`), plain(`${name}.bias`)], {
      axis: -1,
      epsilon
    })
  const split = (x, perm) =>
    g.add('Transpose', [g.add('Reshape', [x, g.shape(1, tokens, heads, width / heads)])], { perm })
  const scaled = (x, name) => (name ? g.add('Mul', [x, plain(name)]) : x)
  const activated = (x) => {
    if (model.config.hidden_act === 'quick_gelu')
      return g.add('Mul', [x, g.add('Sigmoid', [g.add('Mul', [x, g.scalar(1.702)])])])
    const erf = g.add('Erf', [g.add('Div', [x, g.scalar(Math.SQRT2)])])
    return g.add('Mul', [g.add('Mul', [x, g.add('Add', [erf, g.scalar(1)])]), g.scalar(0.5)])
  }
  let x = embedded(g, table, plain, model, form)
  if (names.preNorm) x = norm(x, names.preNorm)
  for (let i = 0; i < layers; i++) {
    const layer = `${names.layer}.${i}`,
      scale = scales?.map((name) => `${layer}.${name}`) ?? [],
      normed = norm(x, `${layer}.${names.before}`)
    const q = split(linear(normed, `${layer}.${names.query}`), [0, 2, 1, 3])
    const k = split(linear(normed, `${layer}.${names.key}`), [0, 2, 3, 1])
    const v = split(linear(normed, `${layer}.${names.value}`), [0, 2, 1, 3])
    const scores = g.add('Div', [g.add('MatMul', [q, k]), g.scalar(Math.sqrt(width / heads))])
    const map = g.add('Softmax', [scores], { axis: -1 }, `attention_${i}`)
    if (maps) outputs[map] = [1, heads, tokens, tokens]
    const mixed = g.add('Transpose', [g.add('MatMul', [map, v])], { perm: [0, 2, 1, 3] })
    const merged = g.add('Reshape', [mixed, g.shape(1, tokens, width)])
    x = g.add('Add', [scaled(linear(merged, `${layer}.${names.output}`), scale[0]), x])
    const wide = activated(linear(norm(x, `${layer}.${names.after}`), `${layer}.${names.up}`))
    x = g.add('Add', [scaled(linear(wide, `${layer}.${names.down}`), scale[1]), x])
  }
  outputs[addOutput(g, table, model, plain, norm, form ? linear : null, x)] = {
    logits: [1, classes],
    last_hidden_state: [1, tokens, width],
    image_embeds: [1, embedding]
  }[model.output]
  return g.encode(outputs)
}

/* What is read of the last layer's tokens, by the name of the model's output. */
function addOutput(g, table, { width, names, epsilon, output }, plain, norm, linear, x) {
  if (output === 'last_hidden_state')
    return g.add(
      'LayerNormalization',
      [x, plain(`${names.norm}.weight`), plain(`${names.norm}.bias`)],
      { axis: -1, epsilon },
      output
    )
  const first = g.add(
    'Gather',
    [norm(x, names.norm), g.constant('first', [], BigInt64Array.of(0n))],
    { axis: 1 }
  )
  if (output === 'logits' && linear)
    return g.add('Identity', [linear(first, 'classifier')], {}, output)
  const name = output === 'logits' ? 'classifier' : 'visual_projection',
    rows = table[`${name}.weight`][0][0],
    weight = g.constant(`${name}.weight`, [width, rows], transposed(table[`${name}.weight`]))
  return output === 'logits'
    ? g.add('Gemm', [first, weight, plain(`${name}.bias`)], {}, output)
    : g.add('MatMul', [first, weight], {}, output)
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

export function writeSafetensors(file, table) {
  const header = {}
  let at = 0
  for (const [name, [shape, data]] of Object.entries(table))
    header[name] = {
      dtype: data instanceof Int8Array ? 'I8' : 'F32',
      shape,
      data_offsets: [at, (at += data.byteLength)]
    }
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

/** The floats of each tensor of floats, by name. */
export function readSafetensors(file) {
  const bytes = readFileSync(file),
    start = 8 + Number(bytes.readBigUInt64LE(0)),
    { __metadata__, ...header } = JSON.parse(bytes.subarray(8, start).toString())
  return Object.fromEntries(
    Object.entries(header).map(
      ([
        name,
        {
          data_offsets: [from, to]
        }
      ]) => [
        name,
        new Float32Array(Uint8Array.from(bytes.subarray(start + from, start + to)).buffer)
      ]
    )
  )
}

/** Writes by way of a name that no reader looks for, so that what is there is whole. */
function once(file, write) {
  if (existsSync(file)) return
  write(`${file}.part`)
  renameSync(`${file}.part`, file)
}

/* The weights of the layers' linear maps, by name. */
const linearWeights = ({ names }) =>
  new Set(
    Array.from({ length: layers }, (_, i) =>
      ['query', 'key', 'value', 'output', 'up', 'down'].map(
        (part) => `${names.layer}.${i}.${names[part]}.weight`
      )
    ).flat()
  )

/* tables: the tensors of a model, made when a file needs them. */
function writeJob(folder, job, tables) {
  const name = modelOf(job),
    model = models[name],
    form = formOf(job),
    of = path.join(folder, folderOf(job))
  const table = () => {
    if (!tables.has(name)) tables.clear() /* one at a time */
    if (!tables.has(name)) tables.set(name, weights(model))
    return tables.get(name)
  }
  if (!form || form === 'int8') {
    mkdirSync(of, { recursive: true })
    writeFileSync(path.join(of, 'config.json'), JSON.stringify(model.config))
    once(path.join(of, 'model.safetensors'), (file) =>
      writeSafetensors(file, form ? quantiseTable(table(), linearWeights(model)) : table())
    )
  }
  if (form !== 'int8' && !model.read)
    once(path.join(folder, `${job}.onnx`), (file) =>
      writeFileSync(file, vitGraph(table(), model, job.endsWith('_maps'), form))
    )
}

/** jobs: of models, 'vit_b', 'vit_b_maps' for the same with its maps as outputs, or one in 8 bits:
 * 'vit_b_int8' for heed, 'vit_b_s8' and 'vit_b_u7' for ONNX. */
export function writeFiles(folder, jobs = Object.keys(models)) {
  mkdirSync(folder, { recursive: true })
  const tables = new Map()
  for (const job of jobs) writeJob(folder, job, tables)
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
