/* What only some families have, in the explorer: a pooling attention, other sizes, registers. The
 * models are the small ones of tests/vectors/vit. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { bigModel } from '../big_model.js'
import { finish, site, startBrowser } from '../browser.js'
import { createRuntime, demoModel, vectors } from '../package.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser

before(async () => (browser = await startBrowser()))
after(() => browser.close())

/**
 * The files of a small model.
 * @param {string} model
 */
const filesOf = (model) =>
  readdirSync(join(vectors, 'vit', model))
    .filter((name) => /^(.*config\.json|model\.safetensors)$/.test(name))
    .map((name) => join(vectors, 'vit', model, name))

/**
 * Opens a small model and waits for its map.
 * @param {TestPage} page
 * @param {string} model
 */
async function openModel(page, model) {
  const before = await page.textContent('#model-origin')
  await page.setInputFiles('#model-files', filesOf(model))
  await page.waitForFunction((before) => {
    const { textContent } = document.getElementById('model-origin')
    return textContent !== before && /, epsilon /.test(textContent)
  }, before)
}

/**
 * Waits until an element's text fits.
 * @param {TestPage} page
 * @param {string} selector
 * @param {RegExp} pattern
 */
const says = (page, selector, pattern) =>
  page.waitForFunction(
    ([selector, source]) =>
      new RegExp(source).test(document.querySelector(selector)?.textContent ?? ''),
    /** @type {[string, string]} */ ([selector, pattern.source])
  )

/**
 * What a button saves.
 * @param {TestPage} page
 * @param {string} id
 */
async function saved(page, id) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`#${id}`)])
  return readFile(await download.path(), 'utf8')
}

/**
 * The row of the stage by the library, which ran the page's picture.
 * @param {string} model
 * @param {any} image what the page saved of its picture
 */
async function poolOf(model, image) {
  const runtime = await createRuntime({ threads: 1 }),
    opened = await runtime.loadModel(
      Object.fromEntries(filesOf(model).map((file) => [file.split('/').pop(), readFileSync(file)]))
    ),
    session = opened.createSession({ taps: 'rows' }),
    { image: picture } = await runtime.scene(image)
  await session.run(picture)
  const rows = []
  for (let head = 0; head < 16; head++)
    rows.push(await session.attention({ layer: 'pool', head }).catch(() => null))
  runtime.close()
  return rows.filter((row) => row !== null)
}

/** The saved rows are the library's.
 * @param {TestPage} page
 * @param {string} model
 * @param {number} heads
 * @param {number} prefix
 */
async function checkPoolNumbers(page, model, heads, prefix) {
  const { results } = JSON.parse(await saved(page, 'save-json')),
    expected = await poolOf(model, 159)
  assert.equal(results[0].pool.length, heads)
  assert.equal(expected.length, heads)
  for (const [head, { row, entropy }] of results[0].pool.entries()) {
    const own = /** @type {Float32Array} */ (expected[head])
    assert.equal(row.length, results[0].tokens)
    own.forEach((weight, i) =>
      assert.ok(Math.abs(row.at(i - own.length) - weight) < 1e-5, `head ${head}, key ${i}`)
    )
    const sum = row.reduce(
      (/** @type {number} */ all, /** @type {number} */ p) => all - (p > 0 ? p * Math.log(p) : 0),
      0
    )
    assert.ok(Math.abs(entropy - sum) < 1e-5)
  }
  assert.equal(results[0].prefix_tokens, prefix)
  assert.ok(
    Math.abs(
      results[0].pool_rollout.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b) -
        1
    ) < 1e-4
  )
}

/** Keys and views of the pooling attention.
 * @param {TestPage} page
 * @param {string} model
 * @param {number} heads
 */
async function checkPoolKeys(page, model, heads) {
  await page.locator('#patches [tabindex="0"]').focus()
  await page.keyboard.press('m')
  await says(page, '#stage-title', /^Pool, mean of the heads: from the probe$/)
  await page.keyboard.press('[')
  await says(page, '#stage-title', /^Layer 1, mean of the heads: from patch/)
  await page.keyboard.press(']')
  await says(page, '#stage-title', /^Pool/)
  await page.screenshot({ path: join(site, `../screenshots/explorer-pool-${model}.png`) })
  await page.click('#tab-statistics')
  await says(page, '#view tbody', new RegExp(`pool, head ${heads - 1}`))
  await page.click('#tab-matrix')
  await says(page, '#matrix-said', /one query, the probe/)
  await page.click('#tab-heads')
}

/** A figure has the pooling attention's maps below the layers, and no matrix of it.
 * @param {TestPage} page
 * @param {number} heads
 */
