/* WebGPU in Chromium on its software adapter:
 *   node webgpu.mjs cost [--runs 30]       with empty workgroups: a dispatch until it is done, a run from
 *                                          pixels to logits beside onnxruntime-web's, what a second run
 *                                          makes, and the page's longest task while ViT-B opens
 *   node webgpu.mjs peers [--runs 5]       ViT-Ti without and with all maps beside onnxruntime-web, by turns
 * The package is that of build/web; the peer comes from npm into build/bench/peers, and the models are
 * written to build/bench/models (vit_files.mjs). Prints one JSON. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { serve } from '../../web/serve.js'
import { writeFiles } from './vit_files.mjs'

const build = fileURLToPath(new URL('../../build', import.meta.url)),
  bench = path.join(build, 'bench'),
  peers = path.join(bench, 'peers'),
  peer = 'onnxruntime-web@1.30.0'
const {
  values: { runs },
  positionals: [what]
} = parseArgs({ allowPositionals: true, options: { runs: { type: 'string', default: '' } } })
const kinds = { cost: [['vit_ti', 'vit_b'], 30], peers: [['vit_ti', 'vit_ti_maps'], 5] }
if (!kinds[what]) throw new Error(`what to measure (found "${what}", expected cost or peers)`)
const [jobs, usual] = kinds[what],
  count = Number(runs) || usual

/* ------------------------------------------------------------------------------- in the page */

/** Counts calls of WebGPU in this thread; `calls.empty`: dispatches have no workgroups from then on. */
function watchCalls() {
  const calls = { empty: false }
  const wrap = (of, name, change = (given) => given) => {
    const own = of.prototype[name]
    of.prototype[name] = function (...given) {
      calls[name] = (calls[name] ?? 0) + 1
      return own.apply(this, change(given))
    }
  }
  wrap(GPUComputePassEncoder, 'dispatchWorkgroups', (given) => (calls.empty ? [0, 1, 1] : given))
  for (const name of ['createComputePipeline', 'createComputePipelineAsync', 'createBindGroup'])
    wrap(GPUDevice, name)
  wrap(GPUDevice, 'createBuffer')
  wrap(GPUQueue, 'submit')
  wrap(GPUQueue, 'writeBuffer')
  globalThis.calls = calls
}

/** One engine with one job in the page's own thread: a run, for its logits. */
async function prepare([engine, job]) {
  const { pixelsOf } = await import('/bench/jobs.mjs'),
    { shape, values } = pixelsOf(job),
    maps = job.endsWith('_maps')
  if (engine === 'onnxruntime-web') {
    const ort = await import('/bench/peers/node_modules/onnxruntime-web/dist/ort.webgpu.min.mjs')
    ort.env.wasm.numThreads = 1
    const session = await ort.InferenceSession.create(`/bench/models/${job}.onnx`, {
        executionProviders: ['webgpu']
      }),
      feeds = { pixel_values: new ort.Tensor('float32', values, shape) }
    globalThis.run = async () => [...(await session.run(feeds)).logits.data]
    return
  }
  const { createRuntime } = await import('/web/package/index.js'),
    runtime = await createRuntime({
      threads: 1,
      worker: false,
      device: 'webgpu',
      softwareAdapter: true
    }),
    model = await runtime.loadModel(
      new URL(`/bench/models/${job.replace('_maps', '')}/`, location.href)
    ),
    session = model.createSession({ taps: maps ? 'all' : 'none' }),
    { device, why } = await session.ready
  if (device !== 'webgpu') throw new Error(why)
  globalThis.run = async () => [...(await session.run(values)).logits]
}

/** Sorted milliseconds of runs. */
async function time(runs) {
  const times = []
  for (let i = 0; i < runs; i++) {
    const before = performance.now()
    await globalThis.run()
    times.push(performance.now() - before)
  }
  return times.sort((a, b) => a - b)
}

