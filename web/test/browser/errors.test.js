/* What the explorer says where something is wrong or missing: each sentence says what happened and
 * what to do, the result before stays. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { bigModel } from '../big_model.js'
import { finish, startBrowser } from '../browser.js'
import { repository } from '../package.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */
/** @import {Route} from 'playwright-core' */

/** @type {TestBrowser} */
let browser

before(async () => (browser = await startBrowser()))
after(() => browser.close())

const bytes = (/** @type {string[]} */ ...path) => readFileSync(join(repository, ...path)),
  file = (
    /** @type {string} */ name,
    /** @type {NonSharedBuffer | Buffer<ArrayBuffer>} */ buffer
  ) => ({ name, mimeType: '', buffer })
/**
 * @param {TestPage} page
 * @param {string} id
 */
const text = (page, id) => /** @type {Promise<string>} */ (page.textContent(`#${id}`))
const demo = 'runtime/demo/model',
  micro = 'tests/vectors/vit/micro_32'

/**
 * Opens files, and gives what the page says of them; the map that was shown stays.
 * @param {TestPage} page
 * @param {{name: string, mimeType: string, buffer: Buffer}[]} files
 */
async function refused(page, files) {
  const title = await text(page, 'stage-title')
  await page.setInputFiles('#model-files', files)
  await page.waitForSelector('#error:not([hidden])')
  const said = await text(page, 'error-text')
  assert.equal(await text(page, 'stage-title'), title)
  await page.click('#error-close')
  return said
}

/**
 * The explorer where page and worker run this line first.
 * @param {string} line
 */
async function openAfter(line) {
  // From a file without requests of its own, so that none is under way when the explorer opens.
  const page = await browser.open('icon.svg', { ready: false })
  await page.route('**/heed/worker.js', async (route) => {
    try {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, body: `${await answer.text()};${line}` })
    } catch (error) {
      if (!page.isClosed()) throw error // which ends what is under way
    }
  })
  await page.addInitScript(line)
  await page.goto(`${browser.address}#v=heads`)
  return page
}

test('what of a link is not shown is said, at the start and for a typed address; a whole link says nothing', async () => {
  const said =
      /^Parts of the link are not shown \(found l=9, zz=1; this model has 5 layers of 4 heads and 14 × 14 patches\)\. The rest is\./,
    page = await browser.open('#l=9&zz=1&h=2')
  await page.waitForSelector('#error:not([hidden])')
  assert.match(await text(page, 'error-text'), said)
  assert.equal(await page.evaluate(() => location.hash), '#l=4&h=2')
  await page.click('#error-close')
  await page.evaluate(() => (location.hash = '#l=1&h=9'))
  await page.waitForSelector('#error:not([hidden])')
  assert.match(await text(page, 'error-text'), /found h=9; this model/)
  await page.click('#error-close')
  await page.evaluate(() => (location.hash = '#l=1&h=2&q=cls'))
  await page.waitForFunction(() =>
    /layer 1.*CLS|CLS/.test(document.querySelector('#stage-title')?.textContent ?? '')
  )
  assert.equal(await page.isVisible('#error'), false)
  await finish(page)
})

test('no WebAssembly: the built-in map stays, and the page says what is needed', async () => {
  const page = await openAfter('delete globalThis.WebAssembly')
  await page.waitForSelector('#error:not([hidden])')
  assert.match(
    await text(page, 'error-text'),
    /no WebAssembly, so the page shows a precomputed image\. Use a newer browser/
  )
  assert.equal(await page.isVisible('#first-map'), true)
  await finish(page)
})

test('no SIMD: the page says so', async () => {
  const page = await openAfter('WebAssembly.validate = () => false')
  await page.waitForSelector('#error:not([hidden])')
  assert.match(await text(page, 'error-text'), /no SIMD in WebAssembly, which heed needs/)
  assert.equal(await page.isVisible('#first-map'), true)
  await finish(page)
})

