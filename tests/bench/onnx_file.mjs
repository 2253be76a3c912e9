/* One ONNX file on heed's kernels beside onnxruntime-node, one thread each, by turns:
 *   node onnx_file.mjs HEED FOLDER FILE.onnx HEIGHT,WIDTH [--rounds N] [--runs N]
 * HEED: the native program. FOLDER: one in which npm installed onnxruntime-node. The file takes one
 * image [1, 3, H, W]. Prints the largest difference of the outputs, the time of a run and the
 * processor's time of one, and the quotients of heed's least by the other's. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { numbers } from './jobs.mjs'

const {
  values: { rounds, runs },
  positionals: [heed, folder, file, size]
} = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, runs: { type: 'string', default: '20' } }
})
const ort = createRequire(path.join(path.resolve(folder), 'x.js'))('onnxruntime-node')
const session = await ort.InferenceSession.create(file, {
  intraOpNumThreads: 1,
  interOpNumThreads: 1
})
const shape = [1, 3, ...size.split(',').map(Number)],
  data = numbers(
    shape.reduce((a, b) => a * b),
    1
  ),
  name = session.inputNames[0],
  feeds = { [name]: new ort.Tensor('float32', data, shape) }

/* A .safetensors file of one tensor; those of one. */
function write(to) {
  const info = { dtype: 'F32', shape, data_offsets: [0, data.byteLength] },
    header = Buffer.from(JSON.stringify({ [name]: info })),
    length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  writeFileSync(to, Buffer.concat([length, header, Buffer.from(data.buffer)]))
}
function read(from) {
  const bytes = readFileSync(from),
    end = 8 + Number(bytes.readBigUInt64LE()),
    header = JSON.parse(bytes.subarray(8, end)),
    of = ([first, last]) => new Float32Array(bytes.buffer.slice(end + first, end + last))
  return (output) => of(header[output].data_offsets)
}

async function theirs() {
  await session.run(feeds)
  let least = Number.POSITIVE_INFINITY
  const before = process.cpuUsage()
  for (let i = 0; i < Number(runs); i++) {
    const start = performance.now()
    await session.run(feeds)
    least = Math.min(least, performance.now() - start)
  }
  const { user, system } = process.cpuUsage(before)
  return { wall: least, processor: (user + system) / 1000 / Number(runs) }
}
const common = ['--way', 'graph', '--backend', 'cpu', '--threads', '1', '--quiet']
function own() {
  const options = ['--size', size, '--runs', runs, '--warmup', '1', '--json']
  const found = JSON.parse(execFileSync(heed, ['bench', file, ...options, ...common]))
  return { wall: found.min_ms, processor: found.cpu_ms }
}

write(path.join(folder, 'in.safetensors'))
execFileSync(
  heed,
  ['eval', path.resolve(file), 'in.safetensors', '-o', 'out.safetensors', ...common],
  {
    cwd: folder
  }
)
const found = read(path.join(folder, 'out.safetensors')),
  expected = await session.run(feeds)
let largest = 0
for (const output of session.outputNames)
  found(output).forEach((x, i) => {
    largest = Math.max(largest, Math.abs(x - expected[output].data[i]))
  })
const least = [{}, {}]
for (let round = 0; round < Number(rounds); round++)
  for (const [i, measured] of [own(), await theirs()].entries())
    for (const key of ['wall', 'processor'])
      least[i][key] = Math.min(least[i][key] ?? Number.POSITIVE_INFINITY, measured[key])
for (const key of ['wall', 'processor']) {
  const [a, b] = least.map((of) => of[key])
  console.log(
    `${key}: heed ${a.toFixed(1)} ms, onnxruntime ${b.toFixed(1)} ms, quotient ${(a / b).toFixed(2)}`
  )
}
console.log(`largest difference ${largest.toPrecision(2)}`)
