/* ONNX's node tests by `heed eval`: folders with model.onnx and test_data_set_N/input_K.pb and
 * output_K.pb, as onnx ships them in onnx/backend/test/data/node. Numbers are compared as ONNX's own
 * runner does: relative 1e-3, absolute 1e-7. Prints one line per op, then the cases that are wrong.
 *
 *   node onnx_nodes.mjs [--heed PROGRAM] [--way WAY] [--backend BACKEND] [--only TEXT] [--reasons] FOLDER
 *
 * A refusal is exit 3 with one sentence. A case is not compared where .safetensors cannot hold it:
 * text, sequences, optional values. Types of 2 and 4 bits take a byte an element there. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { all, floats, readFile, readTensor, text, writeFile } from '../support/onnx_wire.mjs'

/* ----------------------------------------------------------------------------------- comparison */

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
