/* Chromium's GPU process is killed at some moment of opening, checking, loading, running and reading: the
 * results are right all the same, or the error is heed's; nothing hangs, is left uncaught or stands in the
 * console. Each moment has a browser of its own, as Chromium gives up on a GPU that crashes often.
 * HEED_SOAK: 20 moments, and 20 with two kills, else 5. */
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { serve } from '../../serve.js'
import { skip } from '../dawn.js'
import { packageFolder } from '../package.js'

if (!existsSync(join(packageFolder, 'heed-gpu.wasm')))
  skip('this package was built without glslang, so without WebGPU')
const folder = mkdtempSync(join(tmpdir(), 'heed-killed-')),
  executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync),
  isLong = process.env.HEED_SOAK !== undefined
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
/* Chromium brings its own driver; the lanes hide those of the machine. */
const env = /** @type {Record<string, string>} */ (
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VK_')))
)

/** Opens, checks, loads, runs, reads, runs again, and says when each began. @param {object} options */
async function everything(options) {
  const { createRuntime, HeedError } = await import(new URL('heed/index.js', location.href).href),
    { demoModel } = await import(new URL('heed/demo.js', location.href).href),
    phases = /** @type {[string, number][]} */ ([]),
    begin = performance.now(),
    enter = (/** @type {string} */ name) => phases.push([name, performance.now() - begin])
  try {
    enter('open and check')
    const runtime = await createRuntime({ threads: 1, ...options })
    enter('load')
    const model = await runtime.loadModel(demoModel),
      session = model.createSession({ taps: 'rows' }),
      { image } = await runtime.scene(159)
    await session.ready
    enter('run')
    const { logits, device } = await session.run(image)
    enter('read')
    const map = await session.attention({ layer: 1, head: 0 })
    enter('run again')
    const again = await session.run(image)
    enter('end')
    runtime.close()
    return {
      phases,
      numbers: [[...logits], [...map], [...again.logits]],
      devices: [device, again.device],
      why: again.why
    }
  } catch (error) {
    const { name, message, stack } = /** @type {Error} */ (error)
    return { phases, isHeed: error instanceof HeedError, error: `${name}: ${message}\n${stack}` }
  }
}

async function launch() {
  const browser = await chromium.launch({
      executablePath,
      env,
      args: ['--no-sandbox', '--no-first-run', '--enable-unsafe-webgpu']
    }),
    page = await browser.newPage(),
    said = /** @type {string[]} */ ([])
  page.on('console', (message) => said.push(message.text()))
  page.on('pageerror', (error) => said.push(String(error)))
  await page.goto(server.address)
  return { browser, page, said }
}

const onGpu = { device: 'webgpu', softwareAdapter: true }
/** Results in WebAssembly. @type {number[][]} */
let expected
/** Of a run that nothing disturbs. @type {[string, number][]} */
let phases

before(async () => {
  const { browser, page } = await launch()
  expected = /** @type {number[][]} */ ((await page.evaluate(everything, {})).numbers)
  const whole = await page.evaluate(everything, onGpu)
  assert.deepEqual(whole.devices, ['webgpu', 'webgpu'], whole.error ?? whole.why)
  phases = whole.phases
  console.log(phases.map(([name, at]) => `${name} ${at.toFixed(0)} ms`).join(', '))
  await browser.close()
})

/** Milliseconds from the beginning, spread over the phases. @param {number} count */
const momentsOf = (count) =>
  Array.from({ length: count }, (_, i) => {
    const each = phases.slice(0, -1),
      at = ((i + 0.5) * each.length) / count,
      [, start] = phases[Math.floor(at)],
      [, end] = phases[Math.floor(at) + 1]
    return { name: phases[Math.floor(at)][0], after: start + (at % 1) * (end - start) }
  })

/** @param {{name: string, after: number}} moment @param {number} kills */
async function killAt({ name, after }, kills) {
  const { browser, page, said } = await launch(),
    cdp = await browser.newBrowserCDPSession()
  let done = false
  const work = page.evaluate(everything, onGpu).finally(() => {
    done = true
  })
  await pause(after)
  for (let i = 0; i < kills && !done; i++) {
    await cdp.send(/** @type {any} */ ('Browser.crashGpuProcess')).catch(() => {}) // gone before it answers
    await pause(300)
  }
  const { numbers, isHeed, error, devices, why } = await work
  console.log(`${name} at ${after.toFixed(0)} ms: ${error ?? devices}; ${why}`)
  if (error) assert.ok(isHeed && !/reading failed/.test(error), error)
  numbers?.forEach((found, i) => {
    const off = found.reduce((most, value, k) => {
      const here = Math.abs(value - expected[i][k]) / (1 + Math.abs(expected[i][k]))
      return here <= most ? most : here
    }, 0)
    assert.ok(off <= 1e-4, `${['logits', 'a map', 'logits again'][i]}: ${off} away`)
  })
  assert.deepEqual(said, [])
  await browser.close()
}

for (const kills of isLong ? [1, 2] : [1])
  test(`killed ${kills} times`, { timeout: 3600000 }, async (t) => {
    for (const moment of momentsOf(isLong ? 20 : 5))
      await t.test(`${moment.name}, ${moment.after.toFixed(0)} ms`, { timeout: 240000 }, () =>
        killAt(moment, kills)
      )
  })
