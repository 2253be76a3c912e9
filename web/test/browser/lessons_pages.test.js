/* The pages beside the explorer in Chromium: by keyboard, on a phone and a desk, light and dark, no
 * violation that axe knows. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { gzipSync } from 'node:zlib'
import { finish, site, startBrowser, takePicture, violations } from '../browser.js'
/** @import {Box, TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser

before(async () => (browser = await startBrowser()))
after(() => browser.close())

/** @param {TestPage} page */
const agrees = (page) =>
  page.waitForFunction(() => document.getElementById('agreement').dataset.passed === 'true')

test('a number of the query is changed by keyboard; a cell explains itself', async () => {
  const page = await browser.open('learn.html'),
    cell = (/** @type {string} */ id, /** @type {number} */ i) =>
      page.locator(`#${id} td button`).nth(i).textContent()
  assert.equal(await cell('weights', 0), '0.331')
  await agrees(page)
  await page.focus('#query input')
  await page.keyboard.press('ArrowUp')
  assert.equal(await page.inputValue('#query input'), '1.1')
  await page.waitForFunction(
    () => document.querySelector('#weights td button').textContent !== '0.331'
  )
  await page.locator('#output td button').first().focus()
  await page.waitForSelector('#output-formula math')
  assert.equal(await page.locator('#weights td.chosen').count(), 4)
  await page.keyboard.press('ArrowDown') // a table is one tab stop, arrow keys go on within it
  await page.waitForFunction(
    () => document.querySelectorAll('#weights tr')[2].querySelectorAll('td.chosen').length === 4
  )
  await page.locator('#masked td button').nth(1).focus()
  assert.deepEqual(
    [
      await page.locator('#scores td.chosen').count(),
      await page.locator('#output-formula math').count()
    ],
    [1, 0]
  )
  await finish(page)
})

test('results and the runtime follow preset, score, norm and masks', async () => {
  const page = await browser.open('learn.html')
  await agrees(page)
  await page.selectOption('#preset', 'steps')
  assert.deepEqual(await page.locator('#scores td button').allTextContents(), [
    '2.000',
    '4.000',
    '4.000',
    '4.000',
    '16.000',
    '12.000',
    '4.000',
    '12.000',
    '10.000'
  ])
  for (const [score, count] of [
    ['general', 9],
    ['concat', 2],
    ['additive', 3]
  ]) {
    await page.selectOption('#score', /** @type {any} */ (score))
    assert.equal(await page.locator('#own input').count(), count)
  }
  await page.locator('#own input').first().focus()
  await page.keyboard.press('ArrowDown')
  assert.equal(await page.inputValue('#own input >> nth=0'), '0.9')
  await page.selectOption('#norm', 'sparsemax')
  await page.check('#causal')
  await page.check('#padding')
  assert.deepEqual(
    await page
      .locator('#weights tbody tr:last-child td')
      .allTextContents()
      .then((texts) => texts.slice(-3)),
    ['0.000', '1.000', '2']
  )
  assert.equal(await page.locator('#masked tbody tr:last-child td:last-child').textContent(), '−∞')
  await page.evaluate(() => delete document.getElementById('agreement').dataset.passed)
  await page.locator('#scores td button').first().hover()
  await agrees(page)
  await page.selectOption('#norm', 'entmax')
  await page.waitForFunction(() =>
    /no entmax.*to 1e-6/.test(document.getElementById('agreement').textContent)
  )
  assert.equal(await page.locator('#rules tbody tr').count(), 5)
  await finish(page)
})

