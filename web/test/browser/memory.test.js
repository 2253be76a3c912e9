/* What a closed model leaves behind: nothing. The memory of a page's process, as the system counts it,
 * after three ViT-B and the demo model again. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from '../browser.js'
import { randomVit } from '../random_vit.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser
/** @type {string} */
let folder
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heed-memory-'))
  browser = await startBrowser()
})
after(async () => {
  rmSync(folder, { recursive: true, force: true })
  await browser.close()
})

/**
 * MB that the renderers hold for themselves.
 * @param {TestPage} page
 */
async function memoryOf(page) {
  const session = await /** @type {any} */ (page.context().browser()).newBrowserCDPSession(),
    { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo
    .filter((/** @type {{type: string}} */ { type }) => type === 'renderer')
    .reduce((/** @type {number} */ sum, /** @type {{id: number}} */ { id }) => {
      const said = readFileSync(`/proc/${id}/smaps_rollup`, 'utf8')
      return (
        sum +
        Number(/** @type {RegExpExecArray} */ (/^Private_Dirty: +(\d+) kB/m.exec(said))[1]) / 1024
      )
    }, 0)
}

/**
 * Waits until the process holds less.
 * @param {TestPage} page
 * @param {number} most
 */
async function settles(page, most) {
  const until = Date.now() + 30000
  for (;;) {
    const found = await memoryOf(page)
    if (found <= most || Date.now() > until) return found
    await page.requestGC()
    await page.waitForFunction(() => new Promise((done) => setTimeout(() => done(true), 250)))
  }
}

test('three ViT-B and the demo model again: no more memory than before', async () => {
  const { weights, config, preprocessor } = randomVit(),
    files = Object.entries({
      'model.safetensors': weights,
      'config.json': config,
      'preprocessor_config.json': preprocessor
    }).map(([name, bytes]) => {
      writeFileSync(join(folder, name), bytes)
      return join(folder, name)
    }),
    page = await browser.open(),
    start = await memoryOf(page),
    open = []
  for (let i = 0; i < 3; i++) {
    await page.setInputFiles('#model-files', files)
    await page.waitForFunction(
      () =>
        /^12 layers, 12 heads/.test(document.getElementById('model-facts').textContent) &&
        !document.body.classList.contains('dim'),
      undefined,
      { timeout: 120000 }
    )
    open.push(await memoryOf(page))
    await page.click('#demo-model')
    await page.waitForFunction(
      () =>
        /^5 layers/.test(document.getElementById('model-facts').textContent) &&
        !document.body.classList.contains('dim')
    )
  }
  const end = await settles(page, start + 60)
  const said = `${Math.round(start)} MB at first, ${open.map(Math.round).join(', ')} with each model, ${Math.round(end)} MB at last`
  console.log(said)
  assert.ok(Math.min(...open) > start + 100, said)
  assert.ok(end <= start + 60, said)
  await finish(page)
})
