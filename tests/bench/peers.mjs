/* heed beside its peers on the same weights, by turns, each in a process of its own:
 *   node peers.mjs wasm|native [--in node|node-relaxed|node24|chromium] [--threads 1,2] [--jobs
 *   vit_ti,vit_s,vit_b,dinov2_s,clip_b,...] [--rounds N] [--json FILE] [--before BUILD] [--ncnn PROGRAM]
 * wasm: the npm package and bench_ops.wasm beside onnxruntime-web, in this Node, in this Node with
 * V8's flag for relaxed SIMD (Node 20 has it behind one), in npm's node@24 or in Chromium, each in
 * a page of its own: the last three with the kernels for relaxed SIMD; native: `heed bench` beside
 * onnxruntime-node. `./dev bench wasm` and `./dev bench peers` build what it needs and call it.
 * With --before, the heed of another commit takes its turns too: BUILD is the folder build/ of its
 * tree, with the same kind built there. Its ratio is its time to this heed's time.
 * native: with --ncnn (or HEED_BENCH_NCNN) ncnn's CPU takes its turns on the ViTs too, by
 * peer_ncnn.cpp, built by hand, or a program like it: called with FILE.param 224 224 THREADS -1 0
 * SECONDS, it has Ti.param, S.param and B.param in its folder and prints "median M ms  min X"; its
 * weights are its own, so only times are compared. The peers are installed from npm into
 * build/bench/peers, the models written to build/bench/models (vit_files.mjs). Prints a table and
 * writes all figures as JSON. */
import { execFile, execFileSync, fork } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { startChromium } from './chromium.mjs'
import { pixelsOf } from './jobs.mjs'
import { attentions, linears, readSafetensors, writeFiles, writeSafetensors } from './vit_files.mjs'
import { modelOf, models as vits } from './vit_models.mjs'

const here = path.dirname(fileURLToPath(import.meta.url)),
  build = path.resolve(here, '../../build'),
  peers = path.join(build, 'bench/peers')
const models = path.join(build, 'bench/models'),
  before = path.join(build, 'bench/before')
const versions = { wasm: ['onnxruntime-web@1.30.0'], native: ['onnxruntime-node@1.30.0'] },
  newerNode = 'node@24.21.0'
const {
  values: options,
  positionals: [kind = '']
} = parseArgs({
  allowPositionals: true,
  options: {
    in: { type: 'string', default: 'node' },
    threads: { type: 'string', default: '1,2' },
    jobs: { type: 'string' },
    rounds: { type: 'string', default: '8' },
    json: { type: 'string' },
    before: { type: 'string' },
    ncnn: { type: 'string', default: process.env.HEED_BENCH_NCNN ?? '' }
  }
})
if (options.before !== undefined && !existsSync(options.before))
  throw new Error(`--before: no such folder (found "${options.before}", expected a folder build/)`)
if (!versions[kind]) throw new Error(`what to compare (found "${kind}", expected wasm or native)`)
if (
  !['node', 'node-relaxed', 'node24', 'chromium'].includes(options.in) ||
  (kind === 'native' && options.in !== 'node')
)
  throw new Error(
    `where to compare (found "${options.in}", expected node, or for wasm node-relaxed, node24 or chromium)`
  )
if (options.in === 'node24') versions.wasm.push(newerNode)
const flags = options.in === 'node-relaxed' ? ['--experimental-wasm-relaxed-simd'] : []
const execPath =
  options.in === 'node24' ? path.join(peers, 'node_modules/node/bin/node') : process.execPath
const packages = {
  'heed-wasm': path.join(build, 'web/package'),
  'heed-before': path.join(before, 'web/package')
}
let browser

/** What is needed of the other commit's build, where a page can fetch it. */
function copyBefore(from) {
  rmSync(before, { recursive: true, force: true })
  const files =
    kind === 'native'
      ? ['release/heed']
      : ['web/package', 'wasm/tests/bench_ops.wasm', 'wasm/tests/bench_ops_relaxed.wasm']
  for (const file of files)
    cpSync(path.resolve(from, file), path.join(before, file), { recursive: true })
}

function installPeers() {
  mkdirSync(peers, { recursive: true })
  const missing = versions[kind].filter(
    (name) => !existsSync(path.join(peers, 'node_modules', name.slice(0, name.lastIndexOf('@'))))
  )
  /* onnxruntime-node would fetch libraries for CUDA, which no job here uses. */
  const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' }
  if (missing.length)
    execFileSync('npm', ['install', '--prefix', peers, '--no-audit', '--no-fund', ...missing], {
      stdio: ['ignore', 2, 2],
      env
    })
}

