/* The explorer in Chromium: by mouse, by keyboard alone, by finger, without scripts, without
 * isolation; its numbers against the native program's; no violation that axe knows. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import test, { after, before } from 'node:test'
import { gzipSync } from 'node:zlib'
import { transformSync } from 'esbuild'
import { finish, site, startBrowser, takePicture, violations } from '../browser.js'
import { nativeReport } from '../native_report.js'
import { loadPage, native, repository } from '../package.js'
/** @import {Box, TestBrowser, TestPage} from '../browser.js' */

/** @type {typeof import('../../pages/explorer/views/view_list.js')} */
const { views } = await loadPage('explorer/views/view_list.js')

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
 * Waits for the title: styles but colour, and words for what was changed, are fetched before it.
 * @param {TestPage} page
 * @param {string} title
 */
const titled = (page, title) =>
  page.waitForFunction(
    (title) => document.getElementById('stage-title').textContent === title,
    title
  )

/**
 * @param {TestPage} page
 * @param {string} button
 */
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)])
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
}

test('opens on the two twins: from a patch of one star to the other star', async () => {
  const page = await browser.open()
  assert.equal(await text(page, 'stage-title'), 'Layer 3, head 0: from patch (2, 10)')
  assert.match(await text(page, 'caption'), /most to patch \(10, 1\): 19\.4 % = 38\.3 × uniform/)
  assert.match(await text(page, 'answer'), /^star/)
  assert.equal(await page.locator('#patches [role=gridcell]').count(), 196)
  assert.match(await text(page, 'machine'), /WASM (?:relaxed )?SIMD/)
  await finish(page, 'explorer-1366-light')
})

test('the mouse takes patches, heads, views and styles; the address follows and leads back', async () => {
  const page = await browser.open()
  const box = /** @type {Box} */ (await page.locator('#patches').boundingBox())
  await page.mouse.move(box.x + (box.width * 1.5) / 14, box.y + (box.height * 10.5) / 14)
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.endsWith('(10, 1)')
  )
  await page.mouse.down()
  await page.mouse.up()
  await page.waitForFunction(() => location.hash === '#q=10.1')
  assert.match(await text(page, 'caption'), /most to patch \([2-4], (9|10|11)\)/)
  await page.locator('#view [role=gridcell]').nth(17).click()
  await page.waitForFunction(() => location.hash === '#l=4&h=1&q=10.1')
  await page.selectOption('#style', 'contour')
  await page.selectOption('#colours', 'magma')
  await page.click('#reverse')
  for (const view of ['matrix', 'rollout', 'statistics', 'heads']) {
    await page.click(`#tab-${view}`)
    assert.equal(await page.getAttribute(`#tab-${view}`, 'aria-selected'), 'true')
  }
  const hash = '#l=4&h=1&q=10.1&o=contour&c=magma&r=1',
    title = 'Layer 4, head 1: to patch (10, 1)'
  await titled(page, title)
  await page.waitForFunction((hash) => location.hash === hash, hash)
  const other = await browser.open(hash)
  await titled(other, title)
  await finish(other)
  await finish(page)
})

test('once the page is ready, the map of its link stands, however late a part of it comes', async () => {
  const page = await browser.open('#v=heads', { modules: true })
  await page.route('**/plot/overlay.js', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    await route.continue()
  })
  const address = page.url().replace(/#.*/, '')
  await page.goto('about:blank')
  await page.goto(`${address}#l=4&h=1&q=10.1&o=contour`)
  await page.waitForSelector('html[data-ready]')
  assert.equal(await text(page, 'stage-title'), 'Layer 4, head 1: from patch (10, 1)')
  await finish(page)
})

test('the keyboard alone goes everywhere', async () => {
  const page = await browser.open()
  const press = async (/** @type {any[]} */ ...keys) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  for (
    let i = 0;
    i < 40 &&
    !(await page.evaluate(() =>
      /** @type {Element} */ (document.activeElement).closest('#patches')
    ));
    i++
  )
    await press('Tab')
  await page.waitForFunction(() =>
    /** @type {Element} */ (document.activeElement)
      .getAttribute('aria-label')
      ?.startsWith('row 2, column 10, ')
  ) // named a moment later
  await press('ArrowDown', 'ArrowLeft', ']', '.', '.')
  await page.waitForFunction(() => location.hash === '#l=4&h=2&q=3.9')
  await press('c')
  await page.waitForFunction(
    () => document.getElementById('stage-title').textContent === 'Layer 4, head 2: from CLS'
  )
  await press('c', 'm', 'r', '-')
  await page.waitForFunction(() => location.hash === '#l=4&h=mean&q=3.9&a=0.7&r=1')
  await press('4')
  await page.waitForSelector('#view .plot circle')
  await press('?')
  await page.waitForSelector('#keys[open]')
  await press('Escape')
  assert.equal(await page.evaluate(() => document.getElementById('keys').open), false)
  await finish(page)
})

test('a finger drawn across the picture takes the query along, on a phone', async () => {
  const page = await browser.open('#v=heads', {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
    colorScheme: 'dark'
  })
  await page
    .locator('#patches [role=gridcell]')
    .nth(14 * 10 + 1)
    .tap()
  await page.waitForFunction(() => location.hash === '#q=10.1')
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360)
  await finish(page, 'explorer-360-dark')
})

const quietly = ['--backend', 'cpu', '--quiet']

