/* How long until the explorer shows a map on a slow telephone: Chromium held to slow 4G (1.6 Mbit/s
 * down, 0.75 up, 150 ms a round trip) and to a quarter of this machine's speed, nothing kept from
 * before. Two moments: the built-in picture (no script is needed for it), and the map
 * from the model in the page, whose 0.8 MB come over that line.
 *
 *   node tests/bench/first_map.mjs [RUNS] [SITE]        after ./dev web once, and npm ci
 */
import { createRequire } from 'node:module'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve } from '../../web/serve.js'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..'),
  [runs = '5', site = join(root, 'build/web/site')] = process.argv.slice(2)
const { chromium } = createRequire(join(root, 'web/test/package.json'))('playwright-core')
const executablePath =
  process.env.HEED_CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)
const slow4G = {
    offline: false,
    latency: 150,
    downloadThroughput: 1.6e6 / 8,
    uploadThroughput: 0.75e6 / 8
  },
  slower = 4

/* In the page, from before its first script: the picture's paint (Element Timing) and the page's
 * own map are reported by one call, so that nothing of the browser's driver runs in the page. */
function watch() {
  const ids = ['zoom-first'],
    painted = {}
  new MutationObserver(() => {
    for (const id of ids) document.getElementById(id)?.setAttribute('elementtiming', id)
  }).observe(document, { childList: true, subtree: true })
  new PerformanceObserver((list) => {
    for (const { identifier, renderTime } of list.getEntries()) painted[identifier] ??= renderTime
  }).observe({ type: 'element', buffered: true })
  const note = () => {
    if (document.documentElement?.dataset.ready !== 'true') return requestAnimationFrame(note)
    const live = performance.now()
    setTimeout(() =>
      globalThis.report(
        JSON.stringify({
          builtIn: Math.max(...ids.map((id) => painted[id] ?? Infinity)),
          live,
          bytes: [
            ...performance.getEntriesByType('navigation'),
            ...performance.getEntriesByType('resource')
          ].reduce((sum, { transferSize }) => sum + transferSize, 0)
        })
      )
    )
  }
  requestAnimationFrame(note)
}

/* Milliseconds from the start of the visit: when the built-in picture had been painted, when the
 * page's own map stood. */
async function visit(browser, address) {
  const page = await browser.newPage({
      viewport: { width: 360, height: 740 },
      serviceWorkers: 'block'
    }),
    protocol = await page.context().newCDPSession(page)
  await protocol.send('Network.enable')
  await protocol.send('Network.emulateNetworkConditions', slow4G)
  await protocol.send('Emulation.setCPUThrottlingRate', { rate: slower })
  await protocol.send('Runtime.enable')
  await protocol.send('Runtime.addBinding', { name: 'report' })
  await page.addInitScript(watch)
  const reported = new Promise((done) => protocol.once('Runtime.bindingCalled', done))
  await page.goto(address, { waitUntil: 'commit' })
  const { payload } = await reported
  await page.context().close()
  return JSON.parse(payload)
}

const server = await serve(site),
  browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-quic', '--no-first-run']
  }),
  all = []
for (let run = 0; run < Number(runs); run++) all.push(await visit(browser, server.address))
await browser.close()
server.close()
const middle = (name) =>
  [...all].sort((a, b) => a[name] - b[name])[Math.floor(all.length / 2)][name]
console.log(`slow 4G, processor ${slower} times slower, ${runs} visits, median:`)
console.log(
  `  built-in picture on the screen         ${(middle('builtIn') / 1000).toFixed(2)} s (bar 1 s)`
)
console.log(
  `  the map from the model in the page      ${(middle('live') / 1000).toFixed(2)} s (bar 6 s), after ${(middle('bytes') / 1e6).toFixed(2)} MB`
)
