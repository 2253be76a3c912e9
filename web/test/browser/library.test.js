/* What is listed below the menu Open: models that the server offers, with licence and size before
 * anything is fetched and their hashes checked after; and pictures and models of one's own, kept
 * where someone asks for it, until removed. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { pathToFileURL } from 'node:url'
import { finish, plain, site, startBrowser } from '../browser.js'
import { createRuntime, packageFolder } from '../package.js'
import { writePng } from '../png.js'
import { listModels } from '../../list_models.js'
import { serve } from '../../serve.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

const { offersIn } = await import(
  pathToFileURL(join(plain, 'explorer/open/offered_models.js')).href
)
const models = mkdtempSync(join(tmpdir(), 'heed-offered-')),
  card = '---\nlicense: apache-2.0\ndatasets:\n- drawn scenes\n---\n# A model\n'
/** @type {TestBrowser} */
let browser
/** @type {string} */
let picture

before(async () => {
  cpSync(join(packageFolder, 'demo'), join(models, 'shapes of ten'), { recursive: true })
  writeFileSync(join(models, 'shapes of ten', 'README.md'), card)
  mkdirSync(join(models, 'pictures'))
  writeFileSync(join(models, 'pictures', 'README.md'), '---\nlicense: cc0-1.0\n---\n')
  mkdirSync(join(models, 'no model'))
  writeFileSync(join(models, 'no model', 'notes.json'), '{}')
  const runtime = await createRuntime({ threads: 1 }),
    { image } = await runtime.scene(7)
  runtime.close()
  picture = join(models, 'Foto – 図.png')
  writeFileSync(picture, writePng(image.data, image.width, image.height))
  cpSync(picture, join(models, 'pictures', 'scene 7.png'))
  browser = await startBrowser()
})
after(async () => {
  await browser.close()
  rmSync(models, { recursive: true })
})

/** @param {TestPage} page */
const listed = (page) => page.textContent('#library')
/** @param {TestPage} page @param {string} name */
const press = (page, name) => page.click(`#library button:text-is("${name}")`)
/** @param {TestPage} page */
async function openMenu(page) {
  await page.click('[popovertarget=open]')
  await page.waitForSelector('#library form', { state: 'attached' })
}
/** @param {TestPage} page @param {string} name */
const named = (page, name) =>
  page.waitForFunction((name) => document.getElementById('model-name').textContent === name, name)
/** @param {TestPage} page */
const nothingKept = (page) => page.evaluate(() => caches.has('heed-models').then((has) => !has))

test('a list of a folder: name, licence, what it was trained on, sizes and hashes', async () => {
  const { models: found } = await listModels(models)
  assert.deepEqual(
    found.map(({ name, address, licence, trained }) => [name, address, licence, trained]),
    [['shapes of ten', 'models/shapes%20of%20ten/', 'apache-2.0', 'drawn scenes']]
  )
  assert.deepEqual(found[0].files.map(({ path }) => path).sort(), [
    'README.md',
    'config.json',
    'model.safetensors',
    'preprocessor_config.json'
  ])
  const { pictures } = await listModels(models),
    text = JSON.stringify({ models: found, pictures }),
    [offer, drawn] = offersIn(text, 'https://a.b/c/models.json')
  assert.deepEqual(
    pictures?.map(({ name, address, licence }) => [name, address, licence]),
    [['scene 7.png', 'models/pictures/scene%207.png', 'cc0-1.0']]
  )
  assert.equal(drawn.listed.files[0].url, 'https://a.b/c/models/pictures/scene%207.png')
  assert.equal(offer.listed.address, 'https://a.b/c/models/shapes%20of%20ten/')
  assert.equal(
    offer.listed.size,
    found[0].files.reduce((sum, { size }) => sum + size, 0)
  )
})

