/* ONNX's node tests by `heed eval`: folders with model.onnx and test_data_set_N/input_K.pb and
 * output_K.pb, as onnx ships them in onnx/backend/test/data/node. Numbers are compared as ONNX's own
 * runner does: relative 1e-3, absolute 1e-7. Prints one line per op, then the cases that are wrong.
 *
 *   node onnx_nodes.mjs [--heed PROGRAM] [--way WAY] [--backend BACKEND] [--only TEXT] [--reasons] FOLDER
 *
 * A refusal is exit 3 with one sentence. A case is not compared where .safetensors cannot hold it:
 * text, sequences, optional values. Types of 2 and 4 bits take a byte an element there. */
import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'

/* ---------------------------------------------------------------------------- protocol buffers */

/** The fields of a message: [number, wire type, value]; a value is a BigInt or the bytes. */
function* fields(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const key = Number(varint())
    const [number, wire] = [key >> 3, key & 7]
    if (wire === 0) yield [number, wire, varint()]
    else if (wire === 1) yield [number, wire, view.getBigUint64((at += 8) - 8, true)]
    else if (wire === 5) yield [number, wire, BigInt(view.getUint32((at += 4) - 4, true))]
    else {
      const size = Number(varint())
      yield [number, wire, bytes.subarray(at, (at += size))]
    }
  }
}

const all = (bytes, number) => [...fields(bytes)].filter((f) => f[0] === number).map((f) => f[2])
const text = (bytes) => new TextDecoder().decode(bytes)

/** Numbers of a repeated field, packed or not; `size` 0: varints. */
function numbers(bytes, number, size) {
  const found = []
  for (const [at, wire, value] of fields(bytes)) {
    if (at !== number) continue
    if (wire !== 2) found.push(value)
    else if (size) {
      const view = new DataView(value.buffer, value.byteOffset, value.length)
      for (let i = 0; i < value.length; i += size)
        found.push(size === 4 ? BigInt(view.getUint32(i, true)) : view.getBigUint64(i, true))
    } else {
      /* a list of varints is read as a message whose keys they are */
      let item = 0n
      let shift = 0n
      for (const byte of value) {
        item |= BigInt(byte & 127) << shift
        shift += 7n
        if (byte < 128) {
          found.push(item)
          item = shift = 0n
        }
      }
    }
  }
  return found
}

/* -------------------------------------------------------------------------------------- tensors */

/** TensorProto.DataType: name in .safetensors, bits, field of typed data, its size (0: varint). */
const types = {
  1: ['F32', 32, 4, 4],
  2: ['U8', 8, 5, 0],
  3: ['I8', 8, 5, 0],
  4: ['U16', 16, 5, 0],
  5: ['I16', 16, 5, 0],
  6: ['I32', 32, 5, 0],
  7: ['I64', 64, 7, 0],
  9: ['BOOL', 8, 5, 0],
  10: ['F16', 16, 5, 0],
  11: ['F64', 64, 10, 8],
  12: ['U32', 32, 11, 0],
  13: ['U64', 64, 11, 0],
  16: ['BF16', 16, 5, 0],
  17: ['F8_E4M3', 8, 5, 0],
  18: ['F8_E4M3FNUZ', 8, 5, 0],
  19: ['F8_E5M2', 8, 5, 0],
  20: ['F8_E5M2FNUZ', 8, 5, 0],
  21: ['U8', 4, 5, 0],
  22: ['I8', 4, 5, 0],
  23: ['U8', 4, 5, 0],
  24: ['F8_E8M0', 8, 5, 0],
  25: ['U8', 2, 5, 0],
  26: ['I8', 2, 5, 0]
}
const signed = new Set([22, 26])

/** Elements of 2 or 4 bits as a byte each. */
function unpack(packed, count, bits, isSigned) {
  const bytes = new Uint8Array(count)
  const each = 8 / bits
  for (let i = 0; i < count; i++) {
    const value = (packed[Math.floor(i / each)] >> (bits * (i % each))) & ((1 << bits) - 1)
    bytes[i] = isSigned && value >> (bits - 1) ? value - (1 << bits) : value
  }
  return bytes
}

/** {type, dtype, shape, bytes} of a TensorProto. Throws for what .safetensors cannot hold. */
function readTensor(bytes) {
  const type = Number(all(bytes, 2)[0] ?? 0)
  if (!types[type]) throw new Error(type === 8 ? 'text' : `type ${type}`)
  const [dtype, bits, field, size] = types[type]
  const shape = numbers(bytes, 1, 0).map(Number)
  const count = shape.reduce((a, b) => a * b, 1)
  let data = all(bytes, 9)[0]
  if (!data) {
    const items = numbers(bytes, field, size)
    const width = Math.max(1, bits / 8)
    data = new Uint8Array(items.length * width)
    items.forEach((item, i) => {
      for (let k = 0; k < width; k++) data[i * width + k] = Number((item >> BigInt(8 * k)) & 255n)
    })
  }
  if (bits < 8) data = unpack(data, count, bits, signed.has(type))
  return { type, dtype, shape, bytes: Uint8Array.from(data) }
}

