/* The composer of figures in a browser: opened from the menu by keyboard, its panels, and what it
 * saves, copies, prints and opens again. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import * as zlib from 'node:zlib'
import { finish, site, startBrowser, violations } from '../browser.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

const shots = join(site, '../screenshots')
/** @type {TestBrowser} */
let browser

before(async () => (browser = await startBrowser()))
after(() => browser.close())

/** @param {TestPage} page */
async function openComposer(page) {
  await page.click('#save-figure')
  await drawn(page)
}

/**
 * The figure that is drawn now, once the picture has come.
 * @param {TestPage} page
 */
const drawn = (page) =>
  page.waitForFunction(() => {
    const image = /** @type {HTMLImageElement | null} */ (document.querySelector('#figure img'))
    return image?.complete && image.naturalWidth > 0
  })

/**
 * Does something after which another picture of the figure comes.
 * @param {TestPage} page
 * @param {() => Promise<unknown>} change
 */
async function redrawn(page, change) {
  const before = await page.getAttribute('#figure img', 'src')
  await change()
  await page.waitForFunction(
    (before) => document.querySelector('#figure img')?.getAttribute('src') !== before,
    before
  )
  await drawn(page)
}

/**
 * @param {TestPage} page
 * @param {string} name
 */
async function saved(page, name) {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click(`#figure [name=${name}]`)
  ])
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
}

/**
 * The chunks of a PNG, by type.
 * @param {Buffer} png
 */
function chunksOf(png) {
  const found = /** @type {[type: string, body: Buffer][]} */ ([])
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    found.push([
      png.subarray(at + 4, at + 8).toString('latin1'),
      png.subarray(at + 8, at + 8 + png.readUInt32BE(at))
    ])
  return found
}

