/* What takes turns in peers.mjs: heed, onnxruntime and ncnn with one job each, as { engine, ready,
 * stop(), turn(runs, milliseconds) }. A turn is answered with { times, cpu } in milliseconds; ready
 * has the output and the device, where they are known. */
import { execFile, execFileSync, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pixelsOf } from './jobs.mjs'
import { readSafetensors, writeSafetensors } from './vit_files.mjs'
import { folderOf, modelOf, models as vits } from './vit_models.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))

/** An engine in a process or page of its own. setup: { kind, place, build, peers, models, before,
 * execPath, flags, browser, ncnn }, as peers.mjs has them. */
export async function startContender(setup, engine, job, threads) {
  const { browser, models, build, before, peers, execPath, flags } = setup,
    packages = { 'heed-wasm': build, 'heed-before': before }
  if (browser) return browser.start(engine, job, threads)
  const child = fork(
    path.join(here, 'contender.mjs'),
    [engine, job, threads, models, path.join(packages[engine] ?? '', 'web/package'), peers],
    { execPath, execArgv: flags }
  )
  const answer = () =>
    new Promise((resolve, reject) => {
      const ended = (code) => reject(new Error(`${engine} ${job}: the process ended (${code})`))
      child.once('exit', ended)
      child.once('message', (message) => {
        child.off('exit', ended)
        resolve(message)
      })
    })
  const { ready } = await answer()
  return {
    engine,
    ready,
    stop: () => child.kill(),
    turn: (runs, milliseconds) => {
      child.send({ runs, milliseconds })
      return answer()
    }
  }
}

/** A program that is started for each turn and says its figures: least and median as its times. */
function startProgram(engine, file, args, read) {
  return {
    engine,
    ready: {},
    stop() {},
    turn: async (runs, milliseconds) =>
      read((await promisify(execFile)(file, args(runs, milliseconds))).stdout)
  }
}

/** What bench_ops says of one shape. */
function readProgram(text) {
  const [, median, best] = /median +([\d.]+) ms.*best +([\d.]+) ms/.exec(text)
  return {
    times: [best, median, median].map(Number),
    cpu: null,
    ceiling: Number(/only: ([\d.]+)/.exec(text)[1])
  }
}

/* bench_ops in WebAssembly, on one shape. */
function startBareWasm({ place, execPath, flags, browser }, from, shape) {
  const [level, file] =
    place === 'node' ? ['wasm128', 'bench_ops.wasm'] : ['relaxed', 'bench_ops_relaxed.wasm']
  const program = path.join(from, 'wasm/tests', file),
    args = [level, '1', '1', ...shape]
  const inNode = async () => {
    const script = path.join(here, 'run_bench.mjs')
    return (await promisify(execFile)(execPath, [...flags, script, program, ...args])).stdout
  }
  return {
    engine: 'heed',
    ready: { info: { device: `WASM ${level}` } },
    stop() {},
    turn: async () => readProgram(await (browser ? browser.run(program, args) : inNode()))
  }
}

/* What `heed bench` is to measure. */
function benchArguments(models, job, shape) {
  if (!shape)
    return [path.join(models, folderOf(job)), ...(job.endsWith('_maps') ? ['--maps'] : [])]
  const [a, b, c] = shape,
    sizes = job.startsWith('linear') ? shape : [1, a, b, b, c]
  return ['--op', job.split('_')[0], '--shape', sizes.join(',')]
}

/** heed as `from` has it, a folder build/; native: at a level of its own with `simd`. */
export async function startHeed(setup, job, threads, { from = setup.build, simd } = {}) {
  const shape = /_(\d+)x(\d+)x(\d+)$/.exec(job)?.slice(1)
  if (setup.kind === 'wasm')
    return shape
      ? startBareWasm(setup, from, shape)
      : startContender(setup, from === setup.build ? 'heed-wasm' : 'heed-before', job, threads)
  const cpu = ['--backend', 'cpu', '--threads', threads, ...(simd ? ['--simd', simd] : [])],
    what = benchArguments(setup.models, job, shape)
  const program = startProgram(
    'heed',
    path.join(from, 'release/heed'),
    (runs) => ['bench', ...what, ...cpu, '--runs', String(runs), '--json'],
    (text) => {
      const found = JSON.parse(text)
      program.ready.info = { device: found.device }
      return {
        times: [found.min_ms, found.median_ms, found.median_ms],
        cpu: found.cpu_ms,
        gflop: found.gflop
      }
    }
  )
  if (!shape && from === setup.build) program.ready.output = evaluate(setup, job, cpu)
  return program
}

/** The model's output for the pixels that the peers get, by `heed eval`. */
function evaluate({ models, build }, job, cpu) {
  const { shape, values } = pixelsOf(job),
    given = path.join(models, 'pixel_values.safetensors'),
    out = path.join(models, 'output.safetensors')
  writeSafetensors(given, { pixel_values: [shape, values] })
  const model = path.join(models, folderOf(job)),
    what = ['eval', model, given, '-o', out, '--taps', 'none', ...cpu]
  execFileSync(path.join(build, 'release/heed'), what, { stdio: ['ignore', 2, 2] })
  return Array.from(readSafetensors(out)[vits[modelOf(job)].output])
}

/** ncnn's program on a ViT; null where there is none, or for other jobs. */
export function startNcnn({ kind, ncnn }, job, threads) {
  const name = { vit_ti: 'Ti', vit_s: 'S', vit_b: 'B' }[job]
  if (kind !== 'native' || !existsSync(ncnn) || !name) return null
  const args = (runs, milliseconds) => [
    path.join(path.dirname(ncnn), `${name}.param`),
    '224',
    '224',
    threads,
    '-1',
    '0',
    String(milliseconds / 1000)
  ]
  return startProgram('ncnn', ncnn, args, (text) => {
    const [, median, least] = /median ([\d.]+) ms +min ([\d.]+)/.exec(text)
    return { times: [least, median, median].map(Number), cpu: null }
  })
}