function writeFile(path, tensors) {
  const header = {}
  const parts = []
  let at = 0
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] }
    parts.push(Buffer.from(bytes))
    at += bytes.length
  }
  let json = Buffer.from(JSON.stringify(header))
  json = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, ' ')])
  const size = Buffer.alloc(8)
  size.writeBigUInt64LE(BigInt(json.length))
  writeFileSync(path, Buffer.concat([size, json, ...parts]))
}

function readFile(path) {
  const bytes = readFileSync(path)
  const size = Number(bytes.readBigUInt64LE(0))
  const header = JSON.parse(bytes.subarray(8, 8 + size).toString())
  const made = {}
  for (const [name, { dtype, shape, data_offsets: at }] of Object.entries(header))
    if (name !== '__metadata__')
      made[name] = {
        dtype,
        shape,
        bytes: Uint8Array.from(bytes.subarray(8 + size + at[0], 8 + size + at[1]))
      }
  return made
}

/* ----------------------------------------------------------------------------------- comparison */

/** Bits of an exponent and of a mantissa, the bias, and the codes of Inf and NaN without a sign. */
const formats = {
  10: [5, 10, 15, 0x7c00, 0x7c01],
  17: [4, 3, 7, Infinity, 0x7f],
  18: [4, 3, 8, Infinity, 0x80],
  19: [5, 2, 15, 0x7c, 0x7d],
  20: [5, 2, 16, Infinity, 0x80],
  23: [2, 1, 1, Infinity, Infinity]
}

function decode([exponent, mantissa, bias, infinity, notNumber], bits) {
  const sign = bits >> (exponent + mantissa) ? -1 : 1
  const magnitude = bits & ((1 << (exponent + mantissa)) - 1)
  if (magnitude >= notNumber || bits === notNumber) return NaN
  if (magnitude === infinity) return sign * Infinity
  const part = (magnitude & ((1 << mantissa) - 1)) / (1 << mantissa)
  const power = magnitude >> mantissa
  return sign * (power ? 2 ** (power - bias) * (1 + part) : 2 ** (1 - bias) * part)
}

/** Floats of a type as numbers; null: whole numbers, whose bytes must be equal. */
function floats(type, bytes) {
  if (type === 1) return new Float32Array(bytes.buffer)
  if (type === 11) return new Float64Array(bytes.buffer)
  if (type === 16)
    return new Float32Array(Uint32Array.from(new Uint16Array(bytes.buffer), (w) => w << 16).buffer)
  const words = type === 10 ? new Uint16Array(bytes.buffer) : bytes
  return formats[type] ? Float64Array.from(words, (bits) => decode(formats[type], bits)) : null
}

const isNear = (x, y) =>
  Object.is(x, y) || x === y || (x !== x && y !== y) || Math.abs(x - y) <= 1e-7 + 1e-3 * Math.abs(y)

/** What is wrong with an output, or ''. */
function difference(name, found, expected) {
  if (!found) return `${name} is missing`
  if (found.dtype !== expected.dtype) return `${name}: ${found.dtype}, expected ${expected.dtype}`
  if (`${found.shape}` !== `${expected.shape}`)
    return `${name}: [${found.shape}], expected [${expected.shape}]`
  const list = ({ bytes }) => floats(expected.type, bytes) ?? bytes
  const [x, y] = [list(found), list(expected)]
  const near = y === expected.bytes ? (a, b) => a === b : isNear
  let wrong = 0
  let first = -1
  for (let i = 0; i < y.length; i++)
    if (!near(x[i], y[i])) {
      if (first < 0) first = i
      wrong++
    }
  if (!wrong) return ''
  return `${name}: ${wrong} of ${y.length} differ, first ${first}: ${x[first]}, expected ${y[first]}`
}

/* ---------------------------------------------------------------------------------------- cases */

function readModel(path) {
  const graph = all(readFileSync(path), 7)[0]
  const names = (number) => all(graph, number).map((value) => text(all(value, 1)[0] ?? []))
  return {
    ops: all(graph, 1).map((node) => text(all(node, 4)[0] ?? [])),
    inputs: names(11),
    outputs: names(12),
    tensors: [11, 12].every((number) =>
      all(graph, number).every((value) => all(all(value, 2)[0] ?? new Uint8Array(), 1).length)
    )
  }
}