test('the numbers are those of heed run --json', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heed-pages-')),
    picture = join(folder, 'scene.png')
  execFileSync(native, ['demo', '--scene', '7', '--picture', picture])
  const expected = nativeReport(folder, '3,4', 'run', picture, ...quietly)
  const page = await browser.open('#q=3.4')
  await page.setInputFiles('#picture-file', picture)
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('scene.png')
  )
  const { name, bytes } = await saved(page, '#save-json')
  assert.equal(name, 'scene_L3H0_q3-4_heads.json')
  const found = JSON.parse(bytes),
    { heads, rollout } = expected.results[0]
  for (const name of [
    'entropy',
    'entropy_cls',
    'entropy_patches',
    'distance',
    'distance_renormalised',
    'prefix_mass',
    'self_mass',
    'top5_mass',
    'row'
  ])
    assert.ok(
      heads.every((/** @type {any} */ head) => name in head),
      name
    )
  assert.deepEqual([heads.length, rollout.length], [20, 197])
  close(found, expected, '')
  await page.click('#tab-statistics')
  await page.waitForSelector('#view tbody tr')
  const lines = await page
    .locator('#view tbody tr')
    .evaluateAll((lines) =>
      lines.map((line) =>
        [.../** @type {any} */ (line).cells].slice(1).map((cell) => cell.textContent)
      )
    )
  assert.deepEqual(
    lines,
    heads.map((/** @type {any} */ head) => [
      head.entropy_patches.toFixed(3),
      head.distance.toFixed(1),
      head.prefix_mass.toFixed(3),
      head.self_mass.toFixed(3),
      head.top5_mass.toFixed(3)
    ])
  )
  await finish(page)
})

test('a picture that is no square: as trained, and whole with padding; the numbers are those of heed run --fit whole', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heed-fit-')),
    picture = join(repository, 'tests/vectors/preprocess/rgb.png')
  const page = await browser.open('#q=3.4')
  await page.setInputFiles('#picture-file', picture)
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('rgb.png')
  )
  for (const fit of ['model', 'whole']) {
    const expected = nativeReport(folder, '3,4', 'run', picture, '--fit', fit, ...quietly)
    if (fit === 'whole') {
      const caption = await text(page, 'caption')
      await page.click('#fit [data-fit=whole]')
      await page.waitForFunction(
        (caption) => document.getElementById('caption').textContent !== caption,
        caption
      )
      await page.waitForFunction(() => !document.body.classList.contains('dim'))
    }
    const found = JSON.parse((await saved(page, '#save-json')).bytes)
    close(found, expected, fit)
    assert.equal(found.results[0].image.fit, expected.results[0].image.fit)
  }
  assert.equal(await page.evaluate(() => location.hash.includes('m=whole')), true)
  await page.waitForFunction(() =>
    /^row 0, column 0, padding, /.test(
      /** @type {string} */ (document.querySelector('#patches button').getAttribute('aria-label'))
    )
  )
  assert.match(
    /** @type {string} */ (
      await page
        .locator('#patches button')
        .nth(7 * 14 + 7)
        .getAttribute('aria-label')
    ),
    /^row 7, column 7, \d/
  )
  const code = await page.evaluate(async () => {
    let copied
    navigator.clipboard.writeText = async (text) => {
      copied = text
    }
    document.getElementById('code').click()
    while (!copied) await new Promise((done) => setTimeout(done, 10))
    return copied
  })
  assert.match(code, /^heed run rgb\.png --fit whole --layer/)
  assert.match(code, /session\.run\(picture, \{ fit: 'whole' \}\)/)
  await finish(page, 'explorer-whole')
})

const unlike = new Set(['heed', 'device', 'path', 'milliseconds', 'probability'])

/**
 * Every number of `expected` is in `found`, within 1e-5 and 1e-5 of its size; logits, sums of
 * products as large as the first, within 2e-6 of that.
 * @param {string} where
 */
function close(/** @type {any} */ found, /** @type {any} */ expected, where, size = 1, logits = 1) {
  if (typeof expected === 'number')
    assert.ok(
      Math.abs(found - expected) <= 1e-5 * Math.max(size, Math.abs(expected)),
      `${where}: ${found}, expected ${expected}`
    )
  else if (typeof expected === 'object' && expected !== null) {
    const first =
      'top' in expected ? Math.max(1, /** @type {any} */ (expected).top[0].logit / 5) : logits
    for (const key of Object.keys(expected)) {
      if (!unlike.has(key))
        close(
          found[key],
          expected[key],
          `${where}.${key}`,
          /^logits?$/.test(key) ? first : size,
          first
        )
    }
  } else assert.equal(found, expected, where)
}