test('keyboard alone: from the menu to the dialog, through its controls, a saved SVG, and back', async () => {
  const page = await browser.open()
  await page.focus('[popovertarget=save]')
  await page.keyboard.press('Enter')
  await page.waitForSelector('#save-figure')
  await page.focus('#save-figure')
  await page.keyboard.press('Enter')
  await drawn(page)
  const reached = new Set()
  for (let i = 0; i < 40; i++) {
    reached.add(
      await page.evaluate(() => {
        const at = /** @type {HTMLInputElement} */ (document.activeElement)
        return at.closest('#figure') ? `${at.name} ${at.type === 'checkbox' ? at.value : ''}` : ''
      })
    )
    await page.keyboard.press('Tab')
  }
  const all = await page.evaluate(() =>
    [.../** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll('#figure [name]'))]
      .filter(({ disabled }) => !disabled)
      .map(({ name, type, value }) => `${name} ${type === 'checkbox' ? value : ''}`)
  )
  assert.deepEqual(
    all.filter((name) => !reached.has(name)),
    []
  )
  await page.focus('#figure [name=svg]')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.keyboard.press('Enter')
  ])
  assert.equal(download.suggestedFilename(), 'Scene-159_L3H0_q2-10_picture-map-heads.svg')
  assert.match(
    /** @type {string} */ (await page.textContent('#figure [role=status]')),
    /^Saved as Scene-159_/
  )
  await page.keyboard.press('Escape')
  // the browser reports the closing in a task of its own
  await page.waitForSelector('#figure', { state: 'detached' })
  await page.waitForFunction(() => document.activeElement?.getAttribute('popovertarget') === 'save')
  await finish(page)
})

test('all panels: each has its letter and name; the scale’s end is the stage’s; nothing sticks out', async () => {
  const page = await browser.open('#v=compare')
  await page.waitForSelector('#view [name=pin]')
  await page.click('#view [name=pin]')
  await page.evaluate(() => {
    location.hash = '#v=compare&l=4&h=1'
  })
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.startsWith('Layer 4, head 1')
  )
  await page.waitForSelector('#view .pair:not(.waiting) dl dd')
  const end = await page.locator('#stage .ticks span').last().textContent()
  await openComposer(page)
  for (const name of ['matrix', 'rollout', 'statistics', 'comparison'])
    await redrawn(page, () => page.check(`#figure [value=${name}]`))
  await redrawn(page, () => page.fill('#figure [name=width]', '180'))
  const { name, bytes } = await saved(page, 'svg')
  assert.equal(
    name,
    'Scene-159_L4H1_q2-10_picture-map-heads-matrix-rollout-statistics-comparison.svg'
  )
  writeFileSync(join(shots, 'figure-180.svg'), bytes)
  const found = await page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, 'image/svg+xml'),
      root = /** @type {any} */ (document.body.appendChild(parsed.documentElement)),
      box = root.getBoundingClientRect()
    const texts = [...root.querySelectorAll('text')],
      out = texts
        .map((one) => [one.textContent, one.getBoundingClientRect()])
        .filter(
          ([, { left, right, top, bottom }]) =>
            left < box.left - 1 ||
            right > box.right + 1 ||
            top < box.top - 1 ||
            bottom > box.bottom + 1
        )
        .map(([text]) => text)
    const result = {
      errors: root.querySelectorAll('parsererror').length,
      groups: [...root.querySelectorAll('g')].map(({ id }) => id),
      letters: texts.filter((one) => one.hasAttribute('font-weight')).map((one) => one.textContent),
      map: [...root.querySelectorAll('#panel-map text')].map((one) => one.textContent),
      metadata: JSON.parse(root.querySelector('metadata').textContent),
      title: root.querySelector('title').textContent,
      out
    }
    root.remove()
    return result
  }, bytes.toString())
  assert.equal(found.errors, 0)
  assert.deepEqual(
    found.groups,
    ['picture', 'map', 'heads', 'matrix', 'rollout', 'statistics', 'comparison'].map(
      (name) => `panel-${name}`
    )
  )
  assert.deepEqual(found.letters, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  assert.ok(found.map.includes(end), `${found.map} has ${end}`)
  assert.deepEqual(found.out, [])
  assert.equal(found.metadata.layer, 4)
  assert.match(found.metadata.weights_sha256['model.safetensors'], /^[0-9a-f]{64}$/)
  assert.equal(found.title, 'Scene 159: Layer 4, head 1: from patch (2, 10)')
  await finish(page, 'composer-1366')
})

/**
 * The texts of a PNG, by their names.
 * @param {[type: string, body: Buffer][]} chunks
 * @returns {Record<string, string>}
 */
const textsOf = (chunks) =>
  Object.fromEntries(
    chunks
      .filter(([type]) => type === 'tEXt' || type === 'iTXt')
      .map(([type, text]) => {
        const [key, ...rest] = text.toString(type === 'tEXt' ? 'latin1' : 'utf8').split('\0')
        return [key, rest.at(-1) ?? '']
      })
  )

test('PNG and SVG of the menu say of themselves what the composer’s do', async () => {
  const page = await browser.open()
  /** @param {string} button */
  const fromMenu = async (button) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)])
    return readFile(await download.path())
  }
  const svg = (await fromMenu('#save-svg')).toString()
  await page.selectOption('#png-times', '2')
  const chunks = chunksOf(await fromMenu('#save-png')),
    body = new Map(chunks),
    texts = textsOf(chunks)
  await openComposer(page)
  const composers = (await saved(page, 'svg')).bytes.toString(),
    composersPng = textsOf(chunksOf((await saved(page, 'png')).bytes))
  /** @param {string} text */
  const told = (text) =>
    page.evaluate((text) => {
      const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement
      return [
        root.getAttribute('aria-labelledby') ?? '',
        ...['title', 'desc', 'metadata'].map((name) => root.querySelector(name)?.textContent ?? '')
      ]
    }, text)
  const [labels, title, description, metadata] = await told(svg),
    [composersLabels, composersTitle, composersDescription, composersMetadata] =
      await told(composers)
  assert.deepEqual(
    [labels, title, description],
    [composersLabels, composersTitle, composersDescription]
  )
  const { width_mm, ...expected } = JSON.parse(composersMetadata)
  assert.equal(width_mm, 85)
  assert.deepEqual(JSON.parse(metadata), { ...expected, panels: ['map', 'heads'] })
  assert.deepEqual(texts, { ...composersPng, heed: metadata })
  assert.equal(body.get('pHYs')?.readUInt32BE(0), Math.round((2 * 96) / 0.0254))
  await finish(page)
})

