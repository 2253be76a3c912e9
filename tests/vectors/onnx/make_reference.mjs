/* What onnxruntime makes of graphs that make_graphs.py wrote: outputs, and the weights of every
 * attention, beside what torch made and, if asked, beside what heed makes.
 *
 *   npm install onnxruntime-node@1.30.0                     (in a folder of its own)
 *   node make_reference.mjs MODULES [FOLDER [HEED]]         (MODULES: that folder)
 *
 * Without FOLDER it is graphs/, and NAME.onnxruntime.safetensors are written there, which the tests
 * read. With one, nothing is written; HEED is the program to compare. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { all, fields, floats, readFile, text, writeFile } from '../../support/onnx_wire.mjs'

const [modules, folder = join(import.meta.dirname, 'graphs'), heed] = process.argv.slice(2)
const ort = createRequire(pathToFileURL(join(modules, 'x.js')))('onnxruntime-node')

const varint = (value) => {
  const bytes = []
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128)
  return Buffer.from([...bytes, value])
}
const message = (field, data) => Buffer.concat([varint(field * 8 + 2), varint(data.length), data])

const word = (field, value) => message(field, Buffer.from(value))
/** A node that casts to floats, and the output of the graph that it makes. */
function castToFloats(name) {
  const to = Buffer.concat([word(1, 'to'), varint(3 * 8), varint(1), varint(20 * 8), varint(2)])
  const node = [word(1, name), word(2, `${name}_floats`), word(4, 'Cast'), message(5, to)]
  const floats = message(2, message(1, Buffer.concat([varint(8), varint(1)])))
  return [
    message(1, Buffer.concat(node)),
    message(12, Buffer.concat([word(1, `${name}_floats`), floats]))
  ]
}

/** The model with each softmax as an output, and their names. All of these models' are attentions. */
function withWeights(bytes) {
  const graph = all(bytes, 7)[0]
  const names = all(graph, 1)
    .filter((node) => text(all(node, 4)[0]) === 'Softmax')
    .map((node) => text(all(node, 2)[0]))
  const rest = [...fields(bytes)]
    .filter(([number]) => number !== 7)
    .map(([number, wire, value]) =>
      wire === 2
        ? message(number, Buffer.from(value))
        : Buffer.concat([varint(number * 8), varint(Number(value))])
    )
  const whole = Buffer.concat([graph, ...names.flatMap(castToFloats)])
  return {
    names: names.map((name) => `${name}_floats`),
    model: Buffer.concat([...rest, message(7, whole)])
  }
}

const kinds = { F32: ['float32', Float32Array], I64: ['int64', BigInt64Array] }

async function runOnnxruntime(path, given) {
  const { names, model } = withWeights(readFileSync(path))
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 })
  const feeds = Object.fromEntries(
    session.inputNames.map((name) => {
      const { dtype, shape, bytes } = given[name]
      const [type, List] = kinds[dtype]
      return [name, new ort.Tensor(type, new List(bytes.buffer), shape)]
    })
  )
  const made = await session.run(feeds)
  return Object.fromEntries(
    Object.entries(made).map(([name, { data, dims }]) => {
      const at = names.indexOf(name)
      const bytes = new Uint8Array(Float32Array.from(data).buffer)
      return [at < 0 ? name : `attention.${at}`, { dtype: 'F32', shape: dims, bytes }]
    })
  )
}

/** The largest difference of the tensors of `a` from those of `b`, relative to 1 + |b|. */
function difference(a, b) {
  let most = 0
  const list = ({ dtype, bytes }) => floats(dtype === 'F16' ? 10 : 1, bytes)
  for (const [name, tensor] of Object.entries(a)) {
    const [x, y] = [list(tensor), list(b[name])]
    if (x.length !== y.length) throw new Error(`${name}: ${x.length} elements, ${y.length}`)
    x.forEach((value, i) => {
      const apart = Math.abs(value - y[i]) / (1 + Math.abs(y[i]))
      most = apart <= most ? most : apart
    })
  }
  return most
}

function runHeed(path, inputs, way) {
  const work = mkdtempSync(join(tmpdir(), 'heed-reference-'))
  const to = join(work, 'out.safetensors')
  execFileSync(heed, ['eval', path, inputs, '-o', to, '--backend', 'cpu', '--way', way], {
    stdio: ['ignore', 'ignore', 'pipe']
  })
  const made = readFile(to)
  rmSync(work, { recursive: true })
  return made
}

const largest = {}
for (const file of readdirSync(folder).filter((name) => name.endsWith('.onnx'))) {
  const path = join(folder, file)
  const inputs = path.replace('.onnx', '.safetensors')
  const torch = readFile(inputs)
  const made = await runOnnxruntime(path, torch)
  const apart = { torch: difference(made, torch) }
  if (heed) {
    apart.graph = difference(made, runHeed(path, inputs, 'graph'))
    apart.reference = difference(made, runHeed(path, inputs, 'reference'))
  }
  for (const [name, value] of Object.entries(apart))
    largest[name] = Math.max(largest[name] ?? 0, value)
  console.log(file, Object.keys(made).length, apart)
  if (process.argv.length < 4) writeFile(path.replace('.onnx', '.onnxruntime.safetensors'), made)
}
console.log('largest', largest)