test('saves PNG, SVG and CSV', async () => {
  const page = await browser.open()
  const png = await saved(page, '#save-png'),
    svg = await saved(page, '#save-svg'),
    csv = await saved(page, '#save-csv')
  assert.deepEqual([...png.bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47])
  assert.ok(png.bytes.readUInt32BE(16) > 900)
  assert.match(svg.bytes.toString(), /^<svg [^]*× uniform[^]*heed \d/)
  const lines = csv.bytes
    .toString()
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('#'))
  assert.equal(lines.length, 198)
  const sum = lines
    .slice(1)
    .reduce(
      (total, line) =>
        total + Number(/** @type {RegExpMatchArray} */ (line.match(/",([^,]+),/))[1]),
      0
    )
  assert.ok(Math.abs(sum - 1) < 1e-5)
  await finish(page)
})

test('maps saved by heed run --save open in the page, and the page’s own; numbers stay', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heed-saved-')),
    at = (/** @type {string} */ name) => join(folder, name)
  execFileSync(native, ['demo', '--scene', '7', '--picture', at('scene.png')])
  execFileSync(native, [
    'run',
    at('scene.png'),
    '--backend',
    'cpu',
    '--layer',
    'all',
    '--save',
    at('maps.safetensors'),
    '--quiet'
  ])
  const page = await browser.open('#s=7&q=3.4')
  const caption = await text(page, 'caption'),
    facts = await text(page, 'facts')
  const npy = await saved(page, '#save-npy'),
    session = await saved(page, '#save-session')
  await page.setInputFiles('#model-files', at('maps.safetensors'))
  await page.waitForFunction(
    () => document.getElementById('model-name').textContent === 'maps.safetensors'
  )
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('pixel_values')
  )
  assert.equal(await text(page, 'caption'), caption)
  await page.setInputFiles('#model-files', [
    { name: 'own.npy', mimeType: '', buffer: npy.bytes },
    { name: 'scene.png', mimeType: 'image/png', buffer: readFileSync(at('scene.png')) }
  ])
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('scene.png')
  )
  assert.equal(await text(page, 'caption'), caption)
  assert.equal((await text(page, 'facts')).slice(0, 60), facts.slice(0, 60))
  for (const view of ['matrix', 'statistics', 'rollout']) await page.click(`#tab-${view}`)
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.startsWith('Rollout')
  )
  await page.click('#demo-model')
  await page.waitForSelector('#demo-model', { state: 'hidden' })
  await page.setInputFiles('#model-files', {
    name: 'heed-session.json',
    mimeType: 'application/json',
    buffer: session.bytes
  })
  await page.waitForFunction(() => location.hash === '#s=7&q=3.4')
  await finish(page, 'explorer-saved')
})

test('a file that is neither picture nor model gets a sentence, and the last result stays', async () => {
  const page = await browser.open(),
    title = await text(page, 'stage-title')
  await page.setInputFiles('#picture-file', {
    name: 'note.png',
    mimeType: 'image/png',
    buffer: Buffer.from('no picture')
  })
  await page.waitForSelector('#error:not([hidden])')
  assert.match(
    await text(page, 'error-text'),
    /^note\.png: this file could not be read as a picture/
  )
  await page.click('#error-close')
  await page.setInputFiles('#model-files', {
    name: 'model.safetensors',
    mimeType: '',
    buffer: Buffer.from('nothing of the kind')
  })
  await page.waitForSelector('#error:not([hidden])')
  assert.match(await text(page, 'error-text'), /safetensors.*Choose another file/)
  assert.equal(await text(page, 'stage-title'), title)
  await page.click('#cls')
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.endsWith('from CLS')
  )
  await finish(page)
})

test('opens a model of one’s own from its files; where its first run is stopped, nothing is asked of it', async () => {
  const page = await browser.open(),
    folder = join(repository, 'runtime/demo/model'),
    files = ['config.json', 'preprocessor_config.json', 'model.safetensors'].map((name) =>
      join(folder, name)
    )
  await page.setInputFiles('#model-files', files)
  await page.waitForSelector('#demo-model:not([hidden])', { timeout: 60000 })
  assert.equal(await text(page, 'model-name'), 'model.safetensors')
  await page.setInputFiles('#model-files', [
    {
      name: 'config.json',
      mimeType: '',
      buffer: Buffer.from(
        JSON.stringify({
          ...JSON.parse(readFileSync(files[0], 'utf8')),
          _name_or_path: 'twins-5x4'
        })
      )
    },
    ...files.slice(1).map((path) => ({
      name: /** @type {string} */ (path.split('/').pop()),
      mimeType: '',
      buffer: readFileSync(path)
    }))
  ])
  /* A model has its name before its first run, which must have ended: the next is to be stopped. */
  await page.waitForFunction(
    () =>
      document.getElementById('model-name').textContent === 'twins-5x4' &&
      document.getElementById('stop').hidden
  )
  assert.match(await text(page, 'caption'), /^Layer 4, head 0: CLS gives .* 64\.1 × uniform/)
  await page.evaluate(() => {
    const status = document.getElementById('status'),
      observer = new MutationObserver(() => {
        if (/^Running/.test(status.textContent)) {
          observer.disconnect()
          document.getElementById('stop').click()
        }
      })
    observer.observe(status, { childList: true })
  })
  await page.setInputFiles('#model-files', files)
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('This model has not run yet')
  )
  await page.hover('#patches [role=gridcell] >> nth=30')
  await page.focus('#patches [role=gridcell][tabindex="0"]')
  for (const key of [']', 'p']) await page.keyboard.press(key)
  await page.click('#tab-matrix')
  await page.click('#save-csv')
  await page.waitForFunction(() =>
    /^This model has not run yet/.test(document.getElementById('error-text').textContent)
  )
  await page.click('#error-close')
  await page.click('#samples button:nth-child(2)')
  await page.waitForFunction(
    () =>
      document.getElementById('stage-title').textContent.startsWith('Layer 4') &&
      document.querySelector('#view .matrix')
  )
  await finish(page)
})

test('a picture and a map are there without scripts', async () => {
  const page = await browser.open('#v=heads', { javaScriptEnabled: false, ready: false })
  for (const id of ['first-picture', 'first-map']) {
    const box = /** @type {Box} */ (await page.locator(`#${id}`).boundingBox())
    assert.ok(box.width > 300 && Math.abs(box.width - box.height) < 2, id)
  }
  /* Its first numbers are those that the page computes. */
  const running = await browser.open()
  assert.equal(await page.locator('#most').innerText(), await running.locator('#most').innerText())
  await finish(running)
  page.faults = page.faults.filter((fault) => !fault.endsWith('.js: csp')) // no script is preloaded
  await finish(page, 'explorer-no-script')
})

