/* What a page holds in memory, as the system counts it. */
import { readFileSync } from 'node:fs'
/** @import {TestPage} from './browser.js' */

/**
 * MB that the renderers hold for themselves.
 * @param {TestPage} page
 */
export async function memoryOf(page) {
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
 * Waits until the process holds less, at most 30 s.
 * @param {TestPage} page
 * @param {number} most
 */
export async function settles(page, most) {
  const until = Date.now() + 30000
  for (;;) {
    const found = await memoryOf(page)
    if (found <= most || Date.now() > until) return found
    await page.requestGC()
    await page.waitForFunction(() => new Promise((done) => setTimeout(() => done(true), 250)))
  }
}

/**
 * Opens files of a model of 12 layers, and waits until it has run. Resolves to the MB that it takes.
 * @param {TestPage} page
 * @param {string[]} files
 */
export async function openLarge(page, files) {
  await page.evaluate(() => {
    document.getElementById('model-facts').textContent = '' // of the model before
  })
  await page.setInputFiles('#model-files', files)
  await page.waitForFunction(
    () =>
      /^12 layers, 12 heads/.test(document.getElementById('model-facts').textContent) &&
      !document.body.classList.contains('dim'),
    undefined,
    { timeout: 300000 }
  )
  return memoryOf(page)
}

/** @param {TestPage} page */
export async function openDemo(page) {
  await page.click('#demo-model')
  await page.waitForFunction(
    () =>
      /^5 layers/.test(document.getElementById('model-facts').textContent) &&
      !document.body.classList.contains('dim')
  )
}