test('a list that is wrong gets a sentence that says where', () => {
  const file = { path: 'model.safetensors', size: 1, sha256: '0'.repeat(64) },
    model = { name: 'a', address: 'models/a/', licence: 'mit', files: [file] }
  const says = (/** @type {unknown} */ list, /** @type {RegExp} */ pattern) =>
    assert.throws(
      () =>
        offersIn(typeof list === 'string' ? list : JSON.stringify(list), 'https://a.b/models.json'),
      { message: pattern }
    )
  says('<html>', /^models\.json: no JSON/)
  says({}, /models is not valid \(found nothing, expected a list\)/)
  says({ models: [null] }, /models\[0\]\.name/)
  says({ models: [model, { ...model, licence: '' }] }, /models\[1\]\.licence/)
  says({ models: [{ ...model, address: 'models/a' }] }, /models\[0\]\.address/)
  says({ models: [{ ...model, files: [] }] }, /models\[0\]\.files/)
  for (const path of ['../secret', '/etc/x', 'a/../b', 'https://x/y', 'a?b', ''])
    says({ models: [{ ...model, files: [{ ...file, path }] }] }, /files\[0\]\.path/)
  for (const size of [0, -1, 1.5, '1'])
    says({ models: [{ ...model, files: [{ ...file, size }] }] }, /files\[0\]\.size/)
  says({ models: [{ ...model, files: [{ ...file, sha256: 'abc' }] }] }, /sha256 is not valid/)
  const drawn = { name: 'a', address: 'a.png', licence: 'mit', size: 1, sha256: '0'.repeat(64) }
  says({ models: [], pictures: {} }, /pictures is not valid/)
  says({ models: [], pictures: [{ ...drawn, address: 'a/' }] }, /pictures\[0\]\.address/)
  says({ models: [], pictures: [{ ...drawn, licence: '' }] }, /pictures\[0\]\.licence/)
  says({ models: [], pictures: [{ ...drawn, size: 0 }] }, /pictures\[0\]\.size/)
  assert.equal(
    offersIn(JSON.stringify({ models: [model], pictures: [drawn] }), 'https://a.b/models.json')
      .length,
    2
  )
})

test('a model of the server: licence and size first, then opened, kept and removed', async () => {
  const server = await serve(site, { models }),
    page = await browser.open()
  try {
    await page.goto(`${server.address}#v=heads`)
    await page.waitForSelector('html[data-ready]', { timeout: 60000 })
    await openMenu(page)
    await page.waitForSelector('#library li')
    assert.match(
      /** @type {string} */ (await listed(page)),
      /Models of this server.*shapes of ten\. Licence: apache-2\.0\. Trained on: drawn scenes\..*Download 0\.\d MB/
    )
    assert.ok(!server.asked.some((file) => file.startsWith(models)), 'nothing is fetched before')
    assert.ok(await nothingKept(page))
    await page.screenshot({ path: join(site, '../screenshots/explorer-offered.png') })
    await page.click('#library button:text-matches("^Download")')
    await named(page, 'shapes of ten')
    await page.waitForFunction(() =>
      document.getElementById('library').textContent.includes('shapes of ten, kept: 0.')
    )
    await press(page, 'Remove')
    await page.waitForFunction(() =>
      document.getElementById('library').textContent.includes('Models of this server')
    )
    assert.ok(await nothingKept(page))
    await checkPicture(page)
    page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
    await finish(page)
  } finally {
    server.close()
  }
})

/** A picture of the server: its licence and size first, then shown, kept and removed.
 * @param {TestPage} page
 */
async function checkPicture(page) {
  await openMenu(page)
  assert.match(
    /** @type {string} */ (await listed(page)),
    /Pictures of this server.*scene 7\.png\. Licence: cc0-1\.0\..*Download \d+\.\d KB/
  )
  await page.click('#library button[aria-label^="Download scene 7.png"]')
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('scene 7.png')
  )
  await page.waitForFunction(() =>
    document.getElementById('library').textContent.includes('scene 7.png, kept: ')
  )
  await openMenu(page)
  await press(page, 'Remove')
  await page.waitForFunction(
    () => !document.querySelector('#library .kept button[aria-label^="Remove"]')
  )
  assert.ok(await nothingKept(page))
}