test('the menu’s files have the names that stand beside the view, and a frame around the head', async () => {
  const page = await browser.open()
  /** Texts of the saved SVG, and how many cells have a frame. */
  const savedTexts = async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-svg')]),
      svg = (await readFile(await download.path())).toString()
    return {
      svg,
      texts: [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text),
      frames: svg.match(/<rect [^>]*fill="none" stroke="#fff"/g)?.length ?? 0
    }
  }
  const heads = await savedTexts()
  for (const name of ['head 0', 'head 3', 'layer 0', 'layer 4'])
    assert.ok(heads.texts.includes(name), name)
  assert.equal(heads.frames, 1)
  await page.evaluate(() => {
    location.hash = '#t=entropy'
  })
  await page.waitForSelector('#view .ordered small')
  assert.match((await savedTexts()).texts.join('\n'), /^3\.0: 0\.4/m)
  await page.evaluate(() => {
    location.hash = '#w=entropy<1.36'
  })
  await page.waitForFunction(() => document.querySelectorAll('#view .ordered small').length === 2)
  const { svg } = await savedTexts(),
    [, across] = /<rect [^>]*width="([\d.]+)"[^>]*fill="none" stroke="#fff"/.exec(svg) ?? [],
    [, , all] = [...svg.matchAll(/<image [^>]*? width="([\d.]+)"/g)].map(([, width]) => width)
  assert.ok(
    Math.abs(Number(across) - (Number(all) / 4) * (14 / 15)) < 0.1,
    `two heads of four in a line: a frame of ${across} in ${all}`
  )
  await page.click('#tab-matrix')
  await page.waitForSelector('#view .matrix')
  await page.waitForFunction(() => document.querySelector('#view .ticks span'))
  const matrix = await savedTexts()
  assert.ok(matrix.texts.includes('query ↓') && matrix.texts.includes('key →'))
  await page.click('#tab-compare')
  await page.waitForSelector('#view .pair:not(.waiting) dl dd')
  const compare = (await savedTexts()).texts.join(' ')
  for (const title of [/A: Layer 3, head 0: from patch/, /B: Layer 3, mean of the/, /A − B: blue/])
    assert.match(compare, title)
  await finish(page)
})

test('a PNG of 85 mm at 300 DPI is 1004 pixels wide and says its size and where it is from', async () => {
  const page = await browser.open()
  await openComposer(page)
  const { name, bytes } = await saved(page, 'png'),
    chunks = chunksOf(bytes),
    body = new Map(chunks)
  assert.equal(name, 'Scene-159_L3H0_q2-10_picture-map-heads.png')
  assert.equal(body.get('IHDR')?.readUInt32BE(0), 1004)
  assert.deepEqual(
    [body.get('pHYs')?.readUInt32BE(0), body.get('pHYs')?.readUInt32BE(4), body.get('pHYs')?.[8]],
    [11811, 11811, 1]
  )
  const texts = textsOf(chunks)
  assert.equal(texts.Title, 'Scene 159: Layer 3, head 0: from patch (2, 10)')
  assert.match(texts.Description, /most to patch \(10, 1\): 19\.4 % = 38\.3 × uniform/)
  assert.match(texts.Software, /^heed \d/)
  assert.equal(JSON.parse(texts.heed).query[1], 10)
  const pixels = zlib.inflateSync(
    Buffer.concat(chunks.filter(([type]) => type === 'IDAT').map(([, part]) => part))
  )
  assert.ok(new Set(pixels).size > 100) // something is drawn
  writeFileSync(join(shots, 'figure-85.png'), bytes)
  await redrawn(page, () => page.fill('#figure [name=width]', '180'))
  await page.selectOption('#figure [name=dpi]', '150')
  assert.equal(
    new Map(chunksOf((await saved(page, 'png')).bytes)).get('IHDR')?.readUInt32BE(0),
    1063
  )
  await finish(page)
})

