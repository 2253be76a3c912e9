/* The section on the GPU (bench.html#devices): the adapter, the self-check, and the demo model's times in
 * WebAssembly and on the GPU by turns, as JSON to copy into a report. Nothing is sent, and nothing of the
 * GPU is fetched before the button is pressed. */
import { element } from '../shared/elements.js'
import { demoModel } from '../heed/demo.js'
import { createRuntime } from '../heed/index.js'
import { reasonOf } from '../explorer/controls/machine_reason.js'
import { say } from '../languages/say.js'
import { fixed } from '../plot/parts/numbers.js'
import { onDevice, type Device } from '../shared/device.js'
import { summary } from './bench_times.js'
import type { RunResult } from 'heed'

const warmUp = 2

/** What the browser says of its adapter; null: it has none. */
async function adapterHere() {
  const adapter = await navigator.gpu
    ?.requestAdapter({ powerPreference: 'high-performance' })
    .catch(() => null)
  if (!adapter) return null
  const { info, features, limits } = adapter,
    { vendor, architecture, device, description, subgroupMinSize, subgroupMaxSize } = info,
    names = Object.keys(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(limits)))
  return {
    ...{ vendor, architecture, device, description, subgroupMinSize, subgroupMaxSize },
    isFallback: info.isFallbackAdapter,
    features: [...features].sort(),
    language: [...navigator.gpu.wgslLanguageFeatures].sort(),
    limits: Object.fromEntries(
      names.flatMap((name) => {
        const value = Reflect.get(limits, name)
        return typeof value === 'number' ? [[name, value]] : []
      })
    )
  }
}

async function open(device: Device) {
  const runtime = await createRuntime({ worker: true, ...onDevice(device) }),
    model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'none' })
  await session.ready
  return { runtime, session, times: [] as number[], last: null as RunResult | null }
}
type Opened = Awaited<ReturnType<typeof open>>

async function runByTurns(all: Opened[], runs: number, told: (run: number) => void) {
  const { image } = await all[0].runtime.scene(159)
  for (let run = -warmUp; run < runs; run++) {
    told(Math.max(0, run + 1))
    for (const one of all) {
      one.last = await one.session.run(image)
      if (run >= 0) one.times.push(one.last.milliseconds)
    }
  }
}

const largestApart = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0)

/** The report, with the sentence that says it. */
async function measure(runs: number, told: (text: string) => void) {
  const opened: Opened[] = []
  try {
    told(say('bench.devicesChecking'))
    for (const device of ['wasm', 'webgpu'] as const) opened.push(await open(device))
    await runByTurns(opened, runs, (run) => told(say('bench.devicesRun', { run, runs })))
    const [cpu, gpu] = opened,
      { info } = gpu.runtime,
      [a, b] = opened.map(({ last }) => (last as RunResult).logits as Float32Array),
      [wasm, webgpu] = opened.map(({ times }) => summary(times)),
      { why } = gpu.last as RunResult,
      onGpu = gpu.last?.device === 'webgpu'
    const report = {
      what: 'milliseconds: the demo model, 224 x 224, one picture, pixels to logits; WebAssembly and WebGPU by turns',
      adapter: /no adapter|no WebGPU|did not answer/.test(why) ? null : await adapterHere(),
      tier: info.tier,
      selfCheck: info.selfCheck,
      why,
      wasm: { device: cpu.runtime.info.device, ...wasm },
      webgpu: onGpu ? { device: info.device, ...webgpu, logitsApart: largestApart(a, b) } : null,
      environment: {
        agent: navigator.userAgent,
        cores: navigator.hardwareConcurrency,
        memory: navigator.deviceMemory ?? null,
        isolated: crossOriginIsolated,
        heed: info.version
      },
      when: new Date().toISOString()
    }
    const ms = { wasm: fixed(wasm.median, 1), gpu: fixed(webgpu.median, 1) }
    return {
      report,
      words: onGpu
        ? say('bench.devicesDone', { ...ms, runs, apart: largestApart(a, b).toExponential(0) })
        : say('bench.devicesNot', { ...ms, why: reasonOf(why) })
    }
  } finally {
    for (const { runtime } of opened) runtime.close()
  }
}

/** Connects the section's buttons. */
export function connectDevices() {
  const said = element('devices-said'),
    shown = element('devices-report'),
    start = element('devices-start'),
    copy = element('devices-copy'),
    told = (text: string) => (said.textContent = text)
  start.addEventListener('click', async () => {
    start.disabled = true
    try {
      const { report, words } = await measure(Number(element('runs').value), told)
      told(words)
      shown.value = JSON.stringify(report, null, 2)
      shown.hidden = copy.disabled = false
    } catch (error) {
      told((error as Error).message)
    }
    start.disabled = false
  })
  copy.addEventListener('click', async () => {
    shown.select()
    await navigator.clipboard.writeText(shown.value)
    told(`${said.textContent} ${say('bench.copied')}`)
  })
}
