/* The views behind More in Chromium, their numbers beside those of the runtime in Node. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { finish, startBrowser, violations } from '../browser.js'
import { createRuntime, demoModel, explain } from '../package.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
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

test('buttons lead through the views, and the address has the one that is open', async () => {
  const page = await browser.open('#v=more')
  await said(page, /pairs, each above uniform/)
  for (const [name, words] of /** @type {[string, RegExp][]} */ ([
    ['pair', /The products sum to/],
    ['causes', /The score of “star” is [\d.]+ = heads/],
    ['lens', /The model’s own score/],
    ['occlusion', /Each square of the image is covered/],
    ['groups', /heads in \d+ groups/],
    ['lines', /pairs, each above uniform/]
  ])) {
    await page.click(`[data-more=${name}]`)
    await said(page, words)
    assert.equal(await page.getAttribute(`[data-more=${name}]`, 'aria-pressed'), 'true')
    if (name !== 'lines')
      await page.waitForFunction((name) => location.hash.includes(`more=${name}`), name)
  }
  await finish(page, 'explorer-more')
})

test('files are named after the view that is open behind the tab', async () => {
  const page = await browser.open('#v=more&more=lens')
  await said(page, /The model’s own score/)
  for (const name of ['lens', 'lines', 'heads']) {
    await page.click(name === 'heads' ? '#tab-heads' : `[data-more=${name}]`)
    for (const ending of ['png', 'json']) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.click(`#save-${ending}`)
      ])
      assert.equal(download.suggestedFilename(), `Scene-159_L3H0_q2-10_${name}.${ending}`)
    }
  }
  await finish(page)
})

test('lines: the strongest pair is the map’s largest; of all queries there are 200', async () => {
  const page = await browser.open('#v=more'),
    [, times] = await said(page, /, ([\d.]+) × uniform\. They hold/)
  assert.equal(times, '38.3') // as the bar of the stage ends
  await page.check('#view [name=every]')
  await said(page, /^(?=[^]*\b200 of 38809 pairs)/)
  assert.equal(await page.locator('#view path.line').count(), 200)
  await finish(page, 'explorer-lines')
})

test('query × key: the sum of the products is the runtime’s raw score', async () => {
  const page = await browser.open('#v=more&more=pair&p=raw'),
    [, raw] = await said(page, /The products sum to (-?[\d.]+);/),
    name = /patch \(\d+, \d+\) is asked|CLS is asked/.exec(
      /** @type {string} */ (await page.textContent('#view caption'))
    )?.[0],
    [row, column] = /** @type {string[]} */ (name?.match(/\d+/g)),
    label = await page
      .locator(`#patches [aria-label^="row ${row}, column ${column},"]`)
      .getAttribute('aria-label'),
    score = Number(/score (-?[\d.]+)/.exec(label ?? '')?.[1])
  assert.ok(Math.abs(Number(raw) - score) < 0.006, `${raw} and ${label}`)
  /* Another key by a press on the picture. */
  await page.click('#view [name=pick]')
  await page.locator('#patches [aria-label^="row 0, column 0,"]').click({ force: true })
  await said(page, /patch \(0, 0\) is asked/)
  await finish(page, 'explorer-pair')
})

/** The package on scenes, with the states of a layer. @param {number[]} seeds */
async function packageOn(...seeds) {
  const runtime = await createRuntime(),
    model = await runtime.loadModel(demoModel),
    sessions = seeds.map(() => model.createSession({ taps: ['layer.3.output'] })),
    results = []
  for (const [i, seed] of seeds.entries())
    results.push(await sessions[i].run((await runtime.scene(seed)).image))
  return { runtime, sessions, results }
}

test('the lens’ numbers are those of the package; another class is another address', async () => {
  const page = await browser.open('#v=more&more=lens&l=4&q=cls'),
    {
      runtime,
      sessions: [session],
      results: [result]
    } = await packageOn(159),
    logits = Array.from(/** @type {ArrayLike<number>} */ (result.logits)),
    best = logits.indexOf(Math.max(...logits)),
    { lens } = await session.explain({ methods: ['lens'], target: best }),
    [, score] = await said(page, /The model’s own score of “star” is (-?\d+\.\d+)/),
    tokens = /** @type {import('heed').Tensor} */ (lens).shape[1],
    shown = await page.locator('#view tbody td:nth-of-type(1)').allTextContents()
  assert.equal(Number(score), Number(logits[best].toFixed(2)))
  shown.forEach((text, level) =>
    assert.equal(
      Number(text.replace('−', '-')),
      Number(/** @type {import('heed').Tensor} */ (lens).data[level * tokens].toFixed(2))
    )
  )
  assert.equal(shown.length, 6)
  await page.selectOption('#view [name=target]', { index: 1 })
  await page.waitForFunction(() => location.hash.includes('target='))
  runtime.close()
  await finish(page, 'explorer-lens')
})