/** The demo model's weights with 40 MB that no layer uses. */
function padded() {
  const bytes = readFileSync(join(packageFolder, 'demo/model.safetensors')),
    length = Number(bytes.readBigUInt64LE()),
    header = JSON.parse(bytes.subarray(8, 8 + length).toString()),
    data = bytes.subarray(8 + length),
    padding = Buffer.alloc(40e6),
    text = Buffer.from(
      JSON.stringify({
        ...header,
        padding: {
          dtype: 'U8',
          shape: [padding.length],
          data_offsets: [data.length, data.length + padding.length]
        }
      })
    ),
    first = Buffer.alloc(8)
  first.writeBigUInt64LE(BigInt(text.length))
  return Buffer.concat([first, text, data, padding])
}

/**
 * A download of a large model that ends early, in its second part.
 * @param {boolean} dated whether the server says when the file changed
 * @param {(page: TestPage, asked: string[], goOn: () => void) => Promise<void>} then
 */
async function stopped(dated, then) {
  const folder = join(models, 'large')
  cpSync(join(packageFolder, 'demo'), folder, { recursive: true })
  writeFileSync(join(folder, 'model.safetensors'), padded())
  const server = await serve(site, { models }),
    page = await browser.open(),
    asked = /** @type {string[]} */ ([])
  let cut = true
  await page.context().route('**/large/model.safetensors', async (route) => {
    const { range = '' } = route.request().headers()
    asked.push(range)
    if (cut && !range.startsWith('bytes=0-')) return route.abort()
    if (dated) return route.continue()
    const response = await route.fetch(),
      { 'last-modified': _, ...headers } = response.headers()
    return route.fulfill({ response, headers })
  })
  try {
    await page.goto(`${server.address}#v=heads`)
    await page.waitForSelector('html[data-ready]', { timeout: 60000 })
    await openMenu(page)
    await page.waitForSelector('#library li')
    await page.click('#library button[aria-label^="Download large"]')
    await page.waitForSelector('#error:not([hidden])')
    await then(page, asked, () => {
      cut = false
    })
    page.faults = []
    await finish(page)
  } finally {
    rmSync(folder, { recursive: true })
    server.close()
  }
}

test('a download that was stopped goes on from there, also after a reload', () =>
  stopped(true, async (page, asked, goOn) => {
    await page.waitForFunction(() =>
      /large, not complete: 16\.\d MB of 4\d\.\d MB/.test(
        document.getElementById('library').textContent
      )
    )
    assert.deepEqual(asked, ['bytes=0-16777215', 'bytes=16777216-33554431'])
    goOn()
    await page.reload()
    await page.waitForSelector('html[data-ready]', { timeout: 60000 })
    await openMenu(page)
    await press(page, 'Continue')
    await named(page, 'large')
    assert.equal(asked.length, 4)
    assert.match(asked[3], /^bytes=33554432-/)
    await page.waitForFunction(() =>
      /large, kept: 4\d\.\d MB/.test(document.getElementById('library').textContent)
    )
  }))

test('nothing of it is kept where the server does not say when the file changed', () =>
  stopped(false, async (page, asked) => {
    await page.waitForFunction(() =>
      document.querySelector('#library button[aria-label^="Download large"]')
    )
    assert.equal(asked.length, 2)
    assert.doesNotMatch(String(await page.textContent('#library')), /not complete/)
    assert.equal(
      await page.evaluate(async () => {
        const kept = await caches.open('heed-models')
        return (await kept.keys()).filter(({ url }) => url.includes('large')).length
      }),
      0
    )
  }))