test('results are hidden until a cell is clicked; tokens and columns are added; a number is drawn by the mouse', async () => {
  const page = await browser.open('learn.html#h=1'),
    cells = (/** @type {string} */ id) => page.locator(`#${id} td button`).allTextContents()
  assert.deepEqual([...new Set(await cells('weights'))], ['?'])
  await page.locator('#weights td button').nth(5).hover()
  assert.equal(await page.locator('#weights-formula math').count(), 0)
  await page.locator('#weights td button').nth(5).focus()
  await page.keyboard.press('Enter')
  assert.deepEqual(
    (await cells('weights')).map((text, i) => (text === '?' ? null : i)).filter((i) => i !== null),
    [5]
  )
  await page.uncheck('#hide')
  assert.equal((await cells('weights')).includes('?'), false)
  for (const [id, count] of [
    ['tokens', '6'],
    ['columns', '3']
  ]) {
    await page.fill(`#${id}`, count)
    await page.keyboard.press('Tab')
  }
  assert.deepEqual(
    [await page.locator('#query input').count(), (await cells('weights')).length],
    [18, 36]
  )
  const box = /** @type {Box} */ (await page.locator('#query input').first().boundingBox()),
    before = Number(await page.inputValue('#query input'))
  await page.mouse.move(box.x + 10, box.y + 10)
  await page.mouse.down()
  await page.mouse.move(box.x + 34, box.y + 10, { steps: 3 })
  await page.mouse.up()
  assert.ok(Math.abs(Number(await page.inputValue('#query input')) - before - 0.3) < 1e-9)
  await agrees(page)
  for (let i = 0; i < 18; i++) await page.fill(`#query input >> nth=${i}`, '-1234.25')
  await page.waitForFunction(() =>
    /too many/.test(document.getElementById('link-said').textContent)
  )
  assert.doesNotMatch(await page.evaluate(() => location.hash), /m=/)
  for (const [id, count] of [
    ['tokens', '3'],
    ['columns', '2']
  ]) {
    await page.fill(`#${id}`, count)
    await page.keyboard.press('Tab')
  }
  await page.waitForFunction(() => location.hash.includes('m=3x3x2_'))
  const numbers = () =>
      page
        .locator('#query input')
        .evaluateAll((inputs) => inputs.map((/** @type {any} */ { value }) => value)),
    [hash, own] = [await page.evaluate(() => location.hash), await numbers()]
  await page.selectOption('#preset', 'steps')
  assert.equal((await numbers()).length, 9)
  await page.evaluate((hash) => {
    location.hash = hash
  }, hash)
  await page.waitForFunction(() => document.querySelectorAll('#query input').length === 6)
  assert.deepEqual(await numbers(), own)
  await finish(page, 'learn-own')
})

test('positions change what a swap does; heads are split and joined; a real head runs; a link brings the choices', async () => {
  const page = await browser.open('learn.html#x=find&s=concat&n=sparsemax&t=0.5'),
    said = (/** @type {string} */ id, /** @type {string} */ what) =>
      page.waitForFunction(
        ([id, what]) => new RegExp(what).test(document.getElementById(id).textContent),
        [id, what]
      )
  assert.deepEqual(
    await page.evaluate(() =>
      ['preset', 'score', 'norm', 'temperature'].map(
        (id) => /** @type {any} */ (document.getElementById(id)).value
      )
    ),
    ['find', 'concat', 'sparsemax', '0.5']
  )
  await agrees(page)
  await page.selectOption('#preset', 'pen')
  await page.selectOption('#score', 'dot')
  assert.equal(await page.evaluate(() => location.hash), '#s=dot')
  await page.check('#swap')
  await said('order-said', 'the same rows, swapped')
  await page.check('#add-positions')
  await said('order-said', 'now differ by')
  await page.locator('#placed td button').nth(5).focus()
  await page.waitForSelector('#place-formula math')
  assert.equal(await page.locator('#head-tables table').count(), 2)
  await page.selectOption('#heads', '4')
  assert.equal(await page.locator('#head-tables table').count(), 4)
  await page.locator('#projected td button').nth(2).focus()
  await page.waitForSelector('#heads-formula math')
  assert.equal(await page.locator('#joined td.chosen').count(), 4)
  await page.fill('#projection input >> nth=1', '0.5')
  await page.waitForFunction(
    () => document.getElementById('heads-agreement').dataset.passed === 'true'
  )
  await page.click('#run-real')
  await page.waitForSelector('#real[data-shown="3.0"]', { timeout: 60000 })
  assert.match(
    await page.locator('#real-rows tr').first().innerText(),
    /patch \(10, 1\)[^]*19\.4\d %[^]*38\.3/
  )
  assert.match(/** @type {string} */ (await page.textContent('#real-said')), /to 1e-6/)
  await page.fill('#real-head', '1')
  await page.waitForSelector('#real[data-shown="3.1"]')
  await page.waitForSelector('#real-map canvas[aria-label*="head 1"]')
  await finish(page, 'learn-whole')
})