test('a saved figure opens again and gives the same SVG; a hostile one gets a sentence', async () => {
  const page = await browser.open('#l=2&h=1&c=viridis&n=log')
  await openComposer(page)
  await redrawn(page, () => page.fill('#figure [name=heads]', '2, 3.0-3.1'))
  await redrawn(page, () => page.selectOption('#figure [name=dark]', '1'))
  await redrawn(page, () => page.click('#figure [aria-label^="Map"]')) // a panel one place earlier
  const svg = await saved(page, 'svg'),
    json = await saved(page, 'json')
  assert.equal(json.name, 'Scene-159_L2H1_q2-10_map-picture-heads.json')
  await page.keyboard.press('Escape')
  await page.evaluate(() => {
    location.hash = '#s=159'
  })
  const open = (/** @type {string} */ text) =>
    page.setInputFiles('#model-files', {
      name: 'own.json',
      mimeType: 'application/json',
      buffer: Buffer.from(text)
    })
  await open(json.bytes.toString())
  await drawn(page)
  assert.equal((await saved(page, 'svg')).bytes.toString(), svg.bytes.toString())
  assert.ok(await page.isDisabled('#figure [value=matrix]'))
  assert.equal(
    await page.textContent('#figure .panel-line:has([value=matrix]) p'),
    'The file has no such panel.'
  )
  await page.click('#figure [name=close]')
  await open(json.bytes.toString().replace('"width":85', '"width":"wide"'))
  await page.waitForSelector('#error:not([hidden])')
  assert.equal(
    (await page.textContent('#error-text'))?.trim(),
    'own.json: look, width: cannot be read (found “wide”, expected a number from 40 to 300). Save the figure again.'
  )
  assert.equal(await page.locator('#figure').count(), 0)
  await finish(page)
})

test('what cannot be taken is said, and the figure before stays', async () => {
  const page = await browser.open()
  await openComposer(page)
  const before = await page.getAttribute('#figure img', 'src')
  const said = (/** @type {string} */ text) =>
    page.waitForFunction(
      (text) => document.querySelector('#figure [role=status]')?.textContent?.includes(text),
      text
    )
  await page.fill('#figure [name=heads]', '9.9')
  await said('Heads: cannot be shown (found “9.9”')
  await page.fill('#figure [name=heads]', 'all')
  await page.fill('#figure [name=width]', '5')
  await said('Width: cannot be taken (found 5, expected 40 to 300 mm)')
  await page.fill('#figure [name=width]', '85')
  for (const name of ['picture', 'map', 'heads']) await page.uncheck(`#figure [value=${name}]`)
  await said('Panels: none is chosen')
  assert.ok(before)
  assert.ok(await page.isDisabled('#figure [value=comparison]'))
  await finish(page)
})

test('copies PNG, SVG and caption', async () => {
  const page = await browser.open('#v=heads', {
    permissions: ['clipboard-read', 'clipboard-write']
  })
  await openComposer(page)
  const status = (/** @type {string} */ text) =>
    page.waitForFunction(
      (text) => document.querySelector('#figure [role=status]')?.textContent === text,
      text
    )
  await page.click('#figure [name=copy-svg]')
  await status('SVG copied.')
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^<svg [^]*<\/svg>\s*$/)
  await page.click('#figure [name=caption]')
  await status('Caption copied.')
  assert.match(
    await page.evaluate(() => navigator.clipboard.readText()),
    /^Layer 3, head 0: .*heed \d/
  )
  await page.click('#figure [name=copy-png]')
  await status('PNG copied.')
  const width = await page.evaluate(async () => {
    const [item] = await navigator.clipboard.read()
    return (await createImageBitmap(await item.getType('image/png'))).width
  })
  assert.equal(width, 1004)
  await finish(page)
})