async function costOf(runs) {
  const { calls, run } = globalThis
  calls.empty = true
  const counts = () => {
    const found = { ...calls }
    for (const name of Object.keys(calls)) if (name !== 'empty') calls[name] = 0
    return found
  }
  await run()
  counts()
  await run()
  const second = counts(),
    times = []
  for (let i = 0; i < runs; i++) {
    const before = performance.now()
    await run()
    times.push(performance.now() - before)
  }
  times.sort((a, b) => a - b)
  return { second, least: times[0], median: times[runs >> 1] }
}

/** The page's longest task while ViT-B opens in a worker, as pages have it. */
async function openLarge() {
  let longest = 0
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
  }).observe({ type: 'longtask' })
  const { createRuntime } = await import('/web/package/index.js'),
    begin = performance.now(),
    runtime = await createRuntime({ device: 'webgpu', softwareAdapter: true }),
    opened = performance.now(),
    model = await runtime.loadModel(new URL('/bench/models/vit_b/', location.href)),
    { device, why, memory } = await model.createSession().ready
  if (device !== 'webgpu') throw new Error(why)
  const ready = performance.now(),
    { gpu } = await runtime.memory()
  await new Promise((done) => setTimeout(done, 500))
  runtime.close()
  const planned = memory.weights + memory.arena + memory.workspace
  return { longestTask: longest, start: opened - begin, load: ready - opened, gpu, planned }
}

/* --------------------------------------------------------------------------------- in Node */

mkdirSync(peers, { recursive: true })
if (!existsSync(path.join(peers, 'node_modules/onnxruntime-web')))
  execFileSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', peers, peer],
    { stdio: ['ignore', 2, 2] }
  )
writeFiles(path.join(bench, 'models'), jobs)
for (const name of ['jobs.mjs', 'vit_models.mjs'])
  copyFileSync(new URL(name, import.meta.url), path.join(bench, name))
writeFileSync(path.join(bench, 'page.html'), '<!doctype html><title>bench</title>')
const server = await serve(build),
  executablePath =
    process.env.HEED_CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)
/* Chromium brings its own driver. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^VK_/.test(name))),
  browser = await chromium.launch({
    executablePath,
    env,
    args: ['--no-sandbox', '--no-first-run', '--enable-unsafe-webgpu']
  })

async function open(engine, job) {
  const page = await browser.newPage()
  page.setDefaultTimeout(0)
  await page.goto(`${server.address}bench/page.html`)
  await page.evaluate(watchCalls)
  if (engine) await page.evaluate(prepare, [engine, job])
  return page
}

const engines = ['heed', 'onnxruntime-web']

async function cost() {
  const found = {}
  for (const engine of engines) {
    const page = await open(engine, 'vit_ti'),
      one = await page.evaluate(costOf, count)
    found[engine] = { ...one, perDispatch: one.median / one.second.dispatchWorkgroups }
    await page.context().close()
  }
  const page = await open()
  found.vit_b = await page.evaluate(openLarge)
  return { ...found, ratio: found.heed.median / found['onnxruntime-web'].median }
}

async function beside(job) {
  const pages = [],
    times = engines.map(() => []),
    outputs = []
  for (const engine of engines) pages.push(await open(engine, job))
  for (const [i, page] of pages.entries()) outputs[i] = await page.evaluate(() => globalThis.run())
  for (let round = 0; round < count; round++)
    for (const [i, page] of pages.entries()) times[i].push(...(await page.evaluate(time, 1)))
  for (const page of pages) await page.context().close()
  const [heed, ort] = times.map((all) => all.sort((a, b) => a - b)[all.length >> 1])
  return {
    ...Object.fromEntries(engines.map((engine, i) => [engine, times[i]])),
    ratio: ort / heed,
    apart: Math.max(...outputs[0].map((value, i) => Math.abs(value - outputs[1][i])))
  }
}

async function besideAll() {
  const found = {}
  for (const job of jobs) found[job] = await beside(job)
  return found
}

try {
  const found = await (what === 'cost' ? cost() : besideAll())
  console.log(JSON.stringify({ chromium: browser.version(), peer, ...found }, null, 1))
} finally {
  await browser.close()
  server.close()
}