test('works where the server isolates nothing, on one thread, and says why', async () => {
  const plain = await startBrowser({ isolated: false })
  try {
    const page = await plain.open()
    assert.match(String(await page.getAttribute('#machine', 'data-why')), /isolated/)
    assert.match(await text(page, 'caption'), /38\.3 × uniform/)
    await finish(page)
  } finally {
    await plain.close()
  }
})

test('a shape is dragged, and the maps follow; it is changed by keyboard', async () => {
  const page = await browser.open('#v=scene')
  assert.equal(await page.locator('#view [name=object] option').count(), 8)
  const box = /** @type {Box} */ (await page.locator('#patches').boundingBox()),
    at = /** @returns {[x: number, y: number]} */ (
      /** @type {number} */ x,
      /** @type {number} */ y
    ) => [box.x + (box.width * x) / 224, box.y + (box.height * y) / 224]
  await page.mouse.move(...at(173, 46)) // the star that the query is on
  await page.mouse.down()
  for (let step = 1; step <= 4; step++)
    await page.mouse.move(...at(173 + step * 2, 46 + step * 5), { steps: 2 })
  await page.mouse.up()
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('Your scene')
  )
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.endsWith('(4, 11)')
  )
  await page.waitForFunction(() =>
    /most to patch \((9|10|11), [0-3]\)/.test(document.getElementById('caption').textContent)
  )
  await page.focus('#view [name=shape]')
  await page.keyboard.press('ArrowUp')
  await page.waitForFunction(() =>
    document
      .getElementById('view')
      .textContent.includes('the demo model was not trained on such scenes')
  )
  await page.click('#view [name=remove]')
  await page.waitForFunction(
    () => document.querySelectorAll('#view [name=object] option').length === 7
  )
  await finish(page)
})

test('a pinned row stands beside another, with their divergence', async () => {
  const page = await browser.open('#v=compare')
  await page.click('#view [name=pin]')
  await page.waitForFunction(() => /0\.0000 nats/.test(document.getElementById('view').textContent))
  await page.focus('#patches [tabindex="0"]')
  await page.keyboard.press('.')
  await page.waitForFunction(() =>
    /Layer 3, head 1/.test(document.querySelector('#view figcaption').textContent)
  )
  assert.match(await text(page, 'view'), /B Layer 3, head 0: from patch \(2, 10\)/)
  const apart = Number(
    /** @type {RegExpMatchArray} */ ((await text(page, 'view')).match(/divergence([\d.]+) nats/))[1]
  )
  assert.ok(apart > 0.05 && apart < Math.LN2, `${apart}`)
  await page.click('#view [name=back]')
  await page.waitForFunction(() =>
    /Layer 3, head 0/.test(document.querySelector('#view figcaption').textContent)
  )
  await finish(page, 'explorer-compared')
})

/* The demo model's position embeddings as its file has them: int8, a scale in BF16 for each row. */
function positionsOfDemo() {
  const bytes = readFileSync(join(repository, 'runtime/demo/model/model.safetensors')),
    start = 8 + Number(bytes.readBigUInt64LE()),
    tensors = JSON.parse(bytes.subarray(8, start).toString()),
    name = 'vit.embeddings.position_embeddings',
    {
      dtype,
      shape: [, rows, width],
      data_offsets: [from]
    } = tensors[name],
    scale = tensors[`${name}_scale`]
  assert.deepEqual([dtype, scale.dtype, scale.shape], ['I8', 'BF16', [1, rows]])
  return {
    rows,
    width,
    data: Float64Array.from({ length: rows * width }, (_, i) => {
      const bits = bytes.readUInt16LE(start + scale.data_offsets[0] + 2 * Math.floor(i / width))
      return (
        bytes.readInt8(start + from + i) * new Float32Array(Uint32Array.of(bits << 16).buffer)[0]
      )
    })
  }
}

test('states of tokens: the query is most like a patch of its own object or its twin', async () => {
  const page = await browser.open('#v=tokens&q=10.1')
  await page.waitForFunction(() =>
    /After layer 3: patch \(10, 1\) is most like patch \(\d+, \d+\), cosine 0\.\d{3}\. The patch with the largest norm/.test(
      document.getElementById('view').textContent
    )
  )
  const [, row, column] = /** @type {any[]} */ (
    (await text(page, 'view')).match(/most like patch \((\d+), (\d+)\)/)
  )
  assert.ok((row >= 8 && column <= 3) || (row <= 4 && column >= 9), `${row}, ${column}`)
  await page.waitForFunction(() =>
    /By position alone patch \(10, 1\) is most like patch/.test(
      document.getElementById('view').textContent
    )
  )
  const near = (await text(page, 'view')).match(
    /By position alone .* most like patch \((\d+), (\d+)\), cosine (0\.\d+), in/
  )
  const { width, rows, data } = positionsOfDemo(),
    at = (/** @type {number} */ token) => data.subarray(token * width, (token + 1) * width),
    dot = (
      /** @type {Float64Array<ArrayBuffer>} */ a,
      /** @type {Float64Array<ArrayBuffer>} */ b
    ) => a.reduce((sum, value, i) => sum + value * b[i], 0)
  const cosine = (/** @type {number} */ a, /** @type {number} */ b) =>
      dot(at(a), at(b)) / Math.sqrt(dot(at(a), at(a)) * dot(at(b), at(b))),
    query = 1 + 10 * 14 + 1
  assert.equal(rows, 197)
  const best = Math.max(
    ...Array.from({ length: 196 }, (_, patch) =>
      patch + 1 === query ? -1 : cosine(query, patch + 1)
    )
  )
  assert.ok(
    Math.abs(
      cosine(
        query,
        1 +
          14 * Number(/** @type {RegExpMatchArray} */ (near)[1]) +
          Number(/** @type {RegExpMatchArray} */ (near)[2])
      ) - best
    ) < 1e-6
  )
  assert.equal(/** @type {RegExpMatchArray} */ (near)[3], best.toFixed(3))
  const csv = (await saved(page, '#save-csv')).bytes
    .toString()
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
  assert.equal(csv[0], 'token,name,"cosine","length","position_cosine"')
  assert.deepEqual(
    csv[1 + query]
      .split(',')
      .map(Number)
      .filter((value) => Math.abs(value - 1) < 1e-6).length,
    2
  )
  await finish(page, 'explorer-tokens')
})

