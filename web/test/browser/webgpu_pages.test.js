/* Pages that run the model on the GPU where a visitor asks for it: the explorer's switch, the bench page's
 * report, the element. The GPU is Chromium's software adapter, which `?software-adapter` allows. Nothing of
 * the GPU is fetched before, and nothing may be in the console. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, site, startBrowser, takePicture } from '../browser.js'
import { skip } from '../dawn.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

if (!existsSync(join(site, 'heed/heed-gpu.wasm')))
  skip('this package was built without glslang, so without WebGPU')
/* Chromium brings its own driver; the lanes hide those of the machine. */
for (const name of Object.keys(process.env)) if (name.startsWith('VK_')) delete process.env[name]

/** With WebGPU, on a software adapter. @type {TestBrowser} */
let browser
/** With WebGPU's entrance and no adapter. @type {TestBrowser} */
let bare
before(async () => {
  browser = await startBrowser({ flags: ['--enable-unsafe-webgpu'] })
  bare = await startBrowser()
})
after(async () => {
  await browser.close()
  await bare.close()
})

const ofGpu = /heed-gpu\.wasm|gpu-\w+\.deflate|\/gpu(_side)?-[^/]*\.js/
/** Files of the GPU that a server was asked for. @param {TestBrowser} browser */
const asked = (browser) => browser.asked.filter((file) => ofGpu.test(file))

/** @param {TestPage} page @param {string} id @param {RegExp} pattern */
const says = (page, id, { source }) =>
  page.waitForFunction(
    ([id, source]) => new RegExp(source).test(document.getElementById(id)?.textContent ?? ''),
    /** @type {[string, string]} */ ([id, source]),
    { timeout: 240000 }
  )

/** What the page saves as JSON. @param {TestPage} page */
async function saved(page) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-json')])
  return JSON.parse(await readFile(await download.path(), 'utf8'))
}

/** @param {number[]} found @param {number[]} expected */
const apart = (found, expected) =>
  found.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i])), 0)

/** Until the page's own copy for offline is there. @param {TestPage} page */
const untilKept = (page) =>
  page.evaluate(async () => {
    const { active, waiting, installing } = await navigator.serviceWorker.ready,
      worker = /** @type {ServiceWorker} */ (active ?? waiting ?? installing)
    while (worker.state !== 'activated') await new Promise((done) => setTimeout(done, 20))
  })

test('no page fetches anything of the GPU unasked, nor does its copy for offline', async () => {
  for (const path of ['#v=heads', 'bench.html', 'embed.html']) {
    const page = await browser.open(path, { offline: true })
    await untilKept(page)
    assert.deepEqual(asked(browser), [], path)
    await finish(page)
  }
  assert.ok(browser.asked.some((file) => /heed-relaxed\.wasm|heed\.wasm/.test(file)))
})

test('the explorer on the GPU and back, with both times', { timeout: 600000 }, async () => {
  const page = await browser.open('?software-adapter#v=heads&l=2&h=1&q=3.9'),
    onCpu = await saved(page)
  assert.equal(onCpu.backend, 'cpu')
  await page.click('[data-device=webgpu]')
  await says(page, 'ran-on', /^GPU: [\d.,]+ ms\. WebAssembly: [\d.,]+ ms\.$/)
  assert.match(String(await page.textContent('#machine')), /^WebGPU: .*swiftshader/i)
  assert.match(String(await page.getAttribute('#machine', 'data-why')), /^self-check passed/)
  assert.equal(await page.getAttribute('[data-device=webgpu]', 'aria-pressed'), 'true')
  await takePicture(page, 'webgpu-explorer')
  assert.match(page.url(), /l=2&h=1&q=3[.]9/)
  const onGpu = await saved(page)
  assert.equal(onGpu.backend, 'webgpu')
  assert.match(onGpu.device, /^WebGPU: /)
  const [a, b] = [onGpu, onCpu].map(({ results }) => results[0])
  assert.ok(apart(a.logits, b.logits) <= 1e-4, `${apart(a.logits, b.logits)}`)
  assert.ok(apart(a.rollout, b.rollout) <= 1e-4, `${apart(a.rollout, b.rollout)}`)
  assert.ok(apart(a.logits, b.logits) > 0, 'another device has other roundings')
  await page.click('#another') // another picture runs there too
  await page.waitForFunction(
    (before) => document.getElementById('took').textContent !== before,
    await page.textContent('#took')
  )
  assert.match(String(await page.textContent('#machine')), /^WebGPU: /)
  await page.click('[data-device=wasm]')
  await page.waitForFunction(() => /^WASM/.test(document.getElementById('machine').textContent))
  assert.equal((await saved(page)).backend, 'cpu')
  await finish(page)
})

test('what the GPU takes is kept for offline once it was asked for', async () => {
  const page = await browser.open('?software-adapter#v=heads', { offline: true })
  await untilKept(page)
  await page.reload()
  await page.waitForSelector('html[data-ready]')
  const kept = () =>
    page.evaluate(async () => {
      const names = ['heed/heed-gpu.wasm', 'heed/gpu-floor.deflate', 'heed/heed-gpu.js'],
        found = await Promise.all(names.map((name) => caches.match(new URL(name, location.href))))
      return found.map(Boolean)
    })
  assert.deepEqual(await kept(), [false, false, false])
  await page.click('[data-device=webgpu]')
  await says(page, 'ran-on', /^GPU: /)
  assert.deepEqual(await kept(), [true, true, false])
  await finish(page)
})