async function checkPoolFigure(page, heads) {
  await page.click('#save-figure')
  await page.waitForSelector('#figure img[src^="blob:"]')
  assert.ok(await page.isDisabled('#figure [value=matrix]'))
  const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('#figure [name=svg]')
    ]),
    svg = await readFile(await download.path(), 'utf8')
  assert.ok(
    download.suggestedFilename().endsWith(`_LpoolH${heads - 1}_probe_picture-map-heads.svg`)
  )
  assert.match(svg, /<text [^>]*>pool<\/text>/)
  assert.match(svg, /, pool from the probe<\/text>/)
  await page.keyboard.press('Escape')
}

for (const [model, heads, prefix] of /** @type {[string, number, number][]} */ ([
  ['siglip', 4, 0],
  ['pe_core', 8, 1]
]))
  test(`the pooling attention of ${model} is a row "pool" of the heads, with its map, numbers and keys`, async () => {
    const page = await browser.open('#s=159&l=pool&v=heads')
    assert.match(await page.url(), /#l=4|#?$/) // the demo model has none
    await openModel(page, model)
    const pooled = page.locator('.heads-grid .cells button[aria-label^="pool, head"]')
    await page.waitForFunction(
      (heads) =>
        document.querySelectorAll('.heads-grid .cells button[aria-label^="pool, head"]').length ===
        heads,
      heads
    )
    assert.match(
      /** @type {string} */ (await page.textContent('.heads-grid .down')),
      /^layer 0layer 1pool$/
    )
    await pooled.nth(heads - 1).click()
    await says(page, '#stage-title', new RegExp(`^Pool, head ${heads - 1}: from the probe$`))
    await says(page, '#caption', /^Pool, head \d: the probe gives \S+ % of its attention to/)
    await says(page, '#facts', /^Entropy: (?:focused|spread)\S+ nats(?!.*itself)/)
    await page.waitForFunction(
      (head) => location.hash.includes('l=pool') && location.hash.includes(`h=${head}`),
      heads - 1
    )
    assert.equal(await page.isDisabled('#reverse'), true)
    await checkPoolNumbers(page, model, heads, prefix)
    assert.match(await saved(page, 'save-csv'), /"1\.0","1\.1",.*"pool\.0","pool\.1"/)
    await checkPoolFigure(page, heads)
    await checkPoolKeys(page, model, heads)
    await page.goBack()
    await page.goBack()
    await says(page, '#stage-title', /^Pool/)
    await finish(page)
  })

/** The megabytes that a size is said to take in the runtime.
 * @param {TestPage} page
 */
const costSaid = async (page) =>
  Number(
    /about (\d+) MB in the runtime/.exec(
      /** @type {string} */ (await page.textContent('dialog .hint'))
    )?.[1]
  )

/** The memory that is said is what the runtime predicts.
 * @param {TestPage} page
 */
async function checkCost(page) {
  const said = await costSaid(page),
    runtime = await createRuntime({ threads: 1 }),
    session = (await runtime.loadModel(demoModel)).createSession({
      height: 224,
      width: 448,
      taps: Array.from({ length: 5 }, (_, i) =>
        ['attention.weights', 'attention.output', 'query', 'key', 'value', 'output'].map(
          (what) => `layer.${i}.${what}`
        )
      ).flat()
    }),
    { memory } = await session.ready,
    found = (memory.weights + memory.arena + memory.workspace) / 1e6
  runtime.close()
  assert.ok(Math.abs(said - found) < 1 + 0.02 * found, `${said} MB said, ${found} predicted`)
}

/** Neither stage, pin nor files squash the picture.
 * @param {TestPage} page
 */
async function checkRectangle(page) {
  await page.waitForFunction(() => {
    const { width, height } = document.querySelector('#frame').getBoundingClientRect()
    return Math.abs(width / height - 2) < 0.02
  })
  const { results } = JSON.parse(await saved(page, 'save-json'))
  assert.deepEqual(results[0].image.size, [224, 448])
  assert.deepEqual(results[0].grid, [14, 28])
  assert.match(await saved(page, 'save-svg'), /<image [^>]*width="448" height="224"/)
  await page.click('#pin')
  const pin = await page.waitForSelector('#pins canvas'),
    box = await pin.boundingBox()
  assert.ok(Math.abs(Number(box?.width) / Number(box?.height) - 2) < 0.1)
}

/** A size that is refused keeps the last one; the model's own is taken again.
 * @param {TestPage} page
 */
async function checkRefusal(page) {
  await page.evaluate(() => {
    location.hash = '#size=230.230'
  })
  await page.waitForSelector('#error:not([hidden])')
  assert.match(await page.innerText('#error-text'), /^Height: .*found 230, expected 224 or 240/)
  await says(page, '#model-facts', /393 tokens/)
  await page.click('#error-close')
  await page.click('#size')
  await page.click('dialog [name=own]')
  await page.click('dialog [name=take]')
  await says(page, '#model-facts', /197 tokens, \S+\sMB$/)
  await finish(page)
}

test('another size: its memory before it runs, a picture that is not square, the address, a refusal', async () => {
  const page = await browser.open('#s=159')
  await page.click('#size')
  await says(
    page,
    'dialog .hint',
    /^14 × 14 patches, 197 tokens: about \d+ MB in the runtime, and 6 MB/
  )
  await page.fill('dialog [name=height]', '500')
  await says(
    page,
    'dialog .hint',
    /^Height: no multiple of the patch \(found 500, expected 496 or 512\)/
  )
  assert.equal(await page.isDisabled('dialog [name=take]'), true)
  await page.fill('dialog [name=height]', '224')
  await page.fill('dialog [name=width]', '448')
  await says(page, 'dialog .hint', /^14 × 28 patches, 393 tokens: about \d+ MB in the runtime, and/)
  await checkCost(page)
  await page.screenshot({ path: join(site, '../screenshots/explorer-size-dialog.png') })
  await page.click('dialog [name=take]')
  await says(page, '#model-facts', /393 tokens, .*224 × 448 pixels$/)
  await page.waitForFunction(() => /\bsize=224\.448\b/.test(location.hash))
  await says(page, '#caption', /patch \(\d+, \d+\)/)
  await checkRectangle(page)
  await page.screenshot({ path: join(site, '../screenshots/explorer-size.png') })
  await checkRefusal(page)
  const linked = await browser.open('#size=448.224')
  await says(linked, '#model-facts', /393 tokens, .*448 × 224 pixels$/)
  await linked.waitForFunction(() => document.querySelectorAll('#patches button').length === 392)
  await finish(linked)
})

test('with 1,374 tokens maps are on demand, and the page says so before', async () => {
  const page = await browser.open(),
    files = await bigModel({ side: 16 })
  await page.setInputFiles('#model-files', files)
  await says(page, '#model-facts', /^12 layers, 2 heads, 261 tokens/)
  await page.click('#size')
  await page.fill('dialog [name=height]', '518')
  await page.fill('dialog [name=width]', '518')
  await says(
    page,
    'dialog .hint',
    /^37 × 37 patches, 1,374 tokens: about \d+ MB in the runtime\. Maps are computed on demand: all of them would take 182 MB/
  )
  await page.click('dialog [name=take]')
  await says(page, '#model-facts', /1374 tokens, .*518 × 518 pixels/)
  await page.waitForFunction(() => document.querySelectorAll('#patches button').length === 1369)
  await page.locator('#patches button').nth(700).click()
  await says(page, '#stage-title', /from patch \(18, 34\)/)
  await says(page, '#status', /ms/)
  await finish(page)
})

/* As DINOv2 is published: made for 518 pixels, while its processor crops to 224. */
const published = { size: { shortest_edge: 256 }, crop: { height: 224, width: 224 } }

test('a model is judged by the size that runs, not by that of its files; the latter is chosen, too', async () => {
  const page = await browser.open('#v=rollout')
  await page.setInputFiles('#model-files', await bigModel(published))
  await says(page, '#model-facts', /^12 layers, 2 heads, 261 tokens/)
  await says(page, '#view', /Rollout uses the weights after the softmax/)
  assert.equal(await page.isDisabled('#view [name=play]'), false)
  for (const [view, all] of /** @type {[string, RegExp][]} */ ([
    ['tokens', /Similarity to the query/],
    ['intervene', /Temperature/]
  ])) {
    await page.click(`#tab-${view}`)
    await says(page, '#view', all)
    assert.doesNotMatch(await page.innerText('#view'), /small (models|enough)/)
  }
  await page.click('#size')
  assert.equal(await page.inputValue('dialog [name=height]'), '224')
  await page.click('dialog [name=trained]')
  assert.equal(await page.inputValue('dialog [name=width]'), '518')
  await page.click('dialog [name=take]')
  await says(page, '#model-facts', /1374 tokens, .*518 × 518 pixels/)
  await page.waitForFunction(() => location.hash.includes('size=518.518'))
  await page.click('#size')
  await page.click('dialog [name=own]')
  await page.click('dialog [name=take]')
  await says(page, '#model-facts', /261 tokens, \S+\sMB$/)
  await page.waitForFunction(() => !location.hash.includes('size='))
  await finish(page)
})

test('a crop that is not square is the model’s own size', async () => {
  const page = await browser.open()
  await page.setInputFiles(
    '#model-files',
    await bigModel({ ...published, layers: 2, crop: { height: 140, width: 224 } })
  )
  await says(page, '#model-facts', /^2 layers, 2 heads, 165 tokens/)
  await page.click('#size')
  assert.equal(await page.inputValue('dialog [name=height]'), '140')
  assert.equal(await page.inputValue('dialog [name=width]'), '224')
  await page.fill('dialog [name=width]', '140')
  await page.click('dialog [name=take]')
  await says(page, '#model-facts', /105 tokens, .*140 × 140 pixels/)
  await page.click('#size')
  await page.fill('dialog [name=width]', '224')
  await page.click('dialog [name=take]')
  await says(page, '#model-facts', /165 tokens, \S+\sMB$/)
  await finish(page)
})

test('one’s own model opens at its last layer, from CLS; a place that was chosen stays', async () => {
  const files = await bigModel({ layers: 2, side: 4 }),
    title = (/** @type {TestPage} */ page, /** @type {string} */ words) =>
      page.waitForFunction(
        (words) => document.getElementById('stage-title').textContent === words,
        words
      )
  for (const [hash, opened, demo] of [
    ['#v=heads', 'Layer 1, head 0: from CLS', 'Layer 3, head 0: from patch (2, 10)'],
    ['#v=heads&h=1', 'Layer 1, head 1: from patch (2, 2)', 'Layer 1, head 1: from patch (2, 2)'],
    ['#v=heads&q=2.10', 'Layer 1, head 0: from patch (2, 2)', 'Layer 1, head 0: from patch (2, 2)']
  ]) {
    const page = await browser.open(hash)
    await page.setInputFiles('#model-files', files)
    await title(page, opened)
    await page.click('#demo-model')
    await title(page, demo)
    await finish(page)
  }
})

test('registers are queries with their names: strip, title, numbers, figure, address, code, matrix', async () => {
  const page = await browser.open()
  await page.setInputFiles('#model-files', await bigModel({ layers: 2, side: 4 }))
  await says(page, '#prefix', /r1r2r3r4$/)
  await page.locator('#prefix button').nth(2).click()
  await says(page, '#stage-title', /^Layer 1, head \d: from register 2$/)
  await says(page, '#caption', /: register 2 gives/)
  await says(page, '#facts', /On CLS and registers/)
  await page.waitForFunction(() => /\bq=2\b/.test(location.hash))
  const { results } = JSON.parse(await saved(page, 'save-json'))
  assert.deepEqual(results[0].prefix, ['CLS', ...[1, 2, 3, 4].map((i) => `register ${i}`)])
  assert.deepEqual([results[0].query, results[0].query_token], ['register 2', 2])
  assert.match(await saved(page, 'save-svg'), /register 2 gives/)
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => {
      window.copied = text
    }
  })
  await page.click('#code')
  await page.waitForFunction(() => /--query 'register 2'[^]*"query":2/.test(window.copied ?? ''))
  await page.click('#tab-matrix')
  const surface = page.locator('#view .matrix'),
    { width, height } = /** @type {{width: number, height: number}} */ (
      await surface.boundingBox()
    ),
    tokens = results[0].tokens
  await surface.click({ position: { x: (3.5 / tokens) * width, y: (1.5 / tokens) * height } })
  await says(page, '#matrix-said', /^register 1 to register 3: /)
  await says(page, '#stage-title', /from register 1$/)
  await page.locator('#prefix button').nth(1).click()
  await page.click('#tab-heads')
  await openModel(page, 'timm_gap_registers')
  await says(page, '#facts', /On registers/)
  await says(page, '#cls', /^From register 1$/)
  await finish(page)
})