test('a head is taken out: class shares before and after; its layer’s output changes, maps before it stay', async () => {
  const page = await browser.open('#v=intervene'),
    answer = await text(page, 'answer'),
    caption = await text(page, 'caption'),
    top = async () => (await page.locator('#frame').boundingBox())?.y,
    before = await top()
  await page.click('#view [data-key="3.0"]')
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.includes('without 3.0')
  )
  assert.match(await text(page, 'stage-title'), /: from patch \(2, 10\), without 3\.0$/) // a narrow title is cut at its end
  assert.equal(await top(), before) // a longer title moves nothing
  await page.waitForFunction(
    (answer) => document.getElementById('answer').textContent !== answer,
    answer
  )
  assert.match(await text(page, 'caption'), /patch \(2, 10\) looks nowhere/)
  await page.click('#view [data-key="3.0"]')
  await page.click('#view [data-key="3.1"]')
  await page.waitForFunction(() =>
    document.getElementById('caption').textContent.startsWith('Layer 3, head 0, without 3.1')
  )
  assert.equal((await text(page, 'caption')).replace(', without 3.1', ''), caption)
  await page.click('#view [data-key="3.1"]')
  await page.click('#view [data-key="3.0"]')
  await page.waitForFunction(() =>
    document.getElementById('caption').textContent.includes('without 3.0')
  )
  await page.waitForFunction(() => location.hash === '#v=intervene&x=3.0')
  await page.screenshot({ path: join(repository, 'build/web/screenshots/explorer-without.png') })
  await page.click('#view [name=all]')
  await page.waitForFunction(
    (answer) => document.getElementById('answer').textContent === answer,
    answer
  )
  await finish(page)
})

/**
 * Waits until a patch has no weight.
 * @param {TestPage} page
 * @param {number} row
 * @param {number} column
 */
const untilDark = (page, row, column) =>
  page.waitForFunction(
    ([row, column]) =>
      document
        .querySelectorAll('#patches button')
        [row * 14 + column].getAttribute('aria-label')
        ?.includes('0.00 %'),
    [row, column]
  )

test('patches are dropped and pairs cut on the picture; temperature and what stands in for a head; the bars tell', async () => {
  const page = await browser.open('#v=intervene'),
    answer = await text(page, 'answer'),
    title = (/** @type {string} */ words) =>
      page.waitForFunction(
        (words) => document.getElementById('stage-title').textContent.includes(words),
        words
      )
  await page.selectOption('#view [name=brush]', 'drop')
  const box = /** @type {Box} */ (await page.locator('#patches').boundingBox()),
    at = /** @returns {[x: number, y: number]} */ (
      /** @type {number} */ row,
      /** @type {number} */ column
    ) => [box.x + (box.width * (column + 0.5)) / 14, box.y + (box.height * (row + 0.5)) / 14]
  await page.mouse.move(...at(10, 1))
  await page.mouse.down()
  await page.mouse.move(...at(10, 2), { steps: 2 })
  await page.mouse.up()
  await title('2 patches dropped')
  await untilDark(page, 10, 1)
  await page.waitForFunction(() => location.hash === '#v=intervene&z=141-142')
  await page.selectOption('#view [name=brush]', 'cut')
  await page.focus('#patches [tabindex="0"]')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await title('1 pair cut')
  await page.selectOption('#score', 'masked')
  await page.waitForFunction(() =>
    /; \d barred/.test(document.getElementById('caption').textContent)
  )
  await page.selectOption('#score', 'softmax')
  await page.fill('#view [name=temperature]', '2')
  await title('temperature 2')
  await page.click('#view [data-key="0.1"]')
  for (const how of ['uniform', 'mean']) {
    await page.selectOption('#view [name=how]', how)
    await title(`without 0.1 (${how})`)
  }
  assert.match(/** @type {string} */ (await page.textContent('#view .shares')), /star.*%.*%/)
  await page.screenshot({
    path: join(repository, 'build/web/screenshots/explorer-changed.png'),
    fullPage: true
  })
  const hash = await page.evaluate(() => location.hash),
    said = await text(page, 'stage-title'),
    other = await browser.open(hash)
  await titled(other, said)
  await finish(other)
  await page.click('#view [name=all]')
  await page.waitForFunction(
    (answer) => document.getElementById('answer').textContent === answer,
    answer
  )
  await finish(page)
})

test('the back button leads to the view before', async () => {
  const page = await browser.open()
  await page.click('#tab-matrix')
  await page.click('#tab-statistics')
  await page.waitForFunction(() => location.hash === '#v=statistics') // the history's script is fetched
  for (const view of ['matrix', 'heads']) {
    await page.goBack()
    await page.waitForFunction(
      (view) => document.getElementById(`tab-${view}`).getAttribute('aria-selected') === 'true',
      view
    )
  }
  await finish(page)
})