test('a software adapter is refused with its reason in each language', async () => {
  for (const [path, said] of /** @type {[string, RegExp][]} */ ([
    ['', /^Not on the GPU: the GPU is software \(.*swiftshader.*\), which is slower\. The model/i],
    ['index.ja.html', /^GPU では実行できません：GPU はソフトウェア（.*swiftshader.*）/i],
    ['index.zh.html', /^未在 GPU 上运行：GPU 由软件模拟（.*swiftshader.*）/i]
  ])) {
    const page = await browser.open(`${path}#v=heads`)
    await page.click('[data-device=webgpu]')
    await says(page, 'ran-on', said)
    assert.match(String(await page.textContent('#machine')), /^WASM /)
    const { backend, device } = await saved(page)
    assert.equal(backend, 'cpu')
    assert.match(device, /^WASM /)
    await finish(page, `webgpu-refused${path.replace(/index|[.]html/g, '')}`)
  }
})

/** Presses the button of the report, and reads what it gives. @param {TestPage} page */
async function reportOf(page) {
  await page.fill('#runs', '3')
  await page.click('#devices-start')
  await page.waitForFunction(() => !document.getElementById('devices-report').hidden, undefined, {
    timeout: 240000
  })
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => {
      document.documentElement.dataset.copied = text
    }
  })
  const said = String(await page.textContent('#devices-said'))
  await page.click('#devices-copy')
  const copied = String(await page.getAttribute('html', 'data-copied'))
  assert.equal(copied, await page.inputValue('#devices-report'))
  return { said, report: JSON.parse(copied) }
}

test('the bench page’s report: adapter, self-check, both times', { timeout: 600000 }, async () => {
  const page = await browser.open('bench.html?software-adapter#devices'),
    { said, report } = await reportOf(page)
  assert.match(
    said,
    /^GPU: [\d.,]+ ms\. WebAssembly: [\d.,]+ ms\. Medians of 3 runs; logits within/
  )
  const { adapter, tier, selfCheck, wasm, webgpu, environment } = report
  assert.equal(adapter.vendor, 'google')
  assert.ok(adapter.limits.maxStorageBuffersPerShaderStage >= 8)
  assert.ok(Array.isArray(adapter.features))
  assert.equal(tier, 'floor')
  assert.ok(selfCheck.maxError > 0 && selfCheck.maxError <= 1e-4, `${selfCheck.maxError}`)
  assert.match(selfCheck.worst, /^[a-z]/)
  for (const times of [wasm, webgpu]) {
    assert.equal(times.runs, 3)
    assert.ok(times.median > 0 && times.quartiles[0] <= times.median)
  }
  assert.match(wasm.device, /^WASM/)
  assert.match(webgpu.device, /^WebGPU: /)
  assert.ok(webgpu.logitsApart > 0 && webgpu.logitsApart <= 1e-4, `${webgpu.logitsApart}`)
  assert.match(environment.heed, /^\d/)
  await finish(page, 'webgpu-bench')
})

test('a report without an adapter, and with one that is refused', async () => {
  for (const [
    of,
    why,
    words,
    hasAdapter
  ] of /** @type {[TestBrowser, RegExp, RegExp, boolean][]} */ ([
    [bare, /^WebGPU has no adapter here$/, /^Not on the GPU: WebGPU finds no GPU here\./, false],
    [browser, /^the adapter is software/, /^Not on the GPU: the GPU is software/, true]
  ])) {
    const page = await of.open('bench.html'),
      { said, report } = await reportOf(page)
    assert.match(said, words)
    assert.match(report.why, why)
    assert.equal(report.adapter !== null, hasAdapter)
    assert.deepEqual([report.webgpu, report.tier, report.selfCheck], [null, null, null])
    assert.ok(report.wasm.median > 0)
    await finish(page)
  }
})

test('an <attention-map> on the GPU says where it ran', async () => {
  const page = await browser.open('embed.html')
  /** The next row that is drawn after the attributes are set. @param {Record<string, string>} attributes */
  const draw = (attributes) =>
    page.evaluate(async (attributes) => {
      const map = /** @type {HTMLElement} */ (document.querySelector('attention-map')),
        drawn = new Promise((done) => map.addEventListener('drawn', done, { once: true }))
      for (const [name, value] of Object.entries(attributes)) map.setAttribute(name, value)
      const { detail } = /** @type {CustomEvent} */ (await drawn)
      return { row: [...detail], device: map.dataset.device, why: map.dataset.why }
    }, attributes)
  const cpu = await draw({ layer: '1', head: '2' }),
    refused = await draw({ device: 'webgpu' }),
    gpu = await draw({ 'software-adapter': '' })
  assert.deepEqual([cpu.device, cpu.why], ['wasm', 'asked for'])
  assert.equal(refused.device, 'wasm')
  assert.match(String(refused.why), /^the adapter is software/)
  assert.equal(gpu.device, 'webgpu')
  assert.ok(apart(gpu.row, cpu.row) <= 1e-4 && apart(gpu.row, cpu.row) > 0)
  assert.equal(apart(refused.row, cpu.row), 0)
  await finish(page)
})
