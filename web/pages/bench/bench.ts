/* How fast the runtime is here: ops and the demo model with SIMD, relaxed SIMD
 * where the package and the engine have it, and with threads, beside what the registers of one
 * thread can do and beside a baseline (bench_baseline.js). Runs of the kinds alternate, so that
 * what else the machine does falls on all of them; medians and quartiles. Nothing is sent. */
import { html } from 'lit-html'
import { element } from '../shared/elements.js'
import { fill } from '../shared/fill.js'
import '../shared/library.js'
import { createBaselines } from './bench_baseline.js'
import { showBars } from './bench_bars.js'
import { benchCases, opName } from './bench_cases.js'
import { connectDevices } from './bench_devices.js'
import { summary } from './bench_times.js'
import { demoModel } from '../heed/demo.js'
import { createRuntime } from '../heed/index.js'
import { say } from '../languages/say.js'
import { fixed, percentSign } from '../plot/parts/numbers.js'
import { registerCeiling } from './register_ceiling.js'
import { allowed, connectTheme } from '../shared/page_settings.js'
import type { BenchEnvironment, BenchRow, Measured, Started } from '../shared/types.js'
import type { ModelInfo } from 'heed'

/** 2, 4, 8 … threads and as many as there are cores. */
const threadCounts = (cores: number) =>
  crossOriginIsolated && cores > 1
    ? [
        ...new Set([
          ...Array.from({ length: Math.floor(Math.log2(cores)) }, (_, i) => 2 << i),
          cores
        ])
      ]
    : []
const kinds: Record<string, { simd?: 'simd'; threads: number }> = {
  SIMD: { simd: 'simd', threads: 1 },
  'relaxed SIMD': { threads: 1 },
  ...Object.fromEntries(
    threadCounts(navigator.hardwareConcurrency ?? 1).map((threads) => [
      `${threads} threads`,
      { threads }
    ])
  )
}
const warmUp = 2,
  opRuns = 5
/** Multiplications and additions of one run, twice each product: projections, scores, mixing, MLP
 * and patches; from the model's shape. */
const flopsOf = (
  { width: c, mlpWidth, layers, patch, channels }: ModelInfo,
  { tokens: n }: { tokens: number }
) => 2 * n * (layers * (4 * c * c + 2 * n * c + 2 * c * mlpWidth) + patch * patch * channels * c)
const report = (text: string) => (element('said').textContent = text)
let measured = null as Measured | null,
  stopped = false

/* Between runs: someone pressed Stop. */
function goOn() {
  if (stopped) throw new Error(say('bench.stopped'))
}

/** A kind that this page has, or null. */
async function open(name: string): Promise<Started | null> {
  const runtime = await createRuntime(kinds[name]),
    close = () => runtime.close()
  if (
    (name === 'relaxed SIMD' && runtime.info.simd !== 'relaxed') ||
    runtime.info.threads !== kinds[name].threads
  )
    return close() ?? null
  const model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'none' }),
    shape = await session.ready
  return { name, runtime, close, model, session, shape, times: [], ops: [] }
}

async function measureModel(started: Started[], runs: number) {
  const { image } = await started[0].runtime.scene(159)
  for (let run = -warmUp; run < runs; run++)
    for (const { session, times } of started) {
      goOn()
      const { milliseconds } = await session.run(image)
      if (run >= 0) times.push(milliseconds)
      report(say('bench.modelRun', { run: Math.max(0, run + 1), runs }))
    }
}

async function measureOps(started: Started[]) {
  const cases = await benchCases()
  for (const [i, { name, bytes }] of cases.entries()) {
    const times = started.map(() => [] as number[])
    for (let run = -1; run < opRuns; run++)
      for (const [k, { runtime }] of started.entries()) {
        goOn()
        const before = performance.now()
        await runtime.check(bytes, { results: true })
        if (run >= 0) times[k].push(performance.now() - before)
      }
    for (const [k, { ops }] of started.entries())
      ops.push({
        op: name,
        ...summary(times[k]),
        gflops: cases[i].flops ? cases[i].flops / summary(times[k]).median / 1e6 : null
      })
    report(say('bench.opNow', { op: opName(name) }))
  }
}