test('prints the figure alone on a page of its size, with text as text', async () => {
  const page = await browser.open()
  await page.evaluate(() => {
    window.print = () => {}
  })
  await openComposer(page)
  await page.click('#figure [name=print]')
  const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true }),
    text = pdf.toString('latin1'),
    [, width] = /** @type {RegExpExecArray} */ (/\/MediaBox \[0 0 ([\d.]+) /.exec(text))
  assert.ok(Math.abs(Number(width) - (85 / 25.4) * 72) < 1, width)
  assert.equal(text.match(/\/Type \/Page\b/g)?.length, 1)
  assert.match(text, /\/Type \/Font\b/)
  writeFileSync(join(shots, 'figure.pdf'), pdf)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  assert.equal(await page.locator('#figure-print').count(), 0)
  assert.equal(await page.evaluate(() => document.adoptedStyleSheets.length), 0)
  await finish(page)
})

test('heads over the photo, a title of one’s own, and a page that is too small for the figure', async () => {
  const page = await browser.open()
  await openComposer(page)
  assert.equal(await page.locator('#figure-large').count(), 0)
  assert.equal(
    await page.getAttribute('#figure [data-panel=map]', 'placeholder'),
    'Layer 3, head 0: from patch (2, 10)'
  )
  await redrawn(page, () => page.check('#figure [name=over]'))
  await redrawn(page, () => page.fill('#figure [data-panel=map]', 'Where the star looks'))
  const svg = String((await saved(page, 'svg')).bytes)
  assert.ok(svg.includes('>Where the star looks</text>'))
  assert.equal(svg.match(/<use xlink:href="#figure-picture"/g)?.length, 22) // 20 heads, picture and map
  writeFileSync(join(shots, 'figure-over.svg'), svg)
  for (const name of ['matrix', 'rollout', 'statistics'])
    await redrawn(page, () => page.check(`#figure [value=${name}]`))
  await redrawn(page, () => page.fill('#figure [name=width]', '300'))
  assert.match(
    (await page.textContent('#figure-large')) ?? '',
    /^300 × \d+ mm are more than an A4 page has: 210 × 297\./
  )
  for (const name of ['matrix', 'rollout', 'statistics'])
    await redrawn(page, () => page.uncheck(`#figure [value=${name}]`))
  await redrawn(page, () => page.fill('#figure [name=width]', '180'))
  assert.equal(await page.locator('#figure-large').count(), 0)
  await finish(page, 'composer-over')
})

for (const [width, height] of [
  [1366, 768],
  [360, 740]
])
  for (const colorScheme of /** @type {const} */ (['light', 'dark']))
    test(`${width} wide, ${colorScheme}: axe finds no violation, nothing sticks out`, async () => {
      const page = await browser.open('#v=heads', {
        viewport: { width, height },
        colorScheme,
        bypassCSP: true
      })
      /* A press before the sheet's script is there does nothing. */
      while (width < 700 && (await page.getAttribute('#handle', 'aria-expanded')) !== 'true')
        await page.click('#handle')
      await openComposer(page)
      assert.deepEqual(await violations(page, '#figure'), [])
      assert.ok(
        await page.evaluate(() => {
          const dialog = document.getElementById('figure')
          return dialog.scrollWidth <= dialog.clientWidth
        })
      )
      await page.screenshot({ path: join(shots, `composer-${width}-${colorScheme}.png`) })
      await finish(page)
    })