test('views chosen before the script of the history is there are entries of it', async () => {
  const page = await browser.open('')
  let go = () => {}
  const held = new Promise((done) => (go = () => done(undefined)))
  await page.route('**/history-*.js', async (route) => {
    await held
    await route.continue()
  })
  await page.keyboard.press('Escape') // out of the zoom
  for (const view of ['matrix', 'statistics', 'tokens']) await page.click(`#tab-${view}`)
  assert.equal(await page.evaluate(() => location.hash), '')
  go()
  await page.waitForFunction(() => location.hash.endsWith('v=tokens'))
  for (const view of ['statistics', 'matrix']) {
    await page.goBack()
    await page.waitForSelector(`#tab-${view}[aria-selected=true]`)
  }
  await page.goBack()
  await page.waitForSelector('#zoom', { state: 'visible' })
  await finish(page)
})

test('back and forward lead through views and samples, and keep a picture of one’s own; Esc stays on the page', async () => {
  const page = await browser.open(),
    hashes = ['#v=heads'],
    at = (/** @type {string | number} */ hash) =>
      page.waitForFunction((hash) => location.hash === hash, hash)
  /** @param {string} name */
  const status = (name) =>
    page.waitForFunction(
      (name) => document.getElementById('status').textContent.startsWith(`${name}:`),
      name
    )
  /* A sample's query, a patch of a twin, is known a moment after its picture. */
  for (const [view, sample, hash] of [
    ['matrix', 2, '#s=7&q=8.3&v=matrix'],
    ['tokens', 3, '#s=42&q=11.7&v=tokens'],
    ['rollout', 0, '#s=42&q=11.7&v=rollout']
  ]) {
    await page.click(`#tab-${view}`)
    if (sample) {
      await page.waitForFunction((view) => location.hash.endsWith(`v=${view}`), view)
      hashes.push(await page.evaluate(() => location.hash))
      await page.click(`#samples button:nth-child(${sample})`)
    }
    await at(hash)
    hashes.push(/** @type {any} */ (hash))
  }
  for (const hash of hashes.slice(0, -1).reverse()) {
    await page.goBack()
    await at(hash)
  }
  await status('Scene 159')
  await page.focus('#patches button')
  await page.keyboard.press('Escape')
  for (const hash of hashes.slice(1)) {
    await page.goForward()
    await at(hash)
  }
  await status('Scene 42')
  await page.setInputFiles('#picture-file', join(repository, 'tests/vectors/preprocess/rgb.png'))
  await status('rgb.png')
  await page.click('#tab-heads')
  await page.keyboard.press('Escape')
  await page.waitForSelector('#tab-rollout[aria-selected=true]')
  await page.waitForTimeout(60)
  assert.match(await text(page, 'status'), /^rgb\.png:/)
  assert.equal(await page.evaluate(() => location.hash.includes('s=')), false)
  await page.goBack()
  await at(hashes[hashes.length - 1])
  await status('Scene 42')
  await page.goForward()
  await status('rgb.png')
  await finish(page)
})

test('back leads through queries, heads, layers and pictures of one’s own; a walk by keys is one entry', async () => {
  const page = await browser.open(),
    entries = () => page.evaluate(() => history.length),
    at = (/** @type {string} */ hash) =>
      page.waitForFunction((hash) => location.hash === hash, hash),
    rest = () =>
      page.evaluate(() => {
        window.now_ += 700
      })
  // Choices within 600 ms are one entry, by a clock that this test moves on.
  await page.evaluate(() => {
    window.now_ = Date.now()
    Date.now = () => window.now_
  })
  const before = await entries()
  await page.click('#patches button >> nth=45')
  await at('#q=3.3')
  await rest()
  await page.locator('#view [role=gridcell]').nth(17).click()
  await at('#l=4&h=1&q=3.3')
  await rest()
  await page.click('#cls')
  await at('#l=4&h=1&q=cls')
  assert.equal(await entries(), before + 3)
  await page.goBack()
  await at('#l=4&h=1&q=3.3')
  await page.waitForFunction(() =>
    /^Layer 4, head 1: from patch \(3, 3\)/.test(document.getElementById('stage-title').textContent)
  )
  await page.focus('#patches [tabindex="0"]')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  await at('#l=4&h=1&q=4.5')
  assert.equal(await entries(), before + 3) // in the place of the entry that was gone back from
  const box = /** @type {Box} */ (await page.locator('#patches').boundingBox())
  for (let i = 0; i < 40; i++) await page.mouse.move(box.x + 5 * i, box.y + 5 * i)
  await rest()
  assert.equal(await entries(), before + 3)
  for (const hash of ['#l=4&h=1&q=3.3', '#q=3.3', '#v=heads']) {
    await page.goBack()
    await at(hash)
  }
  for (const [i, name] of ['rgb.png', 'palette.png'].entries()) {
    await rest()
    await page.setInputFiles('#picture-file', join(repository, `tests/vectors/preprocess/${name}`))
    await page.waitForFunction(
      (name) => document.getElementById('status').textContent.startsWith(`${name}:`),
      name
    )
    await page.waitForFunction(
      (own) => Math.round(history.state.own - performance.timeOrigin) === own,
      i + 1
    ) // its entry
  }
  for (const name of ['rgb.png', 'Scene 159']) {
    await page.goBack()
    await page.waitForFunction(
      (name) => document.getElementById('status').textContent.startsWith(`${name}:`),
      name
    )
  }
  await finish(page)
})