async function measure(runs: number): Promise<BenchRow[]> {
  report(say('bench.measuringPeak'))
  const ceilings = Object.fromEntries(
    await (async () => {
      const found = []
      for (const kind of ['simd', 'relaxed']) found.push([kind, await registerCeiling(kind)])
      return found
    })()
  )
  const started: (Started | null)[] = []
  try {
    for (const name of Object.keys(kinds)) {
      goOn()
      started.push(await open(name))
    }
    const able = started.filter(Boolean) as Started[]
    await measureModel(able, runs)
    await measureOps(able)
    return able.map(({ name, runtime: { info }, model, shape, times, ops }) => {
      const ceiling = ceilings[info.simd] * info.threads,
        timing = summary(times),
        gflops = flopsOf(model.info, shape) / timing.median / 1e6
      return {
        kind: name,
        device: info.device,
        simd: info.simd,
        threads: info.threads,
        version: info.version,
        ceiling,
        model: { ...timing, gflops, share: gflops / ceiling },
        ops
      }
    })
  } finally {
    for (const one of started) one?.close()
  }
}

const tenths = (time: number) => fixed(time, 1),
  between = (quartiles: number[]) => quartiles.map(tenths).join(' – ')

/** Median, and below it quartiles and GFLOP/s. */
const opCell = ({ median, quartiles, gflops }: BenchRow['ops'][0]) =>
  html`<td>${tenths(median)}<small>${between(quartiles) + (gflops ? `; ${tenths(gflops)} GFLOP/s` : '')}</small></td>`

const nothing = '–'

/** The name of a kind as people read it; results have the key. */
const kindName = (kind: string) =>
  kind.replace(/^(\d+) threads$/, (_, count) => say('bench.threads', { count }))

/* What was measured beside the baseline, a line a kind; before that, the baseline alone. */
function show() {
  const rows = measured?.rows ?? [],
    base = baselines.chosen(),
    slowest = rows[0]?.model.median
  const find = (from: BenchRow[], kind: string) => from.find((row) => row.kind === kind),
    names = [...new Set([...rows, ...base.rows].map(({ kind }) => kind))]
  showBars(element('bars'), rows, base.rows, kindName)
  element('model-times').classList.toggle('unmeasured', !rows.length)
  fill(
    element('times'),
    names.map((name) => {
      const row = find(rows, name),
        other = find(base.rows, name)?.model.median
      const own = row
        ? [
            tenths(row.model.median),
            between(row.model.quartiles),
            row.model.runs,
            tenths(row.model.gflops),
            tenths(row.ceiling),
            fixed(100 * row.model.share, 0) + percentSign,
            `${tenths(slowest / row.model.median)} ×`
          ]
        : Array(7).fill(nothing)
      const cells = [
        kindName(name),
        ...own,
        other === undefined ? nothing : tenths(other),
        row && other ? `${fixed(other / row.model.median, 2)} ×` : nothing
      ]
      return html`<tr>${cells.map((text) => html`<td>${text}</td>`)}</tr>`
    })
  )
  const shown = rows.length ? rows : base.rows
  const count = shown[0].ops[0].runs
  element('op-caption').textContent = rows.length
    ? say('bench.opsOfHere', { count })
    : say('bench.opsOfBaseline', { count })
  fill(
    element('op-kinds'),
    [say('bench.op'), ...shown.map(({ kind }) => kindName(kind))].map(
      (text) => html`<th scope="col">${text}</th>`
    )
  )
  fill(
    element('op-times'),
    shown[0].ops.map(
      ({ op }, i) => html`<tr><td>${opName(op)}</td>${shown.map(({ ops }) => opCell(ops[i]))}</tr>`
    )
  )
  for (const table of document.querySelectorAll('.measured')) nameCells(table as HTMLTableElement)
  element('baseline-said').textContent = base.machine
}

/* Each cell has its column's name, which stands before it where a row is a block: on a phone. */
function nameCells(table: HTMLTableElement) {
  const names = Array.from(table.tHead?.rows[0].cells ?? [], ({ textContent }) => textContent)
  for (const row of table.tBodies[0].rows)
    for (const [i, cell] of [...row.cells].entries()) cell.dataset.of = names[i] ?? ''
}

