/* After the first visit the pages work without a network; with threads asked for, a server that
 * isolates nothing does not keep them away. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from '../browser.js'
import { demoModel } from '../package.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser

before(async () => (browser = await startBrowser({ isolated: false })))
after(() => browser.close())

/** @param {TestPage} page */
const settled = (page) =>
  page.evaluate(async () => {
    await navigator.serviceWorker.ready
  })
/** @param {TestPage} page */
const withoutEnded = (page) => {
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
} // requests that a reload ended

test('offline after the first visit: the explorer runs, other pages open; threads stay as they were asked for', async () => {
  const page = await browser.open('#v=heads', { offline: true }),
    context = page.context(),
    caption = await page.textContent('#caption')
  await settled(page)
  await page.goto(`${browser.address}bench.html`)
  await page.waitForSelector('html[data-ready]')
  for (const wanted of [true, false]) {
    await Promise.all([page.waitForNavigation(), page.click('#threads')])
    await page.waitForSelector('html[data-ready]')
    assert.equal(await page.evaluate(() => crossOriginIsolated), wanted)
  }
  withoutEnded(page)
  await Promise.all([page.waitForNavigation(), page.click('#threads')])
  await page.waitForSelector('html[data-ready]')
  await browser.stop()
  for (const path of ['', 'learn', 'masks.html', 'embed.html']) {
    await page.goto(browser.address + path)
    await page.waitForSelector('html[data-ready]', { timeout: 60000 })
    assert.equal(await page.evaluate(() => crossOriginIsolated), true, path)
    if (path === '') assert.equal(await page.textContent('#caption'), caption)
  }
  /* They are kept deflated. */
  const weights = await page.evaluate(async () => {
    const answer = await fetch('heed/demo/model.safetensors')
    return [
      (await answer.arrayBuffer()).byteLength,
      Number(answer.headers.get('content-length')),
      (await fetch('heed/demo/model.safetensors.deflate')).status
    ]
  })
  assert.deepEqual(weights, [...new Array(2).fill(statSync(demoModel.weights).size), 200])
  withoutEnded(page)
  assert.equal(context.pages().length, 1)
  await finish(page)
})

test('of another language what the browser asks for is kept at once, the rest once a page of it was open', async () => {
  const own = await startBrowser({ isolated: false }),
    keptOf = (/** @type {TestPage} */ page) =>
      page.evaluate(async () => {
        const [name] = (await caches.keys()).filter((name) => /^heed-[0-9a-f]{16}$/.test(name)),
          all = (await (await caches.open(name)).keys()).map(({ url }) => url)
        return {
          ja: all.some((url) => url.endsWith('learn.ja.html')),
          zh: all.some((url) => url.endsWith('learn.zh.html')),
          scripts: all.filter((url) => /\/(ja|zh)-\w+\.js$/.test(url)).length
        }
      })
  try {
    const page = await own.open('', { offline: true, locale: 'ja-JP' })
    await settled(page)
    const first = await keptOf(page)
    assert.deepEqual([first.ja, first.zh], [true, false])
    await page.goto(`${own.address}masks.zh.html`)
    await page.waitForFunction(
      async () =>
        (await caches.match('learn.zh.html')) && document.documentElement.dataset.ready === 'true'
    )
    const then = await keptOf(page)
    assert.deepEqual([then.ja, then.zh], [true, true])
    assert.deepEqual([first.scripts, then.scripts], [1, 2])
    await own.stop()
    await page.goto(`${own.address}learn.zh.html`)
    await page.waitForSelector('html[lang=zh][data-ready]')
    withoutEnded(page)
    await finish(page)
  } finally {
    await own.close()
  }
})