test('heads are sorted and filtered; the table follows', async () => {
  const page = await browser.open(),
    names = () => page.locator('#view small').allTextContents()
  await page.selectOption('#view [name=sort]', 'distance')
  await page.click('#view [name=descending]')
  await page.fill('#view [name=filter]', 'entropy < 3')
  await page.waitForFunction(() =>
    /of 20 heads/.test(document.querySelector('#view .hint').textContent)
  )
  const found = (await names()).map((name) => Number(name.split(': ')[1]))
  assert.ok(found.length > 2 && found.length < 20, `${found}`)
  assert.deepEqual(
    found,
    [...found].sort((a, b) => b - a)
  )
  await page.locator('#view [role=gridcell]').nth(1).click()
  const [, layer, head] = /** @type {RegExpExecArray} */ (/^(\d)\.(\d)/.exec((await names())[1]))
  assert.equal(await text(page, 'stage-title'), `Layer ${layer}, head ${head}: from patch (2, 10)`)
  await page.screenshot({ path: join(repository, 'build/web/screenshots/explorer-sorted.png') })
  await page.click('#tab-statistics')
  await page.waitForSelector('#view tbody tr')
  assert.equal(await page.locator('#view tbody tr').count(), found.length)
  assert.equal(await page.getAttribute('#view th[aria-sort]', 'aria-sort'), 'descending')
  await finish(page)
})

test('a scale to the largest weight of all heads: stage and heads end alike, the bar and what is saved say so', async () => {
  const page = await browser.open('#n=all', { modules: true })
  const largest = await page.evaluate(async () => {
    const { createRunner } = await import('./shared/model_runner.js'),
      engine = await createRunner(),
      { image } = await engine.scene(159)
    await engine.run(/** @type {any} */ (image))
    const rows = await engine.rows({ query: [2, 10] })
    return {
      all: Math.max(...rows.flat().flatMap((row) => [...row.subarray(1)])) * 197,
      own: Math.max(...rows[3][0].subarray(1)) * 197
    }
  })
  assert.ok(largest.all > 2 * largest.own, JSON.stringify(largest))
  assert.equal(
    await page.textContent('#ticks span:last-child'),
    String(Number(largest.all.toPrecision(3)))
  )
  assert.match(await text(page, 'bar-label'), /all heads’ largest/)
  assert.match(
    /** @type {string} */ (await page.textContent('#view .hint')),
    new RegExp(`ends at the largest weight of all heads: ${largest.all.toFixed(1)} × uniform`)
  )
  const ends = () => page.textContent('#ticks span:last-child'),
    end = await ends()
  await page.focus('#patches [tabindex="0"]')
  await page.keyboard.press(']')
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.startsWith('Layer 4')
  )
  assert.equal(await ends(), end)
  assert.match((await saved(page, '#save-svg')).bytes.toString(), /all heads’ largest/)
  await page.click('#tab-rollout') // one map: it ends at its own largest
  await page.waitForFunction(() => document.getElementById('bar-label').textContent === '× uniform')
  await finish(page)
})

test('scores before the softmax: in every view, and their softmax is the row', async () => {
  const page = await browser.open('#v=matrix&p=scaled', { modules: true })
  assert.match(
    await text(page, 'caption'),
    /^Layer 3, head 0, q·k \/ √D \(ONNX mode 0\): patch \(2, 10\) scores tokens from -?\d/
  )
  await page.focus('#view .matrix')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.endsWith('(2, 11)')
  )
  await page.waitForFunction(() =>
    /^patch \(2, 11\) to patch \(2, 11\): score/.test(
      document.getElementById('matrix-said').textContent
    )
  )
  const apart = await page.evaluate(async () => {
    const { createRunner } = await import('./shared/model_runner.js'),
      engine = await createRunner()
    const { image } = await engine.scene(7)
    await engine.run(/** @type {any} */ (image))
    const rows = Array.from({ length: 5 }, (_, layer) =>
      [0, 3].flatMap((head) => ['cls', [3, 4]].map((query) => ({ layer, head, query })))
    ).flat()
    return Math.max(
      ...rows.flatMap((at) => {
        const row = engine.row(/** @type {any} */ (at))
        return engine.explain
          .softmax(engine.row(/** @type {any} */ ({ ...at, score: 'scaled' })))
          .map((weight, i) => Math.abs(weight - row[i]))
      })
    )
  })
  assert.ok(apart < 1e-5, `the softmax of the scores is ${apart} from the weights`)
  const [names, cls] = (await saved(page, '#save-csv')).bytes
    .toString()
    .split('\n')
    .filter((line) => !line.startsWith('#'))
  assert.match(names, /^"query, q·k \/ √D \(ONNX mode 0\)","CLS","patch \(0, 0\)",/)
  assert.ok(
    cls
      .split(',')
      .slice(1)
      .some((score) => Number(score) < 0)
  )
  await finish(page, 'explorer-scores')
})

/* What of a view is there once it is drawn. */
const ownText = /** @type {Record<string, string>} */ ({
  heads: '.hint:text-matches("× uniform")',
  matrix: '#matrix-said:not(:empty)',
  rollout: '.hint >> nth=0',
  statistics: 'tbody tr >> nth=0',
  compare: 'dl dt >> nth=0',
  intervene: 'tbody.shares tr >> nth=0',
  tokens: 'figcaption span:not(:empty) >> nth=0',
  scene: '.hint:text-matches("occurs twice")',
  texts: '.hint:not(:empty) >> nth=0',
  more: '.more-views button >> nth=0'
})

/* Maps of which no line can be told from the card around them and from their darkest colour: around
 * each, and between those of heads. */