test('class map: the judge’s numbers are the package’s; a label under the pointer shows its own map', async () => {
  const page = await browser.open('#v=more&more=classMap', { bypassCSP: true }),
    {
      runtime,
      sessions: [session],
      results: [result]
    } = await packageOn(159),
    logits = Array.from(/** @type {ArrayLike<number>} */ (result.logits)),
    best = logits.indexOf(Math.max(...logits)),
    { owner, scene } = await runtime.scene(159),
    mask = Uint8Array.from({ length: 224 * 224 }, (_, at) => {
      const patch = Math.floor(at / 224 / 16) * 14 + Math.floor((at % 224) / 16)
      return Number(scene.objects[owner[patch]]?.shape === 'star')
    }),
    /** @type {(name: any) => Promise<string[]>} */
    judged = async (name) => {
      const found = /** @type {Record<string, import('heed').Tensor>} */ (
          await session.explain({ maps: [name], target: best })
        ),
        verdict = /** @type {Record<string, import('heed').Tensor>} */ (
          await session.explain({
            methods: ['deletion', 'insertion', 'localisation'],
            curves: 'tokens',
            map: /** @type {Float32Array} */ (found[`map.${name}`].data),
            mask,
            target: best
          })
        )
      return [
        'deletion.tokens.probability.area',
        'insertion.tokens.probability.area',
        'localisation.rank'
      ].map((metric) => verdict[metric].data[0].toFixed(3))
    }
  const [, deletion, insertion] = await said(
      page,
      /Area below the curve: ([\d.]+) where[^;]*; ([\d.]+) where/
    ),
    expected = await judged('relevancy')
  assert.deepEqual([deletion, insertion], expected.slice(0, 2))
  assert.deepEqual(await violations(page), [])
  await page.click('#view [name=compare]')
  await page.waitForFunction(
    () => document.querySelectorAll('#view .verdicts tbody tr').length === 10
  )
  for (const name of ['relevancy', 'attnlrp', 'rollout'])
    assert.deepEqual(
      await page.locator(`#view tr:has([data-map=${name}]) td`).allTextContents(),
      name === 'relevancy' ? expected : await judged(name)
    )
  assert.deepEqual(await violations(page), [])
  /* Another label under the pointer, and a map chosen in the table. */
  const label = page.locator('#view .labels button').nth(1),
    name = /“(.*)”/.exec((await label.textContent()) ?? '')?.[1]
  await label.hover()
  await said(page, new RegExp(`What speaks for “${name}”: Relevancy`))
  await page.mouse.move(5, 5)
  await said(page, /What speaks for “star”: Relevancy/)
  await page.click('#view [data-map=attnlrp]')
  await said(page, /What speaks for “star”: AttnLRP/)
  await label.click()
  await said(page, new RegExp(`What speaks for “${name}”: AttnLRP`))
  await page.waitForFunction(() => location.hash.includes('target='))
  runtime.close()
  await finish(page, 'explorer-class-map')
})

test('causes, features and patching show the package’s numbers', async () => {
  const page = await browser.open('#v=more&more=causes&l=3&h=1&other=7&target=0-1', {
      bypassCSP: true
    }),
    {
      runtime,
      sessions: [own, source]
    } = await packageOn(159, 7),
    found = await own.explain({ methods: ['ledger'], target: [0, 1] }),
    ledger = /** @type {import('heed').Tensor} */ (found['ledger.heads']),
    tokens = ledger.shape[2],
    head = ledger.data.slice((3 * 4 + 1) * tokens, (3 * 4 + 2) * tokens),
    number = (/** @type {string} */ text) => Number(text.replace('−', '-')),
    fixed = (/** @type {number} */ value) => Number(value.toFixed(2))
  let sum = 0
  for (const x of head) sum += x
  const [, score] = await said(page, /The score of “[^]*?” is (−?[\d.]+) = heads/)
  assert.equal(number(score), fixed(/** @type {import('heed').Tensor} */ (found.score).data[0]))
  const cell = page.locator('#view .cells [aria-label^="layer 3, head 1:"]')
  await cell.waitFor()
  assert.equal(number((await cell.getAttribute('aria-label'))?.split(': ')[1] ?? ''), fixed(sum))
  assert.deepEqual(await violations(page), [])

  await page.click('[data-more=features]')
  const { match } = await own.explain({
      methods: ['similarity'],
      layer: 3,
      source
    }),
    pairs = /** @type {import('heed').Tensor} */ (match).data.filter((to) => to >= 0).length,
    [, shown] = await said(page, /(\d+) of 196 patches have (?:such a match|a match both ways)/)
  assert.equal(Number(shown), pairs)
  await page.waitForFunction(() => document.querySelectorAll('#view .layers canvas').length === 5)
  assert.deepEqual(await violations(page), [])
  await page.click('#cls')
  await said(page, /CLS has no place in the picture: the patch in the middle is shown/)
  await page.click('#cls')
  await page.mouse.move(5, 5)

  await page.click('[data-more=patching]')
  await page.click('#view [name=run]')
  const patched = await own.explain({
      methods: ['patch'],
      sites: ['heads'],
      target: [0, 1],
      source
    }),
    [, to] = await said(page, /With head 3\.1 of the second image[^]*? to (−?[\d.]+):/)
  assert.equal(
    number(to),
    fixed(/** @type {import('heed').Tensor} */ (patched['patch.heads']).data[3 * 4 + 1])
  )
  assert.deepEqual(await violations(page), [])
  runtime.close()
  await finish(page, 'explorer-patching')
})

