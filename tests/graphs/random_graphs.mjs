/* Random graphs by another program, beside what heed gives in double:
 *
 *   node random_graphs.mjs TEST_RANDOM_GRAPHS COUNT FIRST --heed PACKAGE | --onnxruntime FOLDER
 *
 * PACKAGE is the folder of heed's npm package: its kernels in WebAssembly. FOLDER has
 * node_modules/onnxruntime-node. What docs/onnx.md states as different is left out. Prints each
 * graph that differs, and the totals; ends with 1 where one does, and with 77 where the other
 * program is not there. HEED_SHOW=1 prints why graphs were refused. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [maker, graphCount, first, option, folder] = process.argv.slice(2)
if (!folder || !['--heed', '--onnxruntime'].includes(option))
  throw new Error(
    'random_graphs.mjs TEST_RANDOM_GRAPHS COUNT FIRST --heed PACKAGE | --onnxruntime FOLDER'
  )
const needed = option === '--heed' ? 'index.js' : 'node_modules/onnxruntime-node'
if (!existsSync(join(folder, needed))) {
  console.log(`skipped: ${join(folder, needed)} is not there`)
  process.exit(77)
}

/* -------------------------------------------------------------------------------------- the file */

const arrays = {
  F32: Float32Array,
  F64: Float64Array,
  F16: Uint16Array,
  U8: Uint8Array,
  I8: Int8Array,
  U16: Uint16Array,
  I16: Int16Array,
  I32: Int32Array,
  U32: Uint32Array,
  I64: BigInt64Array,
  U64: BigUint64Array,
  BOOL: Uint8Array
}

function half(bits) {
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  const size =
    exponent === 31
      ? fraction
        ? NaN
        : Infinity
      : exponent === 0
        ? fraction * 2 ** -24
        : (1024 + fraction) * 2 ** (exponent - 25)
  return bits & 0x8000 ? -size : size
}

function tensors(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const length = Number(view.getBigUint64(0, true))
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)))
  return Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(
      ([
        name,
        {
          dtype,
          shape,
          data_offsets: [from, to]
        }
      ]) => ({
        name,
        dtype,
        shape,
        data: new arrays[dtype](bytes.slice(8 + length + from, 8 + length + to).buffer)
      })
    )
}

function* graphs(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const parts = []
    for (let i = 0; i < 5; i++) {
      const size = view.getUint32(at, true)
      parts.push(bytes.subarray(at + 4, at + 4 + size))
      at += 4 + size
    }
    const [file, inputs, expected, slack, words] = parts
    yield {
      index,
      file: file.slice(),
      inputs: tensors(inputs),
      expected: tensors(expected),
      slack: new Float32Array(slack.slice().buffer),
      ...JSON.parse(new TextDecoder().decode(words))
    }
  }
}

/* ----------------------------------------------------------------------------------- the programs */

async function heed() {
  const { createRuntime } = await import(pathToFileURL(resolve(folder, 'index.js')).href)
  const runtime = await createRuntime({ threads: 1 })
  return {
    async run({ file, inputs }) {
      const model = await runtime.loadModel(file, { way: 'graph' })
      try {
        const given = Object.fromEntries(
          inputs.map(({ name, data, shape }) => [name, { data, shape }])
        )
        return (await model.evaluate(given)).outputs
      } finally {
        model.close()
      }
    },
    close: () => runtime.close()
  }
}

const names = {
  F32: 'float32',
  F64: 'float64',
  F16: 'float16',
  U8: 'uint8',
  I8: 'int8',
  U16: 'uint16',
  I16: 'int16',
  I32: 'int32',
  U32: 'uint32',
  I64: 'int64',
  U64: 'uint64',
  BOOL: 'bool'
}

async function onnxruntime() {
  const load = createRequire(join(resolve(folder), 'x.js'))
  const { InferenceSession, Tensor } = load('onnxruntime-node')
  return {
    async run({ file, inputs }) {
      const session = await InferenceSession.create(file, {
        graphOptimizationLevel: 'disabled',
        intraOpNumThreads: 1,
        logSeverityLevel: 4
      })
      try {
        const given = {}
        for (const { name, dtype, data, shape } of inputs)
          given[name] = new Tensor(names[dtype], data, shape)
        const found = await session.run(given)
        return Object.fromEntries(
          Object.entries(found).map(([name, { data, dims }]) => [name, { data, shape: dims }])
        )
      } finally {
        await session.release()
      }
    },
    close() {}
  }
}

/* ---------------------------------------------------------------------------------- comparison */

const floats = new Set(['F16', 'F32', 'F64'])

/** '' where they are the same. */
function difference(graph, found) {
  let at = 0
  for (const { name, dtype, shape, data } of graph.expected) {
    const y = found[name]
    const first = at
    at += data.length
    if ((option === '--heed' ? graph.stated : graph.theirs).includes(name)) continue
    const loose = graph.slack.subarray(first, at).some((by) => by === Infinity)
    if (!y) return `${name} is missing`
    if (`${y.shape}` !== `${shape}`) {
      if (loose) continue
      return `${name}: [${y.shape}], expected [${shape}]`
    }
    for (let i = 0; i < data.length; i++) {
      const slack = graph.slack[first + i]
      const isHalf = dtype === 'F16'
      const a = isHalf && y.data instanceof Uint16Array ? half(y.data[i]) : y.data[i]
      const b = isHalf ? half(data[i]) : data[i]
      // what rounding may take beyond the largest number of 16 bits, too
      if (
        (isHalf && slack + Math.abs(b) > 65504) ||
        slack === Infinity ||
        a === b ||
        (a !== a && b !== b)
      )
        continue
      if (!floats.has(dtype)) {
        if (Number(a) === Number(b)) continue
        return `${name}[${i}]: ${a}, expected ${b}`
      }
      const bound = (isHalf ? 2e-3 : 2e-5) * (1 + Math.abs(b)) + slack
      if (Number.isFinite(a) && Number.isFinite(b) && Math.abs(a - b) <= bound) continue
      return `${name}[${i}]: ${a}, expected ${b} (slack ${slack})`
    }
  }
  return ''
}

const program = await (option === '--heed' ? heed() : onnxruntime())
const count = { ran: 0, refused: 0, differ: 0 }
const reasons = new Map()
const scratch = mkdtempSync(join(tmpdir(), 'heed-graphs-'))
const path = join(scratch, 'graphs')
execFileSync(maker, [graphCount, first, '--write', path])
const bytes = new Uint8Array(readFileSync(path))
rmSync(scratch, { recursive: true })
for (const graph of graphs(bytes)) {
  // a division of integers by 0 and some ops of no elements end its process
  if ((graph.divides || graph.empty) && option === '--onnxruntime') continue
  let found
  try {
    found = await program.run(graph)
  } catch (error) {
    count.refused++
    const reason = String(error.message).replace(/\d+/g, 'N').slice(0, 110)
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    if (option === '--heed' && error.name !== 'HeedError') throw error
    continue
  }
  count.ran++
  const what = difference(graph, found)
  if (!what) continue
  count.differ++
  console.log(
    `graph ${graph.seed} (${graph.ops}; opset ${graph.opset}; special ${graph.special}${graph.nan ? ' nan' : ''}): ${what}`
  )
}
program.close()
if (process.env.HEED_SHOW)
  for (const [reason, times] of [...reasons].sort((a, b) => b[1] - a[1])) console.log(times, reason)
console.log(`${count.ran} graphs ran, ${count.refused} refused, ${count.differ} differ`)
process.exit(count.differ ? 1 : 0)