test('the sorter is fetched when asked for, writes six letters in order, and its cells explain themselves', async () => {
  const page = await browser.open('learn.html', { bypassCSP: true }),
    asked = /** @type {string[]} */ ([])
  page.on('request', (request) => asked.push(request.url()))
  await page.focus('#run-sort')
  await page.keyboard.press('Enter')
  await page.waitForSelector('#sorting[data-shown="ABCNOR 1.0"]')
  assert.equal(asked.filter((address) => address.endsWith('sorting/model.safetensors')).length, 1)
  assert.match(
    /** @type {string} */ (await page.textContent('#sort-said')),
    /726 weights .* agree to 1e-6/
  )
  assert.equal(await page.locator('#sort-heads button').count(), 6)
  await page
    .locator('#sort-map button')
    .nth(8 * 11 + 2)
    .focus() // place 9 is C, the next letter is N
  await page.waitForSelector('#sort-formula math')
  assert.match(
    /** @type {string} */ (await page.textContent('#sort-next')),
    /^Row 9, C: N 9\d|^Row 9, C: N 100/
  )
  await page.keyboard.press('ArrowUp')
  await page.waitForFunction(() =>
    /^Row 8, B: C/.test(document.getElementById('sort-next').textContent)
  )
  await page.locator('#sort-answer button').nth(5).click()
  await page.waitForFunction(() =>
    /^Row 11, O: R/.test(document.getElementById('sort-next').textContent)
  )
  await page.fill('#sort-letters', 'banana')
  await page.waitForSelector('#sorting[data-shown="AAABNN 1.0"]')
  await page.locator('#sort-heads button').first().click()
  await page.waitForSelector('#sorting[data-shown="AAABNN 0.0"]')
  await page.fill('#sort-letters', 'abc1')
  await page.waitForFunction(() =>
    /^Six letters from A to Z/.test(document.getElementById('sort-said').textContent)
  )
  await page.click('#sort-other')
  await page.waitForFunction(() =>
    /agree to 1e-6/.test(document.getElementById('sort-said').textContent)
  )
  assert.deepEqual(await violations(page), [])
  await finish(page, 'learn-sorter')
})

/**
 * Moves the pressed mouse from one cell to another.
 * @param {TestPage} page
 * @param {Box[]} boxes of both
 */
async function stroke(page, [from, to]) {
  await page.mouse.move(from.x + 9, from.y + 9)
  await page.mouse.down()
  await page.mouse.move(to.x + 9, to.y + 9, { steps: 8 })
  await page.mouse.up()
}

/**
 * The mask hides patches of a picture; each change runs it again by itself.
 * @param {TestPage} page
 */
async function runsOnPicture(page) {
  await page.click('#run-picture')
  await page.waitForSelector('#picture-result[data-shown="159 39"]', { timeout: 60000 })
  assert.match(
    /** @type {string} */ (await page.textContent('#picture-answer')),
    /^The answer (stays|changes from) “star”/
  )
  assert.equal(await page.locator('#picture-rows tr').count(), 3)
  await page.locator('#real-value button').first().click() // runs again by itself
  await page.waitForSelector('#picture-result[data-shown="159 78"]')
  assert.equal(await page.evaluate(() => location.hash), '#w=1.0&a=2&b=1_5&p=7-8')
}

/**
 * A large negative number is no boolean mask, and a single head masks in another way.
 * @param {TestPage} page
 */