/** A process that answers a turn with { times, cpu } in milliseconds. */
async function startContender(engine, job, threads) {
  if (browser) return browser.start(engine, job, threads)
  const child = fork(
    path.join(here, 'contender.mjs'),
    [engine, job, threads, models, packages[engine] ?? '', peers],
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

/** heed as `from` has it, a folder build/. */
function startHeed(job, threads, from = build) {
  const shape = /_(\d+)x(\d+)x(\d+)$/.exec(job)?.slice(1)
  if (kind === 'wasm' && !shape)
    return startContender(from === build ? 'heed-wasm' : 'heed-before', job, threads)
  if (kind === 'wasm') {
    const [level, file] =
      options.in === 'node' ? ['wasm128', 'bench_ops.wasm'] : ['relaxed', 'bench_ops_relaxed.wasm']
    const program = path.join(from, 'wasm/tests', file),
      args = [level, '1', '1', ...shape]
    const run = browser
      ? () => browser.run(program, args)
      : async () =>
          (
            await promisify(execFile)(execPath, [
              ...flags,
              path.join(here, 'run_bench.mjs'),
              program,
              ...args
            ])
          ).stdout
    return {
      engine: 'heed',
      ready: { info: { device: `WASM ${level}` } },
      stop() {},
      turn: async () => readProgram(await run())
    }
  }
  const what = shape
    ? [
        '--op',
        job.split('_')[0],
        '--shape',
        job.startsWith('linear')
          ? shape.join(',')
          : `1,${shape[0]},${shape[1]},${shape[1]},${shape[2]}`
      ]
    : [path.join(models, modelOf(job)), ...(job.endsWith('_maps') ? ['--maps'] : [])]
  const program = startProgram(
    'heed',
    path.join(from, 'release/heed'),
    (runs) => [
      'bench',
      ...what,
      '--backend',
      'cpu',
      '--threads',
      threads,
      '--runs',
      String(runs),
      '--json'
    ],
    (text) => {
      const found = JSON.parse(text)
      return {
        times: [found.min_ms, found.median_ms, found.median_ms],
        cpu: found.cpu_ms,
        gflop: found.gflop
      }
    }
  )
  if (!shape && from === build) program.ready.output = evaluate(job, threads)
  return program
}

/** The model's output for the pixels that the peers get, by `heed eval`. */
function evaluate(job, threads) {
  const { shape, values } = pixelsOf(job),
    given = path.join(models, 'pixel_values.safetensors'),
    out = path.join(models, 'output.safetensors')
  writeSafetensors(given, { pixel_values: [shape, values] })
  const model = path.join(models, modelOf(job)),
    cpu = ['--backend', 'cpu', '--threads', threads, '--taps', 'none']
  execFileSync(path.join(build, 'release/heed'), ['eval', model, given, '-o', out, ...cpu], {
    stdio: ['ignore', 2, 2]
  })
  return Array.from(readSafetensors(out)[vits[modelOf(job)].output])
}

/** ncnn's program on a ViT; null where there is none, or for other jobs. */
function startNcnn(job, threads) {
  const name = { vit_ti: 'Ti', vit_s: 'S', vit_b: 'B' }[job]
  if (kind !== 'native' || !existsSync(options.ncnn) || !name) return null
  const args = (runs, milliseconds) => [
    path.join(path.dirname(options.ncnn), `${name}.param`),
    '224',
    '224',
    threads,
    '-1',
    '0',
    String(milliseconds / 1000)
  ]
  return startProgram('ncnn', options.ncnn, args, (text) => {
    const [, median, least] = /median ([\d.]+) ms +min ([\d.]+)/.exec(text)
    return { times: [least, median, median].map(Number), cpu: null }
  })
}

const sorted = (numbers) => [...numbers].sort((a, b) => a - b)
const median = (numbers) => sorted(numbers)[numbers.length >> 1]

function summary(turns) {
  const cpu = turns.map((t) => t.cpu).filter((ms) => ms)
  return {
    min: Math.min(...turns.flatMap((t) => t.times)),
    median: median(turns.flatMap((t) => t.times)),
    cpu: cpu.length ? Math.min(...cpu) : null,
    ceiling: Math.max(0, ...turns.map((t) => t.ceiling ?? 0)) || null,
    gflop: turns[0].gflop ?? null
  }
}

/** The least runs of a turn. */
const turnRuns = (job) =>
  !vits[modelOf(job)] ? 50 : vits[modelOf(job)].width * vits[modelOf(job)].side > 384 * 224 ? 5 : 15

async function compare(job, threads, rounds) {
  const contenders = [
    await startHeed(job, threads),
    await startContender(kind === 'wasm' ? 'ort-web' : 'ort-node', job, threads)
  ]
  if (options.before)
    contenders.push({ ...(await startHeed(job, threads, before)), engine: 'heed before' })
  const ncnn = startNcnn(job, threads)
  if (ncnn) contenders.push(ncnn)
  const turns = contenders.map(() => []),
    pause = () => new Promise((resolve) => setTimeout(resolve, 100))
  for (let round = -1; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      const turn = await contender.turn(
        turnRuns(job),
        round < 0 ? 4000 : 1000
      ) /* the first warms up */
      if (round >= 0) turns[i].push(turn)
      await pause()
    }
  }
  contenders.forEach((c) => c.stop())
  const [ours, theirs] = contenders.map((c) => c.ready.output),
    device = contenders[0].ready.info?.device
  const difference =
    ours && theirs ? ours.reduce((most, x, i) => Math.max(most, Math.abs(x - theirs[i])), 0) : null
  const [first, ...others] = contenders
    .slice(1)
    .map((c, i) => ({ name: c.engine, ...summary(turns[i + 1]) }))
  return {
    job,
    threads: Number(threads),
    heed: summary(turns[0]),
    peer: first,
    others,
    difference,
    device
  }
}

const flops = (job) => {
  const [, , a, b, c] = /^([a-z]+)_(\d+)x(\d+)x(\d+)$/.exec(job) ?? []
  if (!a) return { vit_ti: 2507366400, vit_s: 9197764608, vit_b: 35127656448 }[modelOf(job)]
  return job.startsWith('linear') ? 2 * a * b * c : 4 * a * b * b * c
}

function tell({ job, threads, heed, peer, others, difference, device }) {
  const ratio = (key, to = peer) => (heed[key] && to[key] ? (to[key] / heed[key]).toFixed(2) : '-')
  const figures = ({ min, median, cpu }) =>
    `${min.toFixed(2)} / ${median.toFixed(2)} / ${cpu?.toFixed(2) ?? '-'}`
  const rate = (heed.gflop ? heed.gflop * 1e9 : flops(job)) / heed.min / 1e6
  const rest = [
    device ?? '',
    difference === null ? '' : `outputs differ by ${difference.toExponential(1)}`,
    heed.ceiling ? `${Math.round((100 * rate) / heed.ceiling)} % of ${heed.ceiling} GFLOP/s` : ''
  ]
  for (const other of others)
    rest.push(
      `${other.name} ${figures(other)}, ratio ${ratio('min', other)} / ${ratio('median', other)}`
    )
  console.log(
    `| ${job} | ${threads} | ${figures(heed)} | ${figures(peer)} | ${ratio('min')} / ${ratio('median')} / ${ratio('cpu')} | ${rate ? rate.toFixed(1) : '-'} | ${rest.filter(Boolean).join('; ')} |`
  )
}

installPeers()
if (options.before) copyBefore(options.before)
if (kind === 'native' && !existsSync(options.ncnn))
  console.error(
    `ncnn is left out: ${options.ncnn ? `there is no ${options.ncnn}` : 'no program was given (--ncnn PROGRAM)'}`
  )
const bare = [
  ...attentions.map((s) => `attention_${s.join('x')}`),
  ...linears.map((s) => `linear_${s.join('x')}`)
]
const jobs = options.jobs?.split(',') ?? [...Object.keys(vits), ...bare]
if (options.in === 'chromium') browser = await startChromium(build)
writeFiles(
  models,
  jobs.filter((job) => vits[modelOf(job)])
)
const where = browser
  ? `Chromium ${browser.version}`
  : `Node ${execFileSync(execPath, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()}`
console.log(
  `${os.cpus()[0].model}, ${os.cpus().length} cores, load ${os.loadavg()[0].toFixed(1)}, ${where}, ${versions[kind]}`
)
console.log(
  'Milliseconds: least / median / least processor time (of all threads) a run; ratio = peer / heed.'
)
console.log(
  `| job | threads | heed | ${kind === 'wasm' ? 'onnxruntime-web' : 'onnxruntime-node'} | ratio | heed GFLOP/s | |\n| --- | --- | --- | --- | --- | --- | --- |`
)
const found = []
for (const threads of options.threads.split(','))
  for (const job of jobs) {
    if (kind === 'wasm' && !vits[modelOf(job)] && threads !== '1')
      continue /* bench_ops.wasm has one thread */
    found.push(await compare(job, threads, Number(options.rounds)))
    tell(found.at(-1))
  }
const file =
  options.json ??
  path.join(build, `bench/${kind}${options.in === 'node' ? '' : `-${options.in}`}.json`)
writeFileSync(
  file,
  JSON.stringify(
    {
      machine: os.cpus()[0].model,
      cores: os.cpus().length,
      load: os.loadavg(),
      where,
      peers: versions[kind],
      found
    },
    null,
    1
  )
)
console.error(`all figures: ${file}`)
await browser?.close()
process.exit(0)
