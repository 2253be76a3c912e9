/* The explorer where things are not as usual: links into a view, other models, no storage, no
 * scripts, many pictures. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from '../browser.js'
import { repository } from '../package.js'
import { writePng } from '../png.js'
import { bomb, npyHead } from '../zips.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser

before(async () => (browser = await startBrowser()))
after(() => browser.close())

/**
 * @param {TestPage} page
 * @param {string} id
 */
const text = (page, id) => /** @type {Promise<string>} */ (page.textContent(`#${id}`))
/**
 * @param {string} folder
 * @param {string[]} names
 */
const files = (folder, names) => names.map((name) => join(repository, folder, name))

test('a link into rollout finds its settings shown', async () => {
  const page = await browser.open('#v=rollout&i=1&j=3&e=0.4')
  await page.waitForFunction(() => document.querySelector('#view output').textContent !== '')
  assert.deepEqual(await page.locator('#view output').allTextContents(), ['1', '3', '0.4', '0'])
  assert.deepEqual(
    await page
      .locator('#view input')
      .evaluateAll((inputs) => inputs.map((/** @type {any} */ { value }) => value)),
    ['1', '3', '0.4', '0']
  )
  await finish(page)
})

test('a model with fewer layers and patches takes the place of the demo, and the demo comes back', async () => {
  const page = await browser.open('#l=4&h=3&q=13.13')
  await page.setInputFiles(
    '#model-files',
    files('tests/vectors/vit/micro_32', ['config.json', 'model.safetensors'])
  )
  await page.waitForSelector('#demo-model:not([hidden])', { timeout: 60000 })
  await page.waitForFunction(
    () => document.querySelectorAll('#patches [role=gridcell]').length < 196
  )
  const facts = await text(page, 'model-facts'),
    [, layers] = /** @type {RegExpMatchArray} */ (facts.match(/^(\d+) layers/))
  assert.ok(Number(layers) < 5, facts)
  assert.match(
    await text(page, 'stage-title'),
    new RegExp(`^Layer ${Number(layers) - 1}, head \\d: from patch`)
  )
  assert.equal(await page.locator('#error').isVisible(), false, await text(page, 'error-text'))
  await page.click('#demo-model')
  await page.waitForFunction(
    () => document.querySelectorAll('#patches [role=gridcell]').length === 196
  )
  assert.equal(await page.locator('#error').isVisible(), false, await text(page, 'error-text'))
  await finish(page)
})

test('refused every storage and service workers, as in a sandboxed frame, the page runs and changes its theme', async () => {
  const page = await browser.open('#v=heads', { ready: false })
  await page.addInitScript(() => {
    for (const [of, name] of [
      [window, 'localStorage'],
      [window, 'caches'],
      [navigator, 'serviceWorker']
    ])
      Object.defineProperty(of, /** @type {any} */ (name), {
        get() {
          throw new DOMException('denied', 'SecurityError')
        }
      })
  })
  await page.reload()
  await page.waitForSelector('html[data-ready]', { timeout: 60000 })
  await page.click('#theme')
  assert.equal(await page.getAttribute('html', 'data-theme'), 'dark')
  assert.match(await text(page, 'caption'), /38\.3 × uniform/)
  await page.goto(`${browser.address}bench.html`)
  await page.waitForSelector('html[data-ready]')
  assert.match(await text(page, 'offline'), /keeps no pages/)
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // requests that the reload ended
  await finish(page)
})

for (const width of [360, 1366])
  test(`without scripts the page is as wide as the window and says what is missing: ${width}`, async () => {
    const page = await browser.open('#v=heads', {
      javaScriptEnabled: false,
      ready: false,
      viewport: { width, height: 740 }
    })
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width)
    page.faults = page.faults.filter((fault) => !fault.endsWith('.js: csp')) // scripts that would come early
    assert.match(await page.locator('noscript').innerText(), /Enable JavaScript/)
    await finish(page, `explorer-no-script-${width}`)
  })

