/* WebGPU in Chromium, on its software adapter: a runtime in its worker and one in the page's thread, the
 * self-check, the demo with all maps, what a page without WebGPU says. Nothing may be in the console. */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { chromium } from 'playwright-core'
import { serve } from '../../serve.js'
import { skip } from '../dawn.js'
import { packageFolder } from '../package.js'

if (!existsSync(join(packageFolder, 'heed-gpu.wasm')))
  skip('this package was built without glslang, so without WebGPU')
const folder = mkdtempSync(join(tmpdir(), 'heed-webgpu-')),
  executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)
cpSync(packageFolder, join(folder, 'heed'), { recursive: true })
writeFileSync(
  join(folder, 'index.html'),
  '<!doctype html><title>heed</title><link rel="icon" href="data:,">'
)
const server = await serve(folder, { isolated: true })
after(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

/** The demo's logits and maps in WebAssembly and on the GPU, in a page. @param {boolean} worker */
async function compare(worker) {
  const { createRuntime } = await import(new URL('heed/index.js', location.href).href),
    { demoModel } = await import(new URL('heed/demo.js', location.href).href)
  /** @param {object} options */
  async function run(options) {
    const runtime = await createRuntime({ threads: 1, ...options }),
      model = await runtime.loadModel(demoModel),
      session = model.createSession({ taps: 'all' }),
      { device, why } = await session.ready,
      { image } = await runtime.scene(159),
      { logits, attention } = await session.run(image),
      row = await session.attention({ layer: 1, head: 0, query: 3 })
    runtime.close()
    return { device, why, info: runtime.info, numbers: [logits, ...attention, row] }
  }
  const a = await run({ worker, device: 'webgpu', softwareAdapter: true }),
    b = await run({ worker })
  let worst = 0
  a.numbers.forEach((/** @type {Float32Array} */ found, /** @type {number} */ i) => {
    found.forEach((value, k) => {
      const expected = b.numbers[i][k],
        off = Math.abs(value - expected) / (1 + Math.abs(expected))
      worst = off <= worst ? worst : off
    })
  })
  return { device: a.device, why: a.why, info: a.info, worst }
}

/* Chromium brings its own driver; the lanes hide those of the machine. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('VK_'))
)

/** @param {string[]} flags */
async function launch(flags) {
  const browser = await chromium.launch({
      executablePath,
      env: /** @type {Record<string, string>} */ (env),
      args: ['--no-sandbox', '--no-first-run', ...flags]
    }),
    page = await browser.newPage(),
    said = /** @type {string[]} */ ([])
  page.on('console', (message) => said.push(message.text()))
  page.on('pageerror', (error) => said.push(String(error)))
  await page.goto(server.address)
  return { browser, page, said }
}

test('in a worker and in the page', { timeout: 600000 }, async () => {
  const { browser, page, said } = await launch(['--enable-unsafe-webgpu'])
  for (const worker of [true, false]) {
    const { device, why, info, worst } = await page.evaluate(compare, worker)
    assert.equal(device, 'webgpu', why)
    assert.match(info.device, /^WebGPU: /)
    assert.ok(worst <= 1e-4, `${worst} away`)
    console.log(`${info.device}, ${info.tier}: ${worst}`)
  }
  assert.deepEqual(said, [])
  await browser.close()
})

test('without an adapter a session runs in WebAssembly, and says why', async () => {
  const { browser, page, said } = await launch([])
  const { device, why, worst } = await page.evaluate(compare, true)
  assert.equal(device, 'wasm')
  assert.match(why, /^WebGPU has no adapter here$|^this browser has no WebGPU$/)
  assert.equal(worst, 0)
  assert.deepEqual(said, [])
  await browser.close()
})