test('files that do not go together name the tensor, what was found and what was expected', async () => {
  const page = await browser.open()
  const said = await refused(page, [
    file('config.json', bytes(micro, 'config.json')),
    file('model.safetensors', bytes(demo, 'model.safetensors'))
  ])
  assert.match(
    said,
    /config\.json: hidden_size .*\(found 32, expected 128: tensor vit\.\S+ is .*\)\. Choose another file, or all files/
  )
  assert.match(
    await refused(page, [file('notes.txt', Buffer.from('no model'))]),
    /^notes\.txt: neither a picture, a model nor maps\. Take a picture/
  )
  assert.match(
    await refused(page, [file('maps.npy', Buffer.from('no array at all'))]),
    /maps\.npy.*no \.npy file/
  )
  const cut = bytes(demo, 'model.safetensors').subarray(0, 500000)
  assert.match(
    await refused(page, [
      file('config.json', bytes(demo, 'config.json')),
      file('model.safetensors', cut)
    ]),
    /found.*expected.*Choose another file/
  )
  await finish(page)
})

/**
 * Takes another scene, with its own query, which is known after its picture: what is opened before
 * would get that query too.
 * @param {TestPage} page
 */
async function scene42(page) {
  await page.click('#samples button:nth-child(3)')
  await page.waitForFunction(
    () =>
      location.hash.startsWith('#s=42') &&
      document.getElementById('stage-title').textContent.includes('(11, 7)')
  )
}

test('a session of other weights says which; of the same it opens without a word', async () => {
  const page = await browser.open('#s=7&q=3.4'),
    [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-session')])
  const session = JSON.parse(readFileSync(await download.path(), 'utf8'))
  assert.match(session.weights_sha256['model.safetensors'], /^[0-9a-f]{64}$/)
  await scene42(page)
  await page.setInputFiles('#model-files', file('own.json', Buffer.from(JSON.stringify(session))))
  await page.waitForFunction(() => location.hash === '#s=7&q=3.4')
  assert.equal(await page.isVisible('#error'), false)
  session.weights_sha256['model.safetensors'] = '0'.repeat(64)
  await scene42(page)
  assert.match(
    await refused(page, [file('other.json', Buffer.from(JSON.stringify(session)))]),
    /found weights with SHA-256 [0-9a-f]{16}, expected 0{16}\)\. Open that model/
  )
  assert.match(await page.evaluate(() => location.hash), /^#s=42/) // nothing of it was shown
  await finish(page)
})

test('numbers that were saved as JSON open what they are of: the scene, or the picture that is here', async () => {
  const page = await browser.open('#s=7&l=2&q=3.4'),
    numbers = async () => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.click('#save-json')
      ])
      await page.waitForFunction(
        (name) => document.getElementById('status').textContent === `Saved ${name}.`,
        download.suggestedFilename()
      )
      return readFileSync(await download.path())
    },
    ofScene = await numbers()
  await scene42(page)
  await page.setInputFiles('#model-files', file('scene.json', ofScene))
  await page.waitForFunction(() => location.hash === '#s=7&l=2&q=3.4')
  await page.setInputFiles('#picture-file', {
    name: 'own.png',
    mimeType: 'image/png',
    buffer: readFileSync(join(repository, 'tests/vectors/preprocess/rgb.png'))
  })
  await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('own'))
  const ofPicture = await numbers()
  await page.click('#cls')
  await page.setInputFiles('#model-files', file('picture.json', ofPicture))
  await page.waitForFunction(() => /l=2&q=3\.4$/.test(location.hash))
  await scene42(page)
  assert.match(
    await refused(page, [file('picture.json', ofPicture)]),
    /^picture\.json: it has numbers, not the picture \(found Scene 42, expected own\.png\)\. Open that/
  )
  await finish(page)
})

test('without its worker the page says so, and of loading nothing more', async () => {
  const page = await browser.open('#v=heads', { ready: false })
  await page.route('**/heed/worker.js', (route) => route.fulfill({ status: 404 }))
  await page.reload()
  await page.waitForSelector('#error-again:not([hidden])')
  assert.match(
    await text(page, 'error-text'),
    /the worker could not start from .+\/heed\/worker\.js"\)\. $/
  )
  await page.waitForTimeout(500) // the weights arrive
  assert.equal(await text(page, 'status'), '')
  page.faults = page.faults.filter((fault) => !/404|ERR_(ABORTED|BLOCKED)/.test(fault))
  await finish(page)
})