async function formsDiffer(page) {
  await page.selectOption('#form', 'large')
  assert.deepEqual(
    [
      await page.locator('#bias td span').first().textContent(),
      await page.locator('#weights td span').first().textContent()
    ],
    ['−1e9', '0.200']
  )
  await page.waitForFunction(() =>
    /^These are not heed’s weights/.test(document.getElementById('agreement').textContent)
  )
  await page.locator('#real-query button').nth(1).click()
  assert.equal(
    (await page.locator('#output tbody tr').nth(1).locator('td').first().textContent()) === '0.000',
    false
  )
  await page.selectOption('#layer', 'single')
  assert.deepEqual(
    await page.locator('#output tbody tr').nth(1).locator('td').allTextContents(),
    Array(4).fill('0.000')
  )
  assert.equal(await page.isVisible('#factors [data-name=painted]'), false)
}

test('masks of a padded sentence: named by its words, laid over one another as sheets; without a twin the answer is another', async () => {
  const page = await browser.open('masks.html'),
    holes = () =>
      page.$eval('#sheets .through', (path) => path.getAttribute('d')?.match(/M/g)?.length ?? 0),
    ones = async () =>
      (await page.locator('#joined td span').allTextContents()).filter((one) => one === '1').length
  assert.deepEqual((await page.locator('#joined thead th').allTextContents()).filter(Boolean), [
    'I',
    'have',
    'a',
    'pen',
    'pad'
  ])
  assert.equal(
    await page.getAttribute('#sheets svg', 'aria-label'),
    'Value padding, Causal, Painted, 14 of 25 pairs remain.'
  )
  assert.equal(
    (await page.locator('#sentence span').allTextContents()).join(' '),
    'I have a pen pad'
  )
  assert.equal(await page.textContent('#sentence .pad'), 'pad')
  assert.deepEqual([await holes(), await ones()], [14, 14])
  await page.locator('#factors [data-name=painted] button').first().focus()
  await page.keyboard.press('Enter')
  assert.deepEqual([await holes(), await ones()], [13, 13])
  assert.equal(await page.isVisible('#sentence-said'), true)
  await page.fill('#tk', '7') // no sentence: queries are of another sequence than keys
  assert.equal(await page.isVisible('#sentence-said'), false)
  assert.equal(await page.textContent('#joined tbody th >> nth=4'), 'q5')
  assert.equal(await page.textContent('#joined thead th >> nth=1'), 'k2')
  assert.equal(await holes(), await ones())
  await page.click('#run-twin')
  await page.waitForFunction(() =>
    /^The answer changes from “star” \(100\.0 %\) to “arrow” \(60\.\d %\)/.test(
      document.getElementById('picture-answer').textContent
    )
  )
  const link = () => page.getAttribute('#on-picture', 'href')
  assert.equal(await link(), './#v=intervene&z=112-115_126-129_140-143_154-157_168-171')
  await page.fill('#scene', '7')
  await page.keyboard.press('Tab') // the twin of another scene is hidden
  await page.waitForFunction(() =>
    /“triangle”/.test(document.getElementById('picture-answer').textContent)
  )
  assert.match((await link()) ?? '', /^\.\/#s=7&v=intervene&z=/)
  await finish(page, 'masks-sentence')
})

test('factors are joined, a cell is painted, an empty row shows the conventions', async () => {
  const page = await browser.open('masks.html', { bypassCSP: true })
  await agrees(page)
  await page.locator('#factors [data-name=painted] button').first().focus()
  await page.keyboard.press('Enter')
  assert.equal(await page.locator('#joined td span').first().textContent(), '0')
  assert.deepEqual(await page.locator('#empty td:nth-child(2) span').allTextContents(), [
    '0.000',
    '0.200',
    '0.200',
    'NaN',
    '0.494'
  ])
  await formsDiffer(page)
  await page.selectOption('#layer', 'multi')
  await page.selectOption('#form', 'boolean')
  await page.fill('#tk', '7')
  assert.equal(await page.locator('#joined tbody tr').first().locator('td').count(), 7)
  assert.match(
    /** @type {string} */ (await page.textContent('#cross')),
    /^Cross-attention: 5 queries over 7 keys/
  )
  assert.match(
    /** @type {string} */ (await page.getAttribute('#on-picture', 'href')),
    /^\.\/#v=intervene&z=112-195$/
  )
  await page.evaluate(() => delete document.getElementById('agreement').dataset.passed)
  await page.check('#window')
  await agrees(page)
  await page.fill('#tk', '5')
  const cell = (/** @type {number} */ i, /** @type {number} */ j) =>
      page.locator('#factors [data-name=painted] tbody tr').nth(i).locator('button').nth(j),
    boxes = await Promise.all([cell(1, 1), cell(1, 3)].map((one) => one.boundingBox()))
  await stroke(page, /** @type {Box[]} */ (boxes))
  assert.deepEqual(
    await page
      .locator('#factors [data-name=painted] tbody tr')
      .nth(1)
      .locator('button')
      .allTextContents(),
    ['1', '0', '0', '0', '1']
  )
  await cell(1, 4).focus()
  for (const key of ['ArrowLeft', 'Space']) await page.keyboard.press(key)
  assert.equal(await cell(1, 3).textContent(), '1')
  await runsOnPicture(page)
  await page.goto(`${browser.address}masks.html#k=7&c=0&b=&p=2`)
  await page.waitForFunction(
    () => document.querySelectorAll('#joined tbody tr:first-child td span').length === 7
  )
  assert.equal(
    (await page.locator('#joined td span').allTextContents()).filter((text) => text === '0').length,
    1
  )
  assert.deepEqual(await violations(page), [])
  await finish(page, 'masks-picture')
})

/**
 * The baseline alone: no dashes, and a bar for each of its kinds.
 * @param {TestPage} page
 */
async function showsBaseline(page) {
  const kinds = await page.locator('#bars .name').count()
  assert.ok(kinds > 2)
  assert.equal(await page.locator('#bars .base .filled').count(), kinds)
  assert.equal(await page.locator('#bars .here .filled').count(), 0)
  assert.match(await page.innerText('#times'), /^SIMD\s+\d[^–]*$/)
}

/**
 * A bar for each kind that was measured, which ends before its ceiling.
 * @param {TestPage} page
 */
async function showsBars(page) {
  const rows = await page.locator('#times tr').count()
  assert.equal(await page.locator('#bars .here .filled').count(), rows)
  assert.ok(
    /** @type {Box} */ (await page.locator('#bars .here .filled >> nth=0').boundingBox()).width > 2
  )
  const [filled, ceiling] = await page
    .locator('#bars li >> nth=0')
    .evaluate((line) =>
      ['.here .filled', '.here .ceiling'].map(
        (part) =>
          /** @type {HTMLElement} */ (line.querySelector(part)).getBoundingClientRect().right
      )
    )
  assert.ok(filled <= ceiling + 2, `${filled}, ${ceiling}`)
}

test('measures SIMD, and threads where the page is isolated', async () => {
  const page = await browser.open('bench.html')
  await page.fill('#runs', '3')
  await showsBaseline(page)
  await page.click('#start')
  assert.equal(await page.textContent('#start'), 'Stop')
  await page.click('#start')
  await page.waitForFunction(
    () =>
      /^Stopped/.test(document.getElementById('said').textContent) &&
      document.getElementById('start').textContent === 'Measure',
    undefined,
    { timeout: 120000 }
  )
  assert.equal(await page.isDisabled('#copy'), true)
  await page.click('#start')
  await page.waitForSelector('html[data-measured]', { timeout: 120000 })
  assert.match(await page.locator('#times').innerText(), /SIMD\s+\d[^]*threads\s+\d/)
  assert.equal(await page.locator('#op-times tr').count(), 6)
  await showsBars(page)
  await page.click('#keep')
  assert.match(/** @type {string} */ (await page.textContent('#baseline-said')), /^Kept here on/)
  assert.equal(await page.locator('#times tr').first().locator('td').last().textContent(), '1.00 ×')
  const measured = await page.evaluate(async () => {
    let copied
    navigator.clipboard.writeText = async (text) => {
      copied = JSON.parse(text)
    }
    document.getElementById('copy').click()
    while (!copied) await new Promise((done) => setTimeout(done, 10))
    return copied
  })
  const given = JSON.parse(readFileSync(join(site, 'bench/bench_baselines.json'), 'utf8'))
  for (const { rows } of given)
    assert.deepEqual(
      rows.map((/** @type {any} */ { ops }) => ops.map((/** @type {any} */ { op }) => op)),
      rows.map(() =>
        /** @type {any} */ (measured).rows[0].ops.map((/** @type {any} */ { op }) => op)
      )
    )
  for (const { kind, ceiling, model, ops } of /** @type {any} */ (measured).rows) {
    assert.ok(ceiling > 0.1 && model.gflops > 0, kind)
    assert.deepEqual(
      ops.map((/** @type {any} */ { median }) => median > 0),
      ops.map(() => true)
    )
  }
  assert.equal(/** @type {any} */ (measured).environment.isolated, true)
  assert.match(
    await page.innerText('#environment'),
    new RegExp(
      `heed\\s+${/** @type {any} */ (measured).rows[0].version}\\s+modules\\s+WASM SIMD, 1 thread; WASM`
    )
  )
  await finish(page, 'bench')
})

/**
 * Waits until the page on embedding says something.
 * @param {TestPage} page
 * @param {RegExp} pattern
 */
const untilSaid = (page, { source }) =>
  page.waitForFunction(
    (source) => new RegExp(source).test(document.getElementById('said').textContent),
    source
  )

/**
 * Puts a function on the page that sums the colours of the element's drawing.
 * @param {TestPage} page
 */
const addColours = (page) =>
  page.evaluate(() => {
    window.colours = () => {
      const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
        new OffscreenCanvas(448, 448).getContext('2d', { willReadFrequently: true })
      )
      context.drawImage(/** @type {any} */ (document.querySelector('attention-map canvas')), 0, 0)
      return String(context.getImageData(0, 0, 448, 448).data.reduce((sum, value) => sum + value))
    }
  })