test('occlusion: the drop is that of the runtime with the same square covered', async () => {
  const page = await browser.open('#v=more&more=occlusion&q=cls')
  await page.selectOption('#view [name=side]', '4')
  await page.click('#view [name=run]')
  const [, row, column, drop] = (
      await said(page, /at patch \((\d+), (\d+)\) costs most: ([\d.]+) points/)
    ).map(Number),
    runtime = await createRuntime(),
    { image } = await runtime.scene(159),
    session = (await runtime.loadModel(demoModel)).createSession(),
    channels = image.data.length / image.width / image.height,
    data = Uint8ClampedArray.from(image.data),
    mean = [0, 1, 2].map((c) => {
      let sum = 0
      for (let i = c; i < data.length; i += channels) sum += data[i]
      return Math.round((sum * channels) / data.length)
    }),
    shares = async (/** @type {Uint8ClampedArray} */ data) =>
      explain.softmax(/** @type {Float32Array} */ ((await session.run({ ...image, data })).logits)),
    whole = await shares(data),
    best = whole.indexOf(Math.max(...whole))
  for (let y = row * 16; y < Math.min(224, (row + 4) * 16); y++)
    for (let x = column * 16; x < Math.min(224, (column + 4) * 16); x++)
      for (let c = 0; c < 3; c++) data[(y * 224 + x) * channels + c] = mean[c]
  const expected = 100 * (whole[best] - (await shares(data))[best])
  runtime.close()
  assert.ok(Math.abs(drop - expected) < 0.06, `${drop}, expected ${expected}`)
  await finish(page, 'explorer-occlusion')
})

test('similar heads: all heads stand in groups, and a press chooses one', async () => {
  const page = await browser.open('#v=more&more=groups')
  const [, groups, single] = await said(page, /20 heads in (\d+) groups, (\d+) of one head/)
  assert.equal(await page.locator('#view [data-head]').count(), 20)
  /* Those of one head stand together. */
  assert.equal(
    await page.locator('.groups [role=group]').count(),
    Number(groups) - Number(single) + 1
  )
  await said(page, new RegExp(`Heads in a group of one: ${single}`))
  assert.equal(await page.locator('#view .bar').count(), 1) // of all, which ends at the largest of all
  await page.fill('#view [name=limit]', '0.6')
  await said(page, /20 heads in [1-5] groups/)
  await page.click('#view [data-head="2.3"]')
  await page.waitForFunction(() => /l=2&h=3/.test(location.hash))
  await finish(page, 'explorer-groups')
})

for (const [width, height, colorScheme] of /** @type {[number, number, 'light' | 'dark'][]} */ ([
  [1366, 768, 'light'],
  [360, 740, 'dark']
]))
  test(`axe finds no violation: each view behind More, menus, dialogs, an error, help, tour, at ${width}, ${colorScheme}`, async () => {
    const page = await browser.open('#v=more', {
        viewport: { width, height },
        colorScheme,
        bypassCSP: true
      }),
      found = []
    await said(page, /pairs, each above uniform/)
    for (const name of await page
      .locator('[data-more]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('data-more')))) {
      await page.click(`[data-more=${name}]`)
      await page.waitForFunction(() => document.querySelector('#view > :last-child')?.textContent)
      found.push(...(await violations(page, '#view')))
    }
    if (width === 360) await page.click('#handle') // two menus are in the sheet
    for (const menu of ['model', 'display', 'head-menu', 'save', 'open']) {
      await page.evaluate((menu) => document.getElementById(menu)?.showPopover(), menu)
      await page.waitForSelector(`#${menu} button`)
      if (menu === 'open') await page.click('#open-address') // models by address, and those of the server
      if (menu === 'open') await page.waitForSelector('#library input')
      found.push(...(await violations(page, `#${menu}`)))
    }
    await page.keyboard.press('Escape')
    found.push(...(await violations(page, '.rail')))
    found.push(...(await violations(page, '#numbers')))
    if (width === 360) await page.click('#handle')
    for (const button of ['#stage-table', '#tensors', '#size']) {
      await page.click(button)
      await page.waitForSelector('dialog[open]')
      found.push(...(await violations(page, 'dialog[open]')))
      await page.keyboard.press('Escape')
      await page.waitForSelector('dialog[open]', { state: 'detached' })
    }
    await page.evaluate(() => (location.hash = '#l=1&h=9'))
    await page.waitForSelector('#error:not([hidden])')
    found.push(...(await violations(page, '#error')))
    await page.click('#error-close')
    await page.click('#help')
    await page.waitForSelector('#keys[open]')
    found.push(...(await violations(page, '#keys')))
    await page.click('#tour-again')
    await page.waitForSelector('#tour')
    found.push(...(await violations(page, '#tour')))
    assert.deepEqual(found, [])
    await finish(page)
  })
