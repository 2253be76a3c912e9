/* heed beside its peers on the same weights, by turns, each in a process of its own:
 *   node peers.mjs wasm|native [--in node|node-relaxed|node24|chromium] [--threads 1,2] [--jobs
 *   vit_ti,vit_s,vit_b,dinov2_s,clip_b,...] [--rounds N] [--json FILE] [--before BUILD] [--ncnn PROGRAM]
 * wasm: the npm package and bench_ops.wasm beside onnxruntime-web, in this Node, in this Node with
 * V8's flag for relaxed SIMD (Node 20 has it behind one), in npm's node@24 or in Chromium, each in
 * a page of its own: the last three with the kernels for relaxed SIMD; native: `heed bench` beside
 * onnxruntime-node. `./dev bench wasm` and `./dev bench peers` build what it needs and call it.
 * With --before, the heed of another commit takes its turns too: BUILD is the folder build/ of its
 * tree, with the same kind built there. Its ratio is its time to this heed's time.
 * With --quantised, 8 bits are compared instead: heed with int8 and with float weights, and
 * onnxruntime with both forms of quantised.mjs; native with one thread, also heed at the level avx2,
 * which has no dot product of bytes. The ratio is that of the faster of onnxruntime's forms.
 * native: with --ncnn (or HEED_BENCH_NCNN) ncnn's CPU takes its turns on the ViTs too, by
 * peer_ncnn.cpp, built by hand, or a program like it: called with FILE.param 224 224 THREADS -1 0
 * SECONDS, it has Ti.param, S.param and B.param in its folder and prints "median M ms  min X"; its
 * weights are its own, so only times are compared. The peers are installed from npm into
 * build/bench/peers, the models written to build/bench/models (vit_files.mjs). Prints a table and
 * writes all figures as JSON. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startChromium } from './chromium.mjs'
import { startContender, startHeed, startNcnn } from './start.mjs'
import { attentions, linears, writeFiles } from './vit_files.mjs'
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
    quantised: { type: 'boolean', default: false },
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

/* What start.mjs needs to know. */
const setup = {
  kind,
  place: options.in,
  ncnn: options.ncnn,
  build,
  models,
  before,
  peers,
  execPath,
  flags,
  browser: undefined
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

/** Each contender's figures: contenders take turns, the first of which warms up. */
async function takeTurns(contenders, job, rounds) {
  const turns = contenders.map(() => []),
    pause = () => new Promise((resolve) => setTimeout(resolve, 100))
  for (let round = -1; round < rounds; round++)
    for (const [i, contender] of contenders.entries()) {
      const turn = await contender.turn(turnRuns(job), round < 0 ? 4000 : 1000)
      if (round >= 0) turns[i].push(turn)
      await pause()
    }
  await Promise.all(contenders.map((c) => c.stop())) /* before the browser closes */
  return contenders.map(({ engine, ready }, i) => ({
    name: engine,
    device: ready.info?.device,
    output: ready.output,
    ...summary(turns[i])
  }))
}

const furthest = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0)
const ort = kind === 'wasm' ? 'ort-web' : 'ort-node'

async function compare(job, threads, rounds) {
  const contenders = [
    await startHeed(setup, job, threads),
    await startContender(setup, ort, job, threads)
  ]
  if (options.before)
    contenders.push({
      ...(await startHeed(setup, job, threads, { from: before })),
      engine: 'heed before'
    })
  const ncnn = startNcnn(setup, job, threads)
  if (ncnn) contenders.push(ncnn)
  const [heed, peer, ...others] = await takeTurns(contenders, job, rounds)
  const { device, output: ours } = heed,
    difference = ours && peer.output ? furthest(ours, peer.output) : null
  for (const each of [heed, peer, ...others]) delete each.output
  return { job, threads: Number(threads), heed, peer, others, difference, device }
}

/** 8 bits: outputs are compared with heed's floats. */
async function compareQuantised(job, threads, rounds) {
  const wanted = {
    int8: () => startHeed(setup, `${job}_int8`, threads),
    float: () => startHeed(setup, job, threads),
    s8: () => startContender(setup, ort, `${job}_s8`, threads),
    u7: () => startContender(setup, ort, `${job}_u7`, threads),
    ...(kind === 'native' &&
      threads === '1' && {
        avx2Int8: () => startHeed(setup, `${job}_int8`, threads, { simd: 'avx2' }),
        avx2Float: () => startHeed(setup, job, threads, { simd: 'avx2' })
      })
  }
  const contenders = []
  for (const start of Object.values(wanted)) contenders.push(await start())
  const taken = await takeTurns(contenders, job, rounds),
    found = Object.fromEntries(Object.keys(wanted).map((name, i) => [name, taken[i]])),
    floats = found.float.output
  const largest = furthest(
    floats,
    floats.map(() => 0)
  )
  for (const each of taken) {
    each.difference = furthest(each.output, floats)
    delete each.output
  }
  return { job, threads: Number(threads), largest, ...found }
}