const bareMaps = () => {
  const light = (/** @type {number[]} */ rgb) =>
      rgb
        .map((value) =>
          value / 255 <= 0.04 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4
        )
        .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0.05),
    ofColour = (/** @type {string} */ colour) => {
      const [r, g, b, alpha = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number)
      return alpha ? light([r, g, b]) : 0 // transparent: no contrast
    },
    card = ofColour(
      getComputedStyle(/** @type {Element} */ (document.querySelector('.panel'))).backgroundColor
    ),
    darkest = light([0, 34, 78])
  return [...document.querySelectorAll('.frame, .bar canvas, .raster canvas')]
    .filter((map) => map.checkVisibility())
    .filter((map) => {
      const { outlineStyle, outlineColor, backgroundColor } = getComputedStyle(map),
        lines = [outlineStyle === 'solid' ? outlineColor : 'rgba(0, 0, 0, 0)']
      if (map.id === 'heads-canvas') lines.push(backgroundColor)
      return lines.some((line) => ofColour(line) < 1.8 * Math.max(card, darkest))
    })
    .map((map) => map.outerHTML.slice(0, 80))
}

/* One page goes through the views, since axe takes seconds for a whole page: the first view has it,
 * the others the panel that is new. */
test('axe finds no violation in any view, light and dark', async (t) => {
  const page = await browser.open('#v=heads', {
    colorScheme: 'light',
    reducedMotion: 'reduce',
    bypassCSP: true
  })
  await page.click('#pin').then(() => page.waitForSelector('#pins li', { state: 'attached' }))
  for (const [i, view] of Object.keys(views).entries())
    await t.test(view, async () => {
      await page.click(`#tab-${view}`)
      await page.waitForSelector(`#view ${ownText[view]}`, { state: 'attached' })
      await page.waitForFunction(() => !document.querySelector('[role=gridcell]:not([aria-label])')) // they get their names a moment later
      for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
        await page.emulateMedia({ colorScheme })
        /* Dark differs by its colours alone. */
        const rules = colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : {}
        assert.deepEqual(await violations(page, i > 0 ? '#view' : 'html', rules), [])
        await takePicture(page, `explorer-${view}-${colorScheme}`)
      }
      assert.deepEqual(await page.evaluate(bareMaps), []) // still dark
    })
  await finish(page)
})

/* Bytes of the start, by gzip: of what is asked for until nothing is left to do. The hashes of what
 * stands in the page compress to nothing less. */
const startAtMost = 150000

for (const isolated of [true, false])
  test(`HTML, styles and scripts that opening the explorer fetches, the library and its worker with them, are at most ${startAtMost} bytes gzip in each language; ${isolated ? '' : 'not '}isolated`, async () => {
    for (const locale of isolated ? ['en', 'ja', 'zh-CN'] : ['en']) {
      const other = await startBrowser({ isolated })
      try {
        const page = await other.open('icon.svg', { locale, ready: false })
        /* The code of the zoom comes after the first map, and is none of the start. */
        await page.route(/zoom-[0-9a-f]+\.js$/, () => {}) // never comes
        await page.goto(
          `${other.address}${locale === 'en' ? '' : `index.${locale.slice(0, 2)}.html`}`
        )
        await page.waitForSelector('html[data-ready]', { timeout: 60000 })
        await page.waitForTimeout(1500)
        await page.context().close()
        const files = [...new Set(other.asked)].filter((file) => /\.(html|css|js)$/.test(file)),
          weights = files.map((file) => gzipSync(readFileSync(file), { level: 9 }).length),
          bytes = weights.reduce((sum, weight) => sum + weight, 0)
        console.log(
          `${locale}: ${bytes} bytes gzip in ${files.length} files: ${files.map((file, i) => `${relative(site, file)} ${weights[i]}`).join(', ')}`
        )
        for (const part of [/index(\.\w+)?\.html$/, /start-\w+\.js$/, /heed\/worker\.js$/])
          assert.ok(
            files.some((file) => part.test(file)),
            String(part)
          )
        /* These stand within the page: the first picture waits for none of them. */
        assert.deepEqual(
          files.filter((file) => /(style\.css|language\.js|early\.js)$/.test(file)),
          []
        )
        assert.ok(bytes <= startAtMost, `${locale}: ${bytes} bytes`)
      } finally {
        await other.close()
      }
    }
  })

test('the code of docs/add-a-view.md is a view, and a line of the list', async () => {
  const [view, line] = [
    ...readFileSync(join(repository, 'docs/add-a-view.md'), 'utf8').matchAll(/```ts\n([^]*?)```/g)
  ].map(([, code]) => code)
  const page = await browser.open('#v=heads', { modules: true })
  await page.route('**/views/tokens/tokens.js', (route) =>
    route.fulfill({
      body: transformSync(view.replace("'lit-html'", "'../../../npm/lit-html/lit-html.js'"), {
        loader: 'ts'
      }).code,
      contentType: 'text/javascript'
    })
  )
  await page.click('#tab-tokens')
  await page.waitForSelector(`#view p:text-is("${197 * 197}")`)
  await finish(page)
  const { name } = new Function('say', `return {${line.replace('import(', 'say(')}}`)(String)
  assert.deepEqual([name.title, name.load()], ['view.name', './room/name.js'])
})

test('module by module, the pages work too', async () => {
  for (const path of ['learn.html', 'masks.html', 'bench.html', 'embed.html'])
    await finish(await browser.open(path, { modules: true }))
  const page = await browser.open('#v=intervene', { modules: true })
  assert.equal(
    await page.evaluate(
      () =>
        performance
          .getEntriesByType('resource')
          .filter(({ name }) => name.endsWith('/views/effects/intervene.js')).length
    ),
    1
  )
  await finish(page)
})