test('the element draws what the runtime says, and follows its attributes', async () => {
  const page = await browser.open('embed.html'),
    said = () => page.textContent('#said')
  await untilSaid(page, /38\.3 × uniform/)
  await page.selectOption('#head', 'mean')
  await untilSaid(page, /^Layer 3, mean of the heads/)
  assert.match(/** @type {string} */ (await page.textContent('#code')), /head="mean"/)
  assert.match(/** @type {string} */ (await said()), /patch \(2, 10\) gives/)
  for (const [view, what] of [
    ['rollout', /^Rollout of all layers: [0-9.]+ % of patch \(2, 10\)/],
    ['map', /^Layer 3, mean/]
  ]) {
    await page.selectOption('#view', /** @type {string} */ (view))
    await untilSaid(page, /** @type {RegExp} */ (what))
  }
  await page.selectOption('#view', 'overlay')
  const { x, y, width } = /** @type {Box} */ (
    await page.locator('attention-map canvas').boundingBox()
  )
  await page.mouse.click(x + (width * 1.5) / 14, y + (width * 10.5) / 14)
  await untilSaid(page, /patch \(10, 1\) gives/)
  assert.match(/** @type {string} */ (await page.textContent('#code')), /query="10,1"/)
  await addColours(page)
  await page.evaluate(() => {
    window.before = window.colours()
    document.querySelector('attention-map').style.setProperty('--attention-ground', 'rgb(1, 2, 3)')
  })
  await page.selectOption('#view', 'map')
  await page.waitForFunction(() => window.colours() !== window.before)
  await page.evaluate(() => document.querySelector('attention-map').setAttribute('layer', '99'))
  await page.waitForSelector('attention-map p[role=alert]')
  assert.match(/** @type {string} */ (await page.textContent('attention-map p[role=alert]')), /99/)
  assert.equal(await page.isVisible('attention-map canvas'), false)
  await page.evaluate(() => document.querySelector('attention-map').setAttribute('layer', '3'))
  await page.waitForSelector('attention-map canvas')
  await page.fill('#image', 'icon.svg')
  await page.keyboard.press('Tab')
  await untilSaid(page, /^icon\.svg: no picture that this browser decodes/)
  await page.fill('#image', '')
  await page.keyboard.press('Tab')
  await untilSaid(page, /patch \(10, 1\)/)
  await finish(page)
})