const flops = (job) => {
  const [, , a, b, c] = /^([a-z]+)_(\d+)x(\d+)x(\d+)$/.exec(job) ?? []
  if (!a) return { vit_ti: 2507366400, vit_s: 9197764608, vit_b: 35127656448 }[modelOf(job)]
  return job.startsWith('linear') ? 2 * a * b * c : 4 * a * b * b * c
}

const figures = ({ min, median, cpu }) =>
  `${min.toFixed(2)} / ${median.toFixed(2)} / ${cpu?.toFixed(2) ?? '-'}`
const ratios = (ours, theirs, keys) =>
  keys
    .map((key) => (ours[key] && theirs[key] ? (theirs[key] / ours[key]).toFixed(2) : '-'))
    .join(' / ')

function tell({ job, threads, heed, peer, others, difference, device }) {
  const rate = (heed.gflop ? heed.gflop * 1e9 : flops(job)) / heed.min / 1e6
  const rest = [
    device ?? '',
    difference === null ? '' : `outputs differ by ${difference.toExponential(1)}`,
    heed.ceiling ? `${Math.round((100 * rate) / heed.ceiling)} % of ${heed.ceiling} GFLOP/s` : '',
    ...others.map(
      (other) => `${other.name} ${figures(other)}, ratio ${ratios(heed, other, ['min', 'median'])}`
    )
  ]
  console.log(
    `| ${job} | ${threads} | ${figures(heed)} | ${figures(peer)} | ${ratios(heed, peer, ['min', 'median', 'cpu'])} | ${rate ? rate.toFixed(1) : '-'} | ${rest.filter(Boolean).join('; ')} |`
  )
}

function tellQuantised({ job, threads, largest, int8, float, s8, u7, avx2Int8, avx2Float }) {
  const faster = s8.min < u7.min ? s8 : u7,
    differences = Object.entries({ int8, s8, u7, 'int8 avx2': avx2Int8 })
      .filter(([, found]) => found)
      .map(([name, { difference }]) => `${name} ${difference.toExponential(1)}`)
  const rest = [
    int8.device ?? '',
    `from heed's floats, of at most ${largest.toPrecision(2)}: ${differences.join(', ')}`,
    avx2Int8
      ? `avx2: int8 ${figures(avx2Int8)}, float ${figures(avx2Float)}, ratio ${ratios(avx2Int8, avx2Float, ['min', 'median', 'cpu'])}`
      : ''
  ]
  console.log(
    `| ${job} | ${threads} | ${figures(int8)} | ${figures(float)} | ${figures(s8)} | ${figures(u7)} | ${ratios(int8, faster, ['min', 'median', 'cpu'])} | ${ratios(int8, float, ['min'])} | ${rest.filter(Boolean).join('; ')} |`
  )
}

installPeers()
if (options.before) copyBefore(options.before)
if (kind === 'native' && !options.quantised && !existsSync(options.ncnn))
  console.error(
    `ncnn is left out: ${options.ncnn ? `there is no ${options.ncnn}` : 'no program was given (--ncnn PROGRAM)'}`
  )
const bare = [
  ...attentions.map((s) => `attention_${s.join('x')}`),
  ...linears.map((s) => `linear_${s.join('x')}`)
]
const jobs =
  options.jobs?.split(',') ??
  (options.quantised ? ['vit_ti', 'vit_s', 'vit_b'] : [...Object.keys(vits), ...bare])
if (options.in === 'chromium') setup.browser = await startChromium(build)
const browser = setup.browser
writeFiles(
  models,
  jobs
    .filter((job) => vits[modelOf(job)])
    .flatMap((job) => (options.quantised ? [job, `${job}_int8`, `${job}_s8`, `${job}_u7`] : [job]))
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
const peer = kind === 'wasm' ? 'onnxruntime-web' : 'onnxruntime-node',
  columns = options.quantised
    ? ['heed int8', 'heed float', `${peer} s8`, `${peer} u7`, 'ratio to the faster', 'to float', '']
    : ['heed', peer, 'ratio', 'heed GFLOP/s', '']
console.log(
  `| job | threads | ${columns.join(' | ')} |\n| --- | --- | ${columns.map(() => '---').join(' | ')} |`
)
const [measure, show] = options.quantised ? [compareQuantised, tellQuantised] : [compare, tell],
  found = []
for (const threads of options.threads.split(','))
  for (const job of jobs) {
    if (kind === 'wasm' && !vits[modelOf(job)] && threads !== '1')
      continue /* bench_ops.wasm has one thread */
    found.push(await measure(job, threads, Number(options.rounds)))
    show(found.at(-1))
  }
const file =
  options.json ??
  path.join(
    build,
    `bench/${kind}${options.in === 'node' ? '' : `-${options.in}`}${options.quantised ? '-quantised' : ''}.json`
  )
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