test('the line of family and rules stands for the demo model too', async () => {
  const page = await browser.open(),
    runtime = await createRuntime({ threads: 1 }),
    { family, rules } = (await runtime.loadModel(demoModel)).info
  runtime.close()
  assert.ok(
    ((await page.textContent('#model-origin')) ?? '').startsWith(`${family}: ${rules}.`),
    (await page.textContent('#model-origin')) ?? ''
  )
  await finish(page)
})

test('a file of PyTorch is compared with its rounded weights', async () => {
  const page = await browser.open('#v=compare')
  await page.setInputFiles('#model-files', [
    {
      name: 'vit.pth',
      mimeType: '',
      buffer: readFileSync(join(vectors, 'pickle/vit/zip.pth'))
    },
    {
      name: 'config.json',
      mimeType: '',
      buffer: readFileSync(join(vectors, 'vit/hf_vit/config.json'))
    }
  ])
  await says(page, '#model-name', /^vit\.pth$/)
  await says(page, '#caption', /patch/)
  await page.selectOption('#view [name=other]', 'int4')
  await says(page, '#view figure:nth-child(2)', /weights in 4 bits, the same place/)
  await says(page, '#view dl', /divergence0\.\d*[1-9]/)
  assert.equal(await page.isVisible('#error'), false)
  await page.screenshot({ path: join(site, '../screenshots/explorer-rounded-pytorch.png') })
  await finish(page)
})