test('the heap is flat over 100 pictures', async () => {
  const page = await browser.open(),
    protocol = await page.context().newCDPSession(page)
  /** @param {number} count */
  const show = (count) =>
    page.evaluate(async (count) => {
      const buttons = document.querySelectorAll('#samples button'),
        status = document.getElementById('status')
      for (let i = 0; i < count; i++) {
        const button = buttons[i % buttons.length]
        status.textContent = ''
        button.click()
        while (!status.textContent.startsWith(button.title.split(':')[0]))
          await new Promise((done) => setTimeout(done, 5))
      }
    }, count)
  const used = async () => {
    await protocol.send('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize = 0 } = await protocol.send('Runtime.getHeapUsage')
    return usedSize + backingStorageSize
  }
  await show(10)
  const first = await used()
  await show(100)
  let last = await used()
  for (let i = 0; i < 10 && last - first >= 1e6; i++) {
    // what a worker's message held is freed some time after it is garbage
    await page.waitForTimeout(300)
    last = await used()
  }
  assert.ok(last - first < 1e6, `${first} bytes after 10 pictures, ${last} after 110`)
  await finish(page)
})

/**
 * The largest size that the page's process has had, in bytes, since the last time that it was asked
 * for, and its processor time, in ms.
 * @param {TestPage} page
 */
async function watchSize(page) {
  const protocol = await /** @type {any} */ (page.context().browser()).newBrowserCDPSession(),
    ofRenderers = async () =>
      /** @type {any[]} */ ((await protocol.send('SystemInfo.getProcessInfo')).processInfo).filter(
        ({ type }) => type === 'renderer'
      )
  const renderers = (await ofRenderers()).map(({ id }) => id),
    sizes = () =>
      renderers.map(
        (/** @type {any} */ id) =>
          1024 *
          Number(
            /** @type {RegExpExecArray} */ (
              /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))
            )[1]
          )
      )
  const restart = () => {
    for (const id of renderers) writeFileSync(`/proc/${id}/clear_refs`, '5')
  }
  const spent = async () =>
    (await ofRenderers()).reduce((sum, { cpuTime }) => sum + 1000 * cpuTime, 0)
  return { restart, largest: () => Math.max(...sizes()), spent }
}

test('files and links that would expand are refused at once, in little memory; a photo of 24 megapixels opens', async () => {
  const other = await startBrowser(),
    page = await other.open('#v=heads'),
    size = await watchSize(page)
  const folder = mkdtempSync(join(tmpdir(), 'heed-expand-')),
    wrong = (/** @type {Buffer<ArrayBuffer> | RegExp} */ buffer) => {
      const path = join(folder, 'maps.npz')
      writeFileSync(path, /** @type {any} */ (buffer))
      return path
    } // by its path: its bytes do not go through the page's memory
  /** @param {string} file */
  async function refused(file) {
    const begin = await size.spent() // not by the clock, which counts other programs too
    await page.setInputFiles('#model-files', file)
    await page.waitForSelector('#error:not([hidden])')
    const said = await text(page, 'error-text'),
      took = (await size.spent()) - begin
    await page.click('#error-close')
    return { said, took }
  }
  await refused(wrong(Buffer.from('nothing of the kind, and long enough')))
  size.restart()
  const small = await refused(wrong(Buffer.from('nothing of the kind, and long enough'))),
    before = size.largest()
  for (const [file, sentence] of [
    [bomb(65, 40, [40, 1, 4096, 4096]), /more than a page can hold/],
    [
      bomb(65, 40, [2, 2, 200, 200], npyHead([2, 2, 200, 200]).length + 640000),
      /does not inflate to what the directory says/
    ]
  ]) {
    const { said, took } = await refused(wrong(file))
    assert.match(said, /** @type {any} */ (sentence))
    console.log(
      `${/** @type {any} */ (file).length} bytes: ${((size.largest() - before) / 1e6).toFixed(1)} MB and ${(took - small.took).toFixed(0)} ms more than a small file`
    )
    assert.ok(size.largest() - before <= 5e7, `${(size.largest() - before) / 1e6} MB`)
    assert.ok(took - small.took <= 1000, `${took} ms`)
  }
  const photo = new Uint8Array(6000 * 4000 * 4)
    .fill(255)
    .map((value, i) => (i % 4 === 3 ? 255 : (i >> 6) & 255))
  writeFileSync(join(folder, 'photo.png'), writePng(photo, 6000, 4000))
  await page.setInputFiles('#picture-file', join(folder, 'photo.png'))
  await page.waitForFunction(
    () => document.getElementById('status').textContent.startsWith('photo.png'),
    null,
    { timeout: 60000 }
  )
  assert.equal(await page.isVisible('#error'), false)
  await finish(page)
  for (const address of [
    `#z=${Array(20000).fill('0-9999').join('_')}`,
    `masks.html#q=16&k=16&p=${Array(20000).fill('1-256').join('_')}`
  ])
    await finish(await other.open(address)) // is ready
  rmSync(folder, { recursive: true })
  await other.close()
})
