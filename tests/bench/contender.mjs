/* One engine with one job in a process of its own, driven by messages: node contender.mjs ENGINE
 * JOB THREADS MODELS PACKAGE PEERS (forked by peers.mjs). Each message { runs, milliseconds } is
 * answered by { times, cpu }: at least `runs` runs, for as long as that. The first answer is {
 * ready: { load, output, info } }. ENGINE: heed-wasm, heed-before, ort-web, ort-node. JOB: vit_ti, vit_s_maps, dinov2_s,
 * attention_12x197x64, linear_197x768x3072. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { prepareHeed, prepareOrt, timeRuns } from './jobs.mjs'

const [engine, job, threads, models, heedPackage, peers] = process.argv.slice(2)
const read = async (file) => new Uint8Array(readFileSync(path.join(models, file)))
const require = createRequire(path.join(peers, 'index.js'))

async function prepare() {
  if (engine.startsWith('heed'))
    return prepareHeed(
      await import(pathToFileURL(path.join(heedPackage, 'index.js'))),
      job,
      Number(threads),
      read
    )
  if (engine === 'ort-node') {
    const options = {
      intraOpNumThreads: Number(threads),
      interOpNumThreads: 1,
      executionProviders: ['cpu']
    }
    return prepareOrt(require('onnxruntime-node'), job, options, read)
  }
  const ort = await import(
    pathToFileURL(path.join(peers, 'node_modules/onnxruntime-web/dist/ort.node.min.mjs'))
  )
  ort.env.wasm.numThreads = Number(threads)
  return prepareOrt(ort, job, { executionProviders: ['wasm'] }, read)
}

const begin = performance.now()
const { run, output, info } = await prepare()
process.on('message', async ({ runs, milliseconds }) =>
  process.send(await timeRuns(run, runs, milliseconds))
)
process.send({ ready: { load: performance.now() - begin, output, info } })
