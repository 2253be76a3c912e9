/* How fast the runtime is here: the demo model with the scalar module, SIMD, and SIMD with threads. Runs of the kinds alternate, so that
 * what else the machine does falls on all of them; medians and quartiles. Nothing is sent. */
import { demoModel } from './heed/demo.js'
import { createRuntime } from './heed/index.js'
import { connectTheme } from './site.js'

const element = (id) => document.getElementById(id)
const kinds = { scalar: { simd: 'none', threads: 1 }, SIMD: { threads: 1 }, 'SIMD, threads': { threads: 'auto' } }
const warmUp = 2
/* Multiplications and additions of one run, twice each product: projections, scores, mixing, MLP and patches; from the model's shape. */
const flopsOf = ({ width: c, mlpWidth, layers, patch, channels }, { tokens: n }) => 2 * n * (layers * (4 * c * c + 2 * n * c + 2 * c * mlpWidth) + patch * patch * channels * c)
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
let measured = null

async function open([name, options]) {
  const runtime = await createRuntime(options), model = await runtime.loadModel(demoModel), session = model.createSession({ taps: 'none' }), shape = await session.ready
  return { name, runtime, model, session, shape, times: [] }
}

async function measure(runs) {
  const started = []
  try {
    for (const kind of Object.entries(kinds).filter(([name]) => crossOriginIsolated || name !== 'SIMD, threads')) started.push(await open(kind))
    const { image } = await started[0].runtime.scene(159)
    for (let run = -warmUp; run < runs; run++)
      for (const { session, times } of started) {
        const { milliseconds } = await session.run(image)
        if (run >= 0) times.push(milliseconds)
        element('said').textContent = `Run ${Math.max(0, run + 1)} of ${runs}`
      }
    return started.map(({ name, runtime, model, shape, times }) => {
      const sorted = [...times].sort((a, b) => a - b), median = quantile(sorted, 0.5)
      return { kind: name, device: runtime.info.device, median, quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)], runs, gflops: flopsOf(model.info, shape) / median / 1e6, version: runtime.info.version }
    })
  } finally {
    for (const { runtime } of started) runtime.close()
  }
}

function show(rows) {
  element('times').replaceChildren(...rows.map(({ device, median, quartiles, gflops }) => {
    const line = document.createElement('tr'), texts = [device, median.toFixed(1), `${quartiles[0].toFixed(1)} – ${quartiles[1].toFixed(1)}`, gflops.toFixed(1), `${(rows[0].median / median).toFixed(1)} ×`]
    line.append(...texts.map((textContent) => Object.assign(document.createElement('td'), { textContent })))
    return line
  }))
}

async function start() {
  element('start').disabled = true
  try {
    const rows = await measure(Number(element('runs').value))
    measured = { what: 'demo model, 224 x 224, one picture, milliseconds of the forward pass', rows, agent: navigator.userAgent, cores: navigator.hardwareConcurrency, isolated: crossOriginIsolated, when: new Date().toISOString() }
    show(rows)
    element('said').textContent = `${rows[0].runs} runs of each after ${warmUp} to warm up, in turn.`
    element('copy').disabled = false
  } catch (error) {
    element('said').textContent = error.message
  }
  element('start').disabled = false
}

const askedForThreads = async () => Boolean(await (await caches.open('heed-settings')).match(new URL('threads', location.href)))

/* The service worker that keeps the pages for offline adds the headers from then on, or no longer. */
async function switchThreads() {
  await navigator.serviceWorker.register('service_worker.js')
  const asked = await askedForThreads(), { active } = await navigator.serviceWorker.ready, { port1, port2 } = new MessageChannel()
  await new Promise((done) => {
    port1.onmessage = done
    active.postMessage({ threads: !asked }, [port2])
  })
  location.reload()
}

async function showIsolation() {
  const possible = 'serviceWorker' in navigator, asked = possible && (await askedForThreads())
  element('isolation').textContent = crossOriginIsolated ? `Threads are on: this page is cross-origin isolated${asked ? ', by a service worker' : ' by its server'}.`
    : 'Threads are off: the server sends no isolation headers. A service worker can add them for this site, in this browser.'
  element('threads').hidden = !possible || (crossOriginIsolated && !asked)
  element('threads').textContent = asked ? 'Turn threads off' : 'Turn threads on'
}

connectTheme(element('theme'))
element('start').addEventListener('click', start)
element('copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText(JSON.stringify(measured, null, 2))
  element('said').textContent = 'Copied.'
})
element('threads').addEventListener('click', () => switchThreads().catch((error) => (element('said').textContent = error.message)))
element('environment').textContent = `${navigator.hardwareConcurrency} cores, ${navigator.userAgent}`
await showIsolation()
document.documentElement.dataset.ready = 'true'
