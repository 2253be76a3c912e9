/* Camera and frames in Chromium with its own moving picture as the camera; regions that heads attend
 * to; tokens that are masked. Numbers beside those of the runtime in Node. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { finish, startBrowser, violations } from '../browser.js'
import { createRuntime, demoModel, explain } from '../package.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser
before(
  async () =>
    (browser = await startBrowser({ camera: true, flags: ['--use-fake-device-for-media-stream'] }))
)
after(() => browser.close())

/**
 * The text of the view once it fits.
 * @param {TestPage} page
 * @param {RegExp} pattern
 * @returns {Promise<RegExpExecArray>}
 */
async function said(page, pattern) {
  await page.waitForFunction(
    (source) => new RegExp(source).test(document.querySelector('#view')?.textContent ?? ''),
    pattern.source
  )
  return /** @type {RegExpExecArray} */ (
    pattern.exec(/** @type {string} */ (await page.textContent('#view')))
  )
}

test('the camera runs live from its dialog, in which axe finds no violation; a clip keeps twelve frames, a press opens one', async () => {
  const page = await browser.open('#v=heads', { permissions: ['camera'], bypassCSP: true })
  await page.click('#camera')
  await page.waitForSelector('#camera-dialog[open]')
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    await page.emulateMedia({ colorScheme })
    assert.deepEqual(await violations(page, '#camera-dialog'), [])
  }
  await page.click('#camera-live')
  const [, rate] = await said(page, /Camera: ([\d.]+) frames per second/)
  assert.ok(Number(rate) > 0)
  assert.equal(await page.locator('#samples [aria-pressed=true]').count(), 0)
  await page.click('#view [name=clip]')
  await said(page, /12 frames on one scale, to [\d.]+ × uniform/)
  assert.equal(await page.locator('#view .frames button').count(), 12)
  assert.ok(await page.isHidden('#view [name=stop]'))
  await page.locator('#view .frames button').nth(3).click()
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('Camera, frame 4: ')
  )
  await finish(page, 'explorer-frames')
})

test('without permission, and with a file that is no video, one sentence says what to do', async () => {
  const page = await browser.open('#v=more&more=frames')
  await page.click('#view [name=camera]')
  await page.waitForSelector('#error:not([hidden])')
  assert.equal(
    (await page.textContent('#error-text'))?.trim(),
    'The camera is not allowed for this page. Allow it in the browser’s settings for this site, or open a file.'
  )
  await page.setInputFiles('#view input[type=file]', {
    name: 'own.webm',
    mimeType: 'video/webm',
    buffer: Buffer.from('no video')
  })
  await page.waitForFunction(() =>
    document.getElementById('error-text').textContent?.startsWith('own.webm: this browser cannot')
  )
  await finish(page)
})

test('heads are ranked by their attention to the other twin, or to what is painted', async () => {
  const page = await browser.open('#v=more&more=region')
  await page.click('#view [name=twin]')
  const [, count, head, share] = await said(
      page,
      /(\d+) of 196 patches\. Head (\d\.\d) attends to them most: ([\d.]+) %/
    ),
    runtime = await createRuntime(),
    { image, twins, owner } = await runtime.scene(159),
    session = (await runtime.loadModel(demoModel)).createSession({ taps: 'all' }),
    { prefixTokens, columns } = await session.ready,
    query = 2 * columns + 10,
    other = twins?.find((twin) => twin !== owner[query]),
    region = [...owner.keys()].filter((patch) => owner[patch] === other)
  await session.run(image)
  const row = await session.attention({ layer: 3, head: 0, query: prefixTokens + query }),
    expected = region.reduce((sum, patch) => sum + row[prefixTokens + patch], 0)
  runtime.close()
  assert.equal(head, '3.0')
  assert.equal(Number(count), region.length)
  assert.ok(Math.abs(Number(share) - 100 * expected) < 0.06, `${share}, expected ${100 * expected}`)
  await page.click('#view [name=clear]')
  await said(page, /Nothing is painted yet/)
  await page.locator('#patches [aria-label^="row 0, column 0,"]').click({ force: true })
  await said(page, /1 of 196 patches\./)
  assert.equal(await page.locator('#region path').count(), 2)
  await page.selectOption('#view [name=of]', 'all')
  await said(page, /the mean of the patches outside/)
  await page.click('#view tbody button >> nth=0')
  await finish(page, 'explorer-region')
})

test('ablation: the loss is the runtime’s with the same patches masked as keys', async () => {
  const page = await browser.open('#v=more&more=ablation')
  await page.selectOption('#view [name=side]', '4')
  await page.click('#view [name=run]')
  const [, row, column, drop] = (
      await said(page, /Masking the square at patch \((\d+), (\d+)\) costs most: ([\d.]+) points/)
    ).map(Number),
    runtime = await createRuntime(),
    { image } = await runtime.scene(159),
    session = (await runtime.loadModel(demoModel)).createSession({ intervene: {} }),
    { tokens, prefixTokens, columns } = await session.ready,
    shares = async () =>
      explain.softmax(/** @type {Float32Array} */ ((await session.run(image)).logits)),
    whole = await shares(),
    best = whole.indexOf(Math.max(...whole)),
    mask = new Uint8Array(tokens).fill(1)
  for (let r = row; r < Math.min(14, row + 4); r++)
    for (let c = column; c < Math.min(14, column + 4); c++) mask[prefixTokens + r * columns + c] = 0
  await session.write('token_mask', mask)
  const expected = 100 * (whole[best] - (await shares())[best])
  runtime.close()
  assert.ok(Math.abs(drop - expected) < 0.06, `${drop}, expected ${expected}`)
  await finish(page, 'explorer-ablation')
})