const load = (folder, kind, names) =>
  Object.fromEntries(
    names
      .map((name, i) => [name, join(folder, `${kind}_${i}.pb`)])
      .filter(([, path]) => existsSync(path))
      .map(([name, path]) => [name, readTensor(readFileSync(path))])
  )

function execute(program, args) {
  return new Promise((done) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (data) => (stderr += data))
    child.on('error', (error) => done({ code: -1, stderr: error.message }))
    child.on('close', (code, signal) => done({ code: code ?? signal, stderr }))
  })
}

/** [state, why] of one data set. */
async function runSet(options, folder, model, set, work) {
  let inputs
  let expected
  try {
    if (!model.tensors) throw new Error('a sequence, map or optional value')
    inputs = load(join(folder, set), 'input', model.inputs)
    expected = load(join(folder, set), 'output', model.outputs)
  } catch (error) {
    return ['not compared', error.message]
  }
  const [from, to] = [join(work, 'in.safetensors'), join(work, 'out.safetensors')]
  writeFile(from, inputs)
  rmSync(to, { force: true })
  const args = ['eval', join(folder, 'model.onnx'), from, '-o', to, '--taps', 'none']
  for (const name of ['way', 'backend']) if (options[name]) args.push(`--${name}`, options[name])
  const { code, stderr } = await execute(options.heed, args)
  const last = stderr.trim().split('\n').at(-1)
  if (code === 3 && last.startsWith('heed eval: '))
    return ['refused', last.slice(last.indexOf('model.onnx: ') + 12)]
  if (code !== 0) return ['wrong', `exit ${code}: ${stderr.trim()}`]
  const found = readFile(to)
  for (const [name, tensor] of Object.entries(expected)) {
    const why = difference(name, found[name], tensor)
    if (why) return ['wrong', why]
  }
  return ['pass', stderr.includes("on heed's kernels") ? 'on kernels' : 'in double']
}

async function runCase(options, name, work) {
  const folder = join(options.folder, name)
  const model = readModel(join(folder, 'model.onnx'))
  const op =
    model.ops.length === 1
      ? model.ops[0]
      : `graphs of ${new Set(model.ops).size > 1 ? 'several ops' : model.ops[0]}`
  let result
  for (const set of readdirSync(folder).filter((entry) => entry.startsWith('test_data_set_'))) {
    const [state, why] = await runSet(options, folder, model, set, work)
    result = { name, op, state, why }
    if (state !== 'pass') break
  }
  return result
}

/* ----------------------------------------------------------------------------------------- main */

const states = ['pass', 'wrong', 'refused', 'not compared']

function report(results, reasons) {
  const ops = new Map()
  const line = (counts) =>
    `${states.map((s) => `${counts[s] ?? 0} ${s}`).join(', ')}; ${counts['on kernels'] ?? 0} on kernels`
  const whole = {}
  for (const { op, state, why } of results) {
    if (!ops.has(op)) ops.set(op, {})
    for (const counts of [ops.get(op), whole])
      for (const key of why === 'on kernels' ? [state, why] : [state])
        counts[key] = (counts[key] ?? 0) + 1
  }
  for (const [op, counts] of [...ops].sort()) console.log(`${op}: ${line(counts)}`)
  for (const { name, state, why } of results)
    if (state === 'wrong' || (reasons && why)) console.log(`${name}: ${state}: ${why}`)
  console.log(`${results.length} cases: ${line(whole)}`)
  return !whole.wrong
}

function readArguments(args) {
  const options = { heed: 'heed', only: '' }
  while (args.length > 1 || args[0] === '--reasons') {
    const name = args.shift()
    if (name === '--reasons') options.reasons = true
    else if (['--heed', '--way', '--backend', '--only'].includes(name))
      options[name.slice(2)] = args.shift()
    else throw new Error(`${name} is no option`)
  }
  if (!args.length) throw new Error('expected a folder of node tests')
  return { ...options, folder: args[0] }
}

const options = readArguments(process.argv.slice(2))
const names = readdirSync(options.folder)
  .filter(
    (name) => name.includes(options.only) && existsSync(join(options.folder, name, 'model.onnx'))
  )
  .sort()
const work = mkdtempSync(join(tmpdir(), 'heed-nodes-'))
const results = []
const next = names.values()
const runner = async (_, i) => {
  const own = join(work, `${i}`)
  mkdirSync(own)
  for (const name of next) results.push(await runCase(options, name, own))
}
await Promise.all(Array.from({ length: availableParallelism() }, runner))
results.sort((a, b) => (a.name < b.name ? -1 : 1))
rmSync(work, { recursive: true })
process.exitCode = report(results, options.reasons) ? 0 : 1