test('the element ends its scale where that is asked for', async () => {
  const page = await browser.open('embed.html')
  await untilSaid(page, /38\.3 × uniform/)
  await addColours(page)
  await page.selectOption('#view', 'map')
  await page.evaluate(() => document.querySelector('attention-map').setAttribute('query', '10,1'))
  await untilSaid(page, /patch \(10, 1\) gives/)
  /* A lower end gives the same weight a later colour, and what is no end is refused. */
  const atEnd = (/** @type {string | null} */ end) =>
    page.evaluate(async (end) => {
      const map = document.querySelector('attention-map')
      const drawn = new Promise((resolve) => {
        map.addEventListener('drawn', () => resolve(window.colours()), { once: true })
        map.addEventListener('error', (event) => resolve(event.detail.message), { once: true })
      })
      end === null ? map.removeAttribute('end') : map.setAttribute('end', end)
      return drawn
    }, end)
  const locked = await atEnd('1')
  assert.notEqual(await atEnd('197'), locked)
  assert.equal(await atEnd('1'), locked)
  for (const end of ['0.5', '198', 'x', ''])
    assert.equal(
      await atEnd(end),
      `end: out of range (found "${end}", expected 1 to 197 times uniform)`
    )
  await atEnd(null)
  await finish(page)
})

