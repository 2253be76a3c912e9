/* The jobs of the comparison, for Node and browsers alike: what an engine loads, what it is fed,
 * and how runs are timed. */

import { folderOf, modelOf, models } from './vit_models.mjs'

/** The same numbers in every engine: roughly normal, from a seed. */
export function numbers(count, seed) {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) / 16777216
  }
  return Float32Array.from({ length: count }, () => (next() + next() + next() + next() - 2) * 1.7)
}

const volume = (shape) => shape.reduce((a, b) => a * b)
/** The shape of a job's pixel_values, and the values. */
export function pixelsOf(job) {
  const { side } = models[modelOf(job)],
    shape = [1, 3, side, side]
  return { shape, values: numbers(volume(shape), 1) }
}

/** Wall-clock times of the runs, and the processor time of all threads a run (Node only): what
 * another process on the machine disturbs least, but with several threads it counts their waiting
 * too. */
export async function timeRuns(run, runs, milliseconds) {
  const usage = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const times = [],
    start = performance.now(),
    cpu = globalThis.process ? usage() : NaN
  while (times.length < runs || performance.now() - start < milliseconds) {
    const before = performance.now()
    await run()
    times.push(performance.now() - before)
  }
  return { times, cpu: globalThis.process ? (usage() - cpu) / times.length : null }
}

/** heed's package on a ViT; a job that ends in _maps asks for every attention map. */
export async function prepareHeed({ createRuntime }, job, threads, read) {
  const name = folderOf(job),
    { output, side } = models[modelOf(job)],
    maps = job.endsWith('_maps')
  const runtime = await createRuntime({ threads })
  if (runtime.info.threads !== threads) throw new Error(`heed: ${runtime.info.why}`)
  const model = await runtime.loadModel({
    weights: await read(`${name}/model.safetensors`),
    config: await read(`${name}/config.json`)
  })
  const taps = output !== 'logits' ? [output] : maps ? 'all' : 'none',
    session = model.createSession({ taps, height: side, width: side }),
    input = pixelsOf(job).values
  const run = () => session.run(input),
    { logits, values } = await run()
  return {
    run,
    output: Array.from(output === 'logits' ? (logits.data ?? logits) : values[output].data),
    info: runtime.info
  }
}

/** ONNX Runtime on a ViT or a bare operator. */
export async function prepareOrt(ort, job, options, read) {
  const session = await ort.InferenceSession.create(await read(`${job}.onnx`), options)
  const tensor = (shape, seed) => new ort.Tensor('float32', numbers(volume(shape), seed), shape)
  const shape = /_(\d+)x(\d+)x(\d+)$/.exec(job)?.slice(1).map(Number)
  let feeds = shape ? {} : { pixel_values: tensor(pixelsOf(job).shape, 1) }
  if (job.startsWith('attention'))
    feeds = {
      q: tensor([1, ...shape], 1),
      k: tensor([1, ...shape], 2),
      v: tensor([1, ...shape], 3)
    }
  if (job.startsWith('linear')) feeds = { a: tensor(shape.slice(0, 2), 1) }
  const run = () => session.run(feeds),
    first = await run()
  const output = first[models[modelOf(job)]?.output]
  return { run, output: output ? Array.from(output.data) : undefined }
}