test('weights that changed since the list was made are refused, and nothing of them is kept', async () => {
  const server = await serve(site, { models }),
    page = await browser.open(),
    weights = join(models, 'shapes of ten', 'model.safetensors'),
    bytes = readFileSync(weights)
  try {
    await page.goto(`${server.address}#v=heads`)
    await page.waitForSelector('html[data-ready]', { timeout: 60000 })
    await openMenu(page)
    const spoiled = Buffer.from(bytes)
    spoiled[spoiled.length - 1] ^= 1
    writeFileSync(weights, spoiled)
    await page.click('#library button:text-matches("^Download")')
    await page.waitForSelector('#error:not([hidden])')
    assert.match(
      /** @type {string} */ (await page.textContent('#error-text')),
      /model\.safetensors: not the file that was asked for \(found SHA-256 [0-9a-f]{16}, expected [0-9a-f]{16}\)\. Nothing of it is kept/
    )
    assert.ok(await nothingKept(page))
    assert.match(/** @type {string} */ (await page.textContent('#model-name')), /^Demo model/)
    page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
    await finish(page)
  } finally {
    writeFileSync(weights, bytes)
    server.close()
  }
})

test('a picture and a model of one’s own: kept when asked for, opened after a reload, removed', async () => {
  const page = await browser.open()
  await openMenu(page)
  assert.equal(await page.locator('#library button:text-matches("^Keep")').count(), 0)
  await page.setInputFiles('#picture-file', picture)
  await page.waitForSelector('#library button:text-is("Keep this picture")')
  assert.ok(await nothingKept(page), 'without a press nothing is')
  await press(page, 'Keep this picture')
  await page.waitForFunction(() =>
    /Foto – 図\.png, kept: \d/.test(document.getElementById('library').textContent)
  )
  await page.waitForFunction(
    () => !document.getElementById('library').textContent.includes('Keep this picture')
  )
  await page.setInputFiles(
    '#model-files',
    ['config.json', 'preprocessor_config.json', 'model.safetensors'].map((name) =>
      join(models, 'shapes of ten', name)
    )
  )
  await page.waitForSelector('#library button:text-is("Keep this model")')
  await press(page, 'Keep this model')
  await page.waitForFunction(() => document.querySelectorAll('#library li').length === 2)
  await page.screenshot({ path: join(site, '../screenshots/explorer-kept.png') })
  const answer = await page.textContent('#answer')

  await page.reload()
  await page.waitForSelector('html[data-ready]', { timeout: 60000 })
  await page.waitForFunction(() =>
    /^The page was loaded again: your own picture or model is no longer open\..*“Open…”/.test(
      document.getElementById('error-text').textContent
    )
  )
  assert.equal(await page.getAttribute('#error', 'role'), 'status')
  await page.waitForSelector('#library li')
  await page.click('#library button[aria-label="Open model.safetensors"]')
  await named(page, 'model.safetensors')
  await page.click('#library button[aria-label="Open Foto – 図.png"]')
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('Foto – 図.png')
  )
  assert.equal(await page.textContent('#answer'), answer)
  assert.equal(await page.locator('#library button:text-matches("^Keep")').count(), 0)
  for (const name of ['Foto – 図.png', 'model.safetensors'])
    await page.click(`#library button[aria-label="Remove ${name} from this browser"]`)
  await page.waitForFunction(() => !document.querySelector('#library li'))
  assert.ok(await nothingKept(page))
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
  await finish(page)
})

test('no room, and a browser that keeps nothing, get a sentence', async () => {
  const page = await browser.open()
  await openMenu(page)
  await page.setInputFiles('#picture-file', picture)
  await page.waitForSelector('#library button:text-is("Keep this picture")')
  const refuses = async (/** @type {string} */ name, /** @type {RegExp} */ pattern) => {
    await page.evaluate((name) => {
      const fail = async () => {
        throw new DOMException('not here', name)
      }
      if (name === 'QuotaExceededError') Cache.prototype.put = fail
      else CacheStorage.prototype.open = fail
    }, name)
    await press(page, 'Keep this picture')
    await page.waitForSelector('#error:not([hidden])')
    assert.match(/** @type {string} */ (await page.textContent('#error-text')), pattern)
    await page.click('#error-close')
  }
  await refuses(
    'QuotaExceededError',
    /Foto – 図\.png: this browser has no room for it\..*nothing of it was kept/
  )
  assert.ok(await nothingKept(page))
  await refuses('SecurityError', /This browser keeps nothing for this page: it is a private window/)
  await page.waitForSelector('#library button:text-is("Keep this picture")')
  await finish(page)
})