test('weights that find no memory: what they need is said, and what makes them smaller; the status is that of before', async () => {
  const limited = await startBrowser({ flags: ['--js-flags=--wasm-max-mem-pages=300'] }), // 20 MB
    folder = mkdtempSync(join(tmpdir(), 'heed-memory-')),
    files = (await bigModel({ layers: 8, heads: 4, width: 256, side: 4 })).map(
      ({ name, buffer }) => {
        writeFileSync(join(folder, name), buffer)
        return join(folder, name)
      }
    )
  try {
    const page = await limited.open(),
      caption = await text(page, 'caption'),
      status = await text(page, 'status')
    await page.setInputFiles('#model-files', files)
    await page.waitForSelector('#error:not([hidden])')
    assert.match(
      await text(page, 'error-text'),
      /out of memory \(requested \d+ bytes\); the session needs 18\d{6} bytes in all \(17\d{6} of weights, which heed convert makes smaller\)\. Choose a smaller model/
    )
    await page.waitForSelector('#progress', { state: 'hidden' })
    assert.equal(await text(page, 'status'), status)
    await page.click('#patches', { position: { x: 5, y: 5 } }) // the page goes on
    await page.waitForFunction(
      (caption) => document.getElementById('caption').textContent !== caption,
      caption
    )
    await finish(page)
  } finally {
    await limited.close()
    rmSync(folder, { recursive: true })
  }
})

test('out of memory, offline, a browser that fails: what to do is said', async () => {
  const page = await browser.open('#v=heads', { modules: true }),
    say = (/** @type {{status: string, message: string}} */ error) =>
      page.evaluate(async (error) => {
        ;(await import('./explorer/controls/status.js')).showError(error)
        return document.getElementById('error-text').textContent
      }, error)
  assert.match(
    await say({ status: 'OUT_OF_MEMORY', message: 'no room' }),
    /^no room\. Choose a smaller model or image, or close other pages\.$/
  )
  await page.evaluate(() => import('./explorer/open/open_files.js').then(() => {})) // its advice is with what opens files
  assert.match(
    await say({ status: 'UNSUPPORTED', message: 'a transformer' }),
    /^a transformer\. heed runs the models that docs\/models\.md lists/
  )
  assert.match(
    await say({ status: 'IO', message: 'no answer' }),
    /^no answer\. Check that the server/
  )
  await page.context().setOffline(true)
  assert.match(
    await say({ status: 'IO', message: 'no answer' }),
    /^no answer\. This machine is offline: connect it, or visit once online/
  )
  await page.context().setOffline(false)
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => {
      window.copied = text
    }
  })
  await page.click('#error-copy')
  const copied = await page.waitForFunction(() => window.copied)
  assert.match(await copied.jsonValue(), /^no answer[^]*WASM[^]*Mozilla[^]*http/)
  await finish(page)
})

/**
 * The explorer opened again with answer(route, count) in the place of the demo model's weights;
 * resolves to how often they were asked for.
 * @param {TestPage} page
 * @param {(route: Route, count: number) => unknown} answer
 */
async function openAgain(page, answer) {
  let count = 0
  await page.route('**/demo/model.safetensors.deflate', (route) => answer(route, ++count))
  await page.reload()
  await page.waitForSelector('html[data-ready], #error:not([hidden])', { timeout: 60000 })
  return count
}

const weights = bytes(demo, 'model.safetensors'),
  ofAnother = deflateRawSync(Buffer.from(weights).fill(0, weights.length - 4)), // the last number of them is another
  cut = deflateRawSync(weights).subarray(0, -9)
/** @param {Buffer} body */
const given = (body) => (/** @type {Route} */ route) =>
  route.fulfill({ body, contentType: 'application/octet-stream' })

test('weights of another version than the page are fetched again; where they stay so, the page says it', async () => {
  const page = await browser.open(),
    caption = await text(page, 'caption')
  for (const body of [ofAnother, cut]) {
    assert.equal(
      await openAgain(page, (route, count) =>
        count === 1 ? given(body)(route) : route.continue()
      ),
      2
    )
    assert.equal(await text(page, 'caption'), caption)
    await page.unrouteAll()
  }
  assert.equal(await openAgain(page, given(cut)), 2)
  assert.match(await text(page, 'error-text'), /\(found SHA-256 none, expected [0-9a-f]{16}\)/)
  await page.unrouteAll()
  assert.equal(await openAgain(page, given(ofAnother)), 2)
  assert.match(
    await text(page, 'error-text'),
    /model\.safetensors\.deflate: it is of another version than this page \(found SHA-256 [0-9a-f]{16}, expected [0-9a-f]{16}\)\. The site has changed, or the network failed: reload the page\.$/
  )
  await page.unrouteAll()
  await Promise.all([page.waitForNavigation(), page.click('#error-again')])
  await page.waitForSelector('html[data-ready]')
  await finish(page)
})