async function start() {
  if (element('start').textContent === say('bench.stop')) return (stopped = true)
  element('start').textContent = say('bench.stop')
  stopped = false
  try {
    const rows = await measure(Number(element('runs').value))
    measured = {
      what: 'milliseconds: the demo model, 224 x 224, one picture, forward pass alone; ops with the copies around them. ceiling: GFLOP/s of multiply-add in registers, times threads',
      rows,
      environment: environment(rows),
      when: new Date().toISOString()
    }
    show()
    showEnvironment(rows)
    const hasRelaxed = rows.some(({ kind }) => kind === 'relaxed SIMD'),
      hasThreads = rows.some(({ threads }) => threads > 1)
    report(
      say('bench.done', { runs: rows[0].model.runs, opRuns }) +
        (hasRelaxed ? '' : say('bench.noRelaxed')) +
        (hasThreads ? '' : say('bench.noThreads'))
    )
    element('copy').disabled = element('keep').disabled = false
    document.documentElement.dataset.measured = 'true'
  } catch (error) {
    report((error as Error).message)
  }
  element('start').textContent = say('bench.measure')
}

const environment = (rows: BenchRow[]): BenchEnvironment => ({
  agent: navigator.userAgent,
  cores: navigator.hardwareConcurrency,
  memory: navigator.deviceMemory ?? null,
  isolated: crossOriginIsolated,
  heed: rows[0]?.version ?? null,
  devices: rows.map(({ device }) => device)
})

function showEnvironment(rows: BenchRow[]) {
  const { agent, cores, memory, isolated, heed, devices } = environment(rows)
  const parts = {
    [say('bench.browser')]: agent,
    [say('bench.cores')]: cores,
    [say('bench.memory')]: memory && `${memory} GB`,
    [say('bench.threadsPossible')]: isolated ? say('bench.isolated') : say('bench.notIsolated'),
    heed,
    [say('bench.modules')]: devices.join('; ')
  }
  fill(
    element('environment'),
    Object.entries(parts)
      .filter(([, what]) => what)
      .map(([name, what]) => html`<dt>${name}</dt><dd>${what}</dd>`)
  )
}

const askedForThreads = async () =>
  Boolean(await (await caches.open('heed-settings')).match(new URL('threads', location.href)))

/* The service worker that keeps the pages for offline adds the headers from then on, or no
 * longer. */
async function switchThreads() {
  await navigator.serviceWorker.register('service_worker.js')
  const asked = await askedForThreads(),
    { active } = await navigator.serviceWorker.ready,
    { port1, port2 } = new MessageChannel()
  await new Promise((done) => {
    port1.onmessage = done
    active?.postMessage({ threads: !asked }, [port2])
  })
  /* One that is still being activated may not answer the reload. */
  while (active?.state === 'activating')
    await new Promise((done) => active.addEventListener('statechange', done, { once: true }))
  location.reload()
}

async function showIsolation() {
  const possible = Boolean(allowed(() => navigator.serviceWorker) && allowed(() => caches)),
    asked = possible && (await askedForThreads())
  element('isolation').textContent = crossOriginIsolated
    ? asked
      ? say('bench.threadsOnWorker')
      : say('bench.threadsOn')
    : possible
      ? say('bench.threadsOffPossible')
      : say('bench.threadsOff')
  element('offline').textContent = allowed(() => navigator.serviceWorker)
    ? say('bench.offline')
    : say('bench.offlineNot')
  element('threads').hidden = !possible || (crossOriginIsolated && !asked)
  element('threads').textContent = asked ? say('bench.turnThreadsOff') : say('bench.turnThreadsOn')
}

connectTheme(element('theme'))
connectDevices()
element('start').addEventListener('click', start)
element('copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText(JSON.stringify(measured, null, 2))
  report(say('bench.copied'))
})
element('keep').addEventListener('click', () => {
  baselines.keep(measured as Measured)
  report(say('bench.kept'))
})
element('threads').addEventListener('click', () =>
  switchThreads().catch((error) => report(error.message))
)
const baselines = await createBaselines(element('baseline'), show)
show()
showEnvironment([])
await showIsolation()
document.documentElement.dataset.ready = 'true'