test('the page on embedding has examples, and the sizes of the files', async () => {
  const page = await browser.open('embed.html')
  for (const example of ['a plain script', 'Node', 'a bundler (Vite)', 'a worker of your own']) {
    await page.selectOption('#example', example)
    await page.waitForFunction(() =>
      /loadModel|postMessage/.test(document.getElementById('example-code').textContent)
    )
  }
  await page.selectOption('#example', 'a whole page with the element')
  await page.waitForFunction(() =>
    document.getElementById('example-code').textContent.includes('<attention-map')
  )
  const code = /** @type {string} */ (await page.textContent('#example-code'))
  assert.ok(code.split('\n').length <= 10)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  for (const id of ['code', 'example-code']) {
    await page.click(`[data-copy="${id}"]`)
    await page.waitForFunction(
      async (id) =>
        (await navigator.clipboard.readText()) === document.getElementById(id)?.textContent,
      id
    )
    assert.equal(await page.textContent('#copied'), 'Copied.')
  }
  const sizes = JSON.parse(readFileSync(join(site, 'sizes.json'), 'utf8')),
    shown = await page.locator('#sizes tr').allInnerTexts()
  assert.equal(shown.length, sizes.length)
  for (const { name, bytes, gzip, brotli } of sizes)
    assert.ok(bytes > gzip && gzip > brotli / 1.05 && brotli > 0, name)
  const wasm = sizes.find((/** @type {any} */ { name }) => name === 'heed/heed.wasm'),
    own = readFileSync(join(site, 'heed/heed.wasm'))
  assert.deepEqual([wasm.bytes, wasm.gzip], [own.length, gzipSync(own, { level: 9 }).length])
  await finish(page)
})

for (const name of ['learn', 'masks', 'bench', 'embed'])
  for (const [width, height] of [
    [1366, 768],
    [360, 740]
  ])
    test(`${name} at ${width}: nothing sticks out, axe finds no violation, light and dark`, async () => {
      const page = await browser.open(`${name}.html`, {
        viewport: { width, height },
        colorScheme: 'light',
        reducedMotion: 'reduce',
        bypassCSP: true
      })
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width)
      if (['learn', 'masks'].includes(name)) await agrees(page)
      if (name === 'embed') await page.waitForSelector('attention-map canvas[aria-label]')
      assert.deepEqual(await violations(page), [])
      await takePicture(page, `${name}-${width}-light`)
      /* Dark differs by its colours alone. */
      await page.emulateMedia({ colorScheme: 'dark' })
      assert.deepEqual(await violations(page, 'html', { runOnly: ['color-contrast'] }), [])
      await takePicture(page, `${name}-${width}-dark`)
      if (name === 'bench') {
        await page.setViewportSize({ width: Math.min(width, 768), height: 1024 })
        for (const table of await page.locator('.tables').all()) // a tablet's width holds all columns
          assert.ok(
            await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)
          )
      }
      await finish(page)
    })
