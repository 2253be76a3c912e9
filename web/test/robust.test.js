/* The explorer where things are not as usual: links into a view, other models, no storage, no scripts, many pictures. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from './browser.js'
import { repository } from './package.js'

let browser

before(async () => (browser = await startBrowser()))
after(() => browser.close())

const text = (page, id) => page.textContent(`#${id}`)
const files = (folder, names) => names.map((name) => join(repository, folder, name))

test('a link into rollout finds its settings shown', async () => {
  const page = await browser.open('#v=rollout&i=1&j=3&e=0.4')
  await page.waitForFunction(() => document.querySelector('#view output').textContent !== '')
  assert.deepEqual(await page.locator('#view output').allTextContents(), ['1', '3', '0.4', '0'])
  assert.deepEqual(await page.locator('#view input').evaluateAll((inputs) => inputs.map(({ value }) => value)), ['1', '3', '0.4', '0'])
  await finish(page)
})

test('a model with fewer layers and patches takes the place of the demo, and the demo comes back', async () => {
  const page = await browser.open('#l=4&h=3&q=13.13')
  await page.setInputFiles('#model-files', files('tests/vectors/vit/micro_32', ['config.json', 'model.safetensors']))
  await page.waitForSelector('#demo-model:not([hidden])', { timeout: 60000 })
  await page.waitForFunction(() => document.querySelectorAll('#patches [role=gridcell]').length < 196)
  const facts = await text(page, 'model-facts'), [, layers] = facts.match(/^(\d+) layers/)
  assert.ok(Number(layers) < 5, facts)
  assert.match(await text(page, 'stage-title'), new RegExp(`^Layer ${layers - 1}, head \\d: from patch`))
  assert.equal(await page.locator('#error').isVisible(), false, await text(page, 'error-text'))
  await page.click('#demo-model')
  await page.waitForFunction(() => document.querySelectorAll('#patches [role=gridcell]').length === 196)
  assert.equal(await page.locator('#error').isVisible(), false, await text(page, 'error-text'))
  await finish(page)
})

test('refused every storage and service workers, as in a sandboxed frame, the page runs and changes its theme', async () => {
  const page = await browser.open('', { ready: false })
  await page.addInitScript(() => {
    for (const [of, name] of [[window, 'localStorage'], [window, 'caches'], [navigator, 'serviceWorker']]) Object.defineProperty(of, name, { get() { throw new DOMException('denied', 'SecurityError') } })
  })
  await page.reload()
  await page.waitForSelector('html[data-ready]', { timeout: 60000 })
  await page.click('#theme')
  assert.equal(await page.getAttribute('html', 'data-theme'), 'dark')
  assert.match(await text(page, 'caption'), /39\.2 × uniform/)
  await page.goto(`${browser.address}bench.html`)
  await page.waitForSelector('html[data-ready]')
  assert.match(await text(page, 'offline'), /keeps no pages/)
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // requests that the reload ended
  await finish(page)
})

for (const width of [360, 1366])
  test(`without scripts the page is as wide as the window and says what is missing: ${width}`, async () => {
    const page = await browser.open('', { javaScriptEnabled: false, ready: false, viewport: { width, height: 740 } })
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width)
    assert.match(await page.locator('noscript').innerText(), /Scripts are off/)
    await finish(page, `explorer-no-script-${width}`)
  })

test('the heap is flat over 100 pictures', async () => {
  const page = await browser.open(), protocol = await page.context().newCDPSession(page)
  const show = (count) => page.evaluate(async (count) => {
    const buttons = document.querySelectorAll('#samples button'), status = document.getElementById('status')
    for (let i = 0; i < count; i++) {
      const button = buttons[i % buttons.length]
      status.textContent = ''
      button.click()
      while (!status.textContent.startsWith(button.title)) await new Promise((done) => setTimeout(done, 5))
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
  const last = await used()
  assert.ok(last - first < 4e6, `${first} bytes after 10 pictures, ${last} after 110`)
  await finish(page)
})