test('a kept copy of the weights is taken at once where it is the right one; without any, a failing network is told', async () => {
  const page = await browser.open(),
    caption = await text(page, 'caption'),
    gone = (/** @type {Route} */ route) => route.abort('connectionreset')
  /** @param {number} length */
  const keep = (length) =>
    page.evaluate(async (length) => {
      const address = new URL('heed/demo/model.safetensors.deflate', location.href),
        blob = await (await fetch(address)).blob()
      await (await caches.open('heed-0123456789abcdef')).put(
        address,
        new Response(blob.slice(0, length))
      )
    }, length)
  await keep(1e9)
  assert.equal(await openAgain(page, gone), 0)
  assert.equal(await text(page, 'caption'), caption)
  await page.unrouteAll()
  await page.evaluate(() => caches.delete('heed-0123456789abcdef'))
  assert.equal(await openAgain(page, gone), 1)
  assert.match(
    await text(page, 'error-text'),
    /model\.safetensors\.deflate: the network failed \(found "[^"]+"\)\. Check that the server/
  )
  page.faults = page.faults.filter((fault) => !/ERR_CONNECTION_RESET/.test(fault))
  await finish(page)
})

test('where the browser inflates nothing, the weights come as they are', async () => {
  const page = await browser.open('#v=heads', { ready: false }),
    asked = /** @type {string[]} */ ([])
  await page.goto('about:blank')
  page.on('request', (request) => asked.push(request.url().replace(/.*[/]/, '')))
  await page.addInitScript(() => delete (/** @type {any} */ (globalThis).DecompressionStream))
  await page.goto(`${browser.address}#v=heads`)
  await page.waitForSelector('html[data-ready]')
  assert.deepEqual(
    asked.filter((name) => name.startsWith('model.')),
    ['model.safetensors']
  )
  assert.match(await text(page, 'caption'), /38\.3 × uniform/)
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // what the first visit had begun
  await finish(page)
})

test('a part of the page that is gone is told, and loading the page again brings it', async () => {
  const page = await browser.open()
  await page.route(/\/matrix-\w+\.js$/, (route) => route.fulfill({ status: 404 }))
  await page.click('#tab-matrix')
  await page.waitForSelector('#error:not([hidden])')
  assert.match(
    await text(page, 'error-text'),
    /The site has changed, or the network failed: reload the page\.$/
  )
  await page.unrouteAll()
  await page.waitForFunction(() => location.hash === '#v=matrix') // whose script may come after the error
  await Promise.all([page.waitForNavigation(), page.click('#error-again')])
  await page.waitForSelector('html[data-ready]')
  await page.waitForSelector('#view .matrix')
  page.faults = page.faults.filter((fault) => !/404|ERR_ABORTED/.test(fault))
  await finish(page)
})

test('a view waits for its styles; where they are gone that is told, and the next view fetches them', async () => {
  const page = await browser.open()
  await page.route('**/later.css', (route) => route.fulfill({ status: 404 }))
  await page.click('#tab-matrix')
  await page.waitForSelector('#error-again:not([hidden])')
  assert.match(
    await text(page, 'error-text'),
    /^explorer\/later\.css could not be loaded\. .*: reload the page\.$/
  )
  assert.equal(await page.locator('#view .matrix').count(), 0)
  await page.unrouteAll()
  await page.click('#tab-tokens')
  await page.waitForSelector('#view .likenesses')
  assert.equal(
    await page.evaluate(() => document.querySelectorAll('link[href*="later.css"]').length),
    1
  )
  page.faults = page.faults.filter((fault) => !/404|later\.css: net::ERR_ABORTED/.test(fault))
  await finish(page)
})
