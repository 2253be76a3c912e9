/* The pages on small screens and magnified ones, by finger: nothing is wider than the screen,
 * targets are large enough, the sheet with the numbers opens and closes, a finger scrolls over the
 * picture without choosing. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test, { after, before } from 'node:test'
import { bigModel } from '../big_model.js'
import { finish, startBrowser, violations } from '../browser.js'
import { loadPage } from '../package.js'
/** @import {Box, TestBrowser, TestPage} from '../browser.js' */

/** @type {typeof import('../../pages/explorer/views/view_list.js')} */
const { views: listed } = await loadPage('explorer/views/view_list.js')

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
const views = Object.keys(listed)
/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

/**
 * @param {TestPage} page
 * @param {string} button
 */
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)])
  return JSON.parse(await readFile(await download.path()))
}
/**
 * @param {TestPage} page
 * @param {string} selector
 */
const text = (page, selector) => /** @type {Promise<string>} */ (page.textContent(selector))

/* Elements that reach beyond the screen, but for those inside of something that scrolls sideways by
 * itself. */
const tooWide = () => {
  const { scrollWidth, clientWidth } = document.documentElement // innerWidth grows with what sticks out on a phone
  /**
   * @param {Element | null} element
   * @returns {any}
   */
  const scrolls = (element) =>
    element &&
    (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(element).overflowX) ||
      scrolls(element.parentElement))
  const wide = [...document.querySelectorAll('body *')].filter((element) => {
    const { right, width, height } = element.getBoundingClientRect()
    return width * height > 0 && right > clientWidth + 1 && !scrolls(element.parentElement)
  })
  return [
    ...wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 120)),
    ...(scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide`] : [])
  ]
}

/* What a finger has to hit: 24 x 24 pixels, but for links in sentences and what a label stands
 * for. */
const tooSmall = () =>
  [...document.querySelectorAll('button, select, input, summary, a, [role=gridcell]')]
    .filter((element) => {
      const { width, height } = element.getBoundingClientRect(),
        target = element.closest('label')?.getBoundingClientRect() ?? { width, height }
      return (
        width > 0 &&
        element.checkVisibility({ visibilityProperty: true }) &&
        !element.closest('p > a') &&
        Math.min(Math.max(width, target.width), Math.max(height, target.height)) < 23.9
      )
    })
    .slice(0, 5)
    .map(
      (element) =>
        `${element.outerHTML.slice(0, 120)}: ${JSON.stringify(element.getBoundingClientRect())}`
    )

test('the explorer fits screens of 360 and 320 pixels in every view, with targets of 24 pixels', async () => {
  const page = await browser.open('#v=heads', phone)
  for (const view of views) {
    await page.evaluate((view) => document.getElementById(`tab-${view}`).click(), view)
    await page.waitForFunction(
      (view) =>
        document.getElementById('view').getAttribute('aria-labelledby') === `tab-${view}` &&
        document.getElementById('view').childElementCount,
      view
    )
    for (const width of [360, 320]) {
      await page.setViewportSize({ width, height: 740 })
      assert.deepEqual(await page.evaluate(tooWide), [], `${view}, ${width} pixels`)
      if (width === 360) assert.deepEqual(await page.evaluate(tooSmall), [], view)
    }
  }
  const more = await page.$$eval('[data-more]', (buttons) =>
    buttons.map(({ dataset }) => dataset.more ?? '')
  )
  assert.ok(more.includes('groups'), more.join())
  for (const view of more) {
    await page.evaluate((view) => {
      for (const part of document.querySelectorAll('#view *')) part.classList.add('before')
      document.querySelector(`[data-more=${view}]`).click()
    }, view)
    await page.waitForFunction(() =>
      [...document.querySelectorAll('#view :is(input, p, figure):not(.before)')].some((part) =>
        part.checkVisibility()
      )
    )
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 740 })
      assert.deepEqual(await page.evaluate(tooWide), [], `${view}, ${width} pixels`)
    }
  }
  const frame = /** @type {Box} */ (await page.locator('#frame').boundingBox())
  assert.deepEqual([frame.x, frame.width], [0, 320])
  for (const [width, height] of [
    [320, 256],
    [683, 384]
  ]) {
    // 1280 x 1024 at 400 %, 1366 x 768 at 200 %
    await page.setViewportSize({ width, height })
    assert.deepEqual(await page.evaluate(tooWide), [], `${width} x ${height}`)
    assert.ok(
      /** @type {any} */ (await page.locator('#frame').boundingBox()).height <=
        Math.max(340, height)
    )
    assert.ok(
      await page
        .locator('[popovertarget=save]')
        .evaluate((button) => button.checkVisibility({ visibilityProperty: true }))
    )
  }
  await finish(page)
})

test('names of views stand 6 pixels apart where their panel is narrowest, in each language', async () => {
  for (const file of ['#v=heads', 'index.ja.html#v=heads', 'index.zh.html#v=heads']) {
    const page = await browser.open(file, { locale: 'en' })
    for (const width of [320, 360, 701, 1000, 1200, 1241, 1301, 1340, 1700]) {
      await page.setViewportSize({ width, height: 800 })
      const gaps = await page.evaluate(() => {
        const texts = [...document.querySelectorAll('#tabs button')].map((tab) => {
          const range = document.createRange()
          range.selectNodeContents(tab)
          return range.getBoundingClientRect()
        })
        return texts
          .slice(1)
          .map((text, i) => (text.left < texts[i].left ? Infinity : text.left - texts[i].right))
      })
      assert.ok(Math.min(...gaps) >= 6, `${file}, ${width} pixels: ${gaps.map(Math.round)}`)
    }
    await finish(page)
  }
})

test('words of the title are large enough for a finger on a phone, and what explains them fits, in each language', async () => {
  for (const file of ['#v=heads', 'index.ja.html#v=heads', 'index.zh.html#v=heads']) {
    const page = await browser.open(file, { ...phone, locale: 'en' })
    assert.deepEqual(await page.evaluate(tooSmall), [], file)
    const terms = page.locator('#stage-title .term')
    assert.equal(await terms.count(), 3, file)
    for (const term of await terms.all()) {
      await term.tap()
      await page.waitForSelector('#term-said')
      const box = /** @type {Box} */ (await page.locator('#term-said').boundingBox())
      assert.ok(box.x >= 0 && box.x + box.width <= 360 && box.y >= 0, JSON.stringify(box))
      assert.deepEqual(await page.evaluate(tooWide), [], file)
    }
    await finish(page)
  }
})

for (const name of ['learn', 'masks', 'bench', 'embed'])
  test(`${name}.html fits screens of 360 and 320 pixels`, async () => {
    const page = await browser.open(`${name}.html`, phone)
    for (const width of [360, 320]) {
      await page.setViewportSize({ width, height: 740 })
      assert.deepEqual(await page.evaluate(tooWide), [], `${width} pixels`)
    }
    await finish(page)
  })

test('a press on the sheet’s handle before its script is there opens it once it is', async () => {
  const page = await browser.open('#v=heads', { ...phone, ready: false })
  let go = () => {}
  const held = new Promise((done) => (go = () => done(undefined)))
  await page.route('**/number_sheet-*.js', async (route) => {
    await held
    await route.continue()
  })
  await page.reload({ waitUntil: 'commit' })
  await page.waitForSelector('html[data-ready]', { timeout: 60000 })
  await page.locator('#handle').tap()
  assert.equal(await page.getAttribute('#handle', 'aria-expanded'), 'false')
  go()
  await page.waitForSelector('#handle[aria-expanded=true]')
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // what the reload ended
  await finish(page)
})

test('twelve heads: each switch is in sight at 1366 pixels, and a map under the pointer is enlarged', async () => {
  const page = await browser.open('#v=intervene')
  await page.setInputFiles(
    '#model-files',
    await bigModel({ layers: 12, side: 7, heads: 12, width: 48 })
  )
  await page.waitForFunction(() =>
    document.getElementById('model-facts').textContent.startsWith('12 layers, 12 heads')
  )
  await page.waitForSelector('.switches td >> nth=143')
  const cut = await page.locator('.switches').evaluate((table) => {
    const place = /** @type {Element} */ (table.parentElement)
    return [
      place.scrollWidth - place.clientWidth,
      place.scrollHeight - place.clientHeight,
      Math.min(...[...table.querySelectorAll('td button')].map((cell) => cell.clientWidth))
    ]
  })
  assert.ok(cut[0] <= 0 && cut[1] <= 0 && cut[2] >= 20, cut.join())
  await page.click('#tab-heads')
  await page.hover('#view .cells button >> nth=20')
  await page.waitForSelector('.head-zoom:visible figcaption:has-text("layer 1, head 8, largest ")')
  const alike = await page.evaluate(() => {
    const pixels = (
      /** @type {string} */ of,
      /** @type {[number, number, number, number]} */ at
    ) => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(of))
      return String(canvas.getContext('2d')?.getImageData(...at).data)
    }
    return pixels('.head-zoom canvas', [0, 0, 7, 7]) === pixels('#heads-canvas', [64, 8, 7, 7])
  })
  assert.ok(alike)
  await page.mouse.move(5, 5)
  await page.waitForSelector('.head-zoom', { state: 'hidden' })
  page.faults = page.faults.filter((fault) => !fault.includes('willReadFrequently')) // the test's own readings
  await finish(page, 'explorer-twelve-heads')
})

test('the claim in the header is whole or left out, in each language', async () => {
  /** @param {Element} claim */
  const seen = (claim) => {
    const range = document.createRange(),
      box = claim.getBoundingClientRect()
    range.selectNodeContents(claim)
    const text = range.getBoundingClientRect(),
      inside = text.left >= box.left - 1 && text.right <= box.right + 1
    if (!claim.checkVisibility() || text.top >= box.bottom - 1) return 'left out'
    return inside && text.bottom <= box.bottom + 1 ? 'whole' : `cut: ${text.width} of ${box.width}`
  }
  for (const path of ['#v=heads', 'index.ja.html#v=heads', 'index.zh.html#v=heads']) {
    const page = await browser.open(path),
      claim = page.locator('.claim')
    for (const width of [1366, 1301, 1240, 820, 360]) {
      await page.setViewportSize({ width, height: 768 })
      const where = `${path || 'index.html'}, ${width} pixels`
      if (width > 1301) assert.equal(await claim.evaluate(seen), 'whole', where)
      else assert.match(await claim.evaluate(seen), /^(whole|left out)$/, where)
      if (width <= 1300) assert.equal(await claim.evaluate(seen), 'left out', where)
      // however long the status beside it is
      for (const words of [1, 3, 16]) {
        await page.evaluate((words) => {
          const status = document.getElementById('status')
          status.dataset.words ??= String(status.textContent)
          status.textContent = status.dataset.words + ' more'.repeat(words)
        }, words)
        const what = await claim.evaluate(seen)
        assert.match(what, /^(whole|left out)$/, `${where}, ${words} words more`)
        if (words === 16) assert.equal(what, 'left out', where)
      }
      await page.evaluate(() => {
        const status = document.getElementById('status')
        status.textContent = String(status.dataset.words)
      })
    }
    await finish(page)
  }
})

test('pages do not move while they load', async () => {
  for (const path of ['', '#v=heads', 'learn.html', 'masks.html', 'bench.html', 'embed.html']) {
    const page = await browser.open(path, { ready: false })
    await page.addInitScript(() => {
      const own = /** @type {any} */ (globalThis)
      own.moved = 0
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) own.moved += /** @type {any} */ (entry).value
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await page.reload()
    await page.waitForLoadState('networkidle')
    await page.waitForTimeout(300)
    const moved = await page.evaluate(() => /** @type {any} */ (globalThis).moved)
    console.log(`${path || 'index.html'}: layout shift ${moved.toFixed(4)}`)
    assert.ok(moved <= 0.02, `${path}: ${moved}`)
    page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
    await finish(page)
  }
})

test('the sheet with the numbers: by a press, by key, drawn up and down', async () => {
  const page = await browser.open('#v=heads', phone),
    handle = page.locator('#handle')
  /** @param {boolean} wanted */
  const opened = async (wanted) => {
    await page.waitForFunction(
      (wanted) =>
        document.getElementById('handle').getAttribute('aria-expanded') === String(wanted) &&
        document
          .querySelector('[popovertarget=save]')
          ?.checkVisibility({ visibilityProperty: true }) === wanted,
      wanted
    )
  }
  await opened(false)
  assert.match(await text(page, '#handle'), /star 100\.0 %/)
  await handle.tap()
  await opened(true)
  await handle.tap()
  await opened(false)
  await handle.focus()
  await page.keyboard.press('Enter')
  await opened(true)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Escape')
  await opened(false)
  assert.equal(
    await page.evaluate(() => /** @type {Element} */ (document.activeElement).id),
    'handle'
  )
  for (const by of [-200, 200]) {
    // where it stands in the end: at the screen's edge while closed
    await page.waitForFunction((closed) => {
      const { bottom } = document.getElementById('handle').getBoundingClientRect()
      return (
        !document.getElementById('numbers').getAnimations().length &&
        closed === bottom >= innerHeight
      )
    }, by < 0)
    const { x, y } = /** @type {Box} */ (await handle.boundingBox())
    await page.mouse.move(x + 100, y + 20)
    await page.mouse.down()
    await page.mouse.move(x + 100, y + 20 + by, { steps: 4 })
    await page.mouse.up()
    await opened(by < 0)
  }
  await page.setViewportSize({ width: 360, height: 400 }) // too low for a sheet: all of it stands below
  await page.waitForFunction(() =>
    document.querySelector('[popovertarget=save]')?.checkVisibility({ visibilityProperty: true })
  )
  await finish(page)
})

test('a finger: drawn down the picture it scrolls, drawn across it takes the query along', async () => {
  const page = await browser.open('#v=heads', phone),
    client = await page.context().newCDPSession(page),
    box = /** @type {Box} */ (await page.locator('#patches').boundingBox())
  /** @param {number[][]} points */
  const draw = async (points) => {
    for (const [i, [x, y]] of points.entries())
      await client.send('Input.dispatchTouchEvent', {
        type: i ? 'touchMove' : 'touchStart',
        touchPoints: [{ x: box.x + x, y: box.y + y }]
      })
    await client.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  }
  await draw([
    [40, 350], // below all shapes, which would be dragged
    [55, 350],
    [100, 352],
    [200, 350]
  ])
  await page.waitForFunction(() => location.hash === '#q=13.7')
  await draw([
    [100, 300],
    [102, 280],
    [104, 250],
    [104, 200],
    [104, 150]
  ])
  await page.waitForFunction(() => scrollY > 50)
  assert.equal(await text(page, '#stage-title'), 'Layer 3, head 0: from patch (13, 7)')
  await finish(page)
})

test('the strip of all tokens: CLS is a cell with its share, a patch under the pointer is ringed and named, a press chooses it', async () => {
  const page = await browser.open(),
    line = /** @type {Box} */ (await page.locator('#line').boundingBox()),
    at = (/** @type {number} */ patch) => [line.x + (line.width * (patch + 0.5)) / 196, line.y + 10]
  assert.equal(await text(page, '#prefix button'), 'CLS 0.43 %')
  assert.equal(
    await page.evaluate(() => /** @type {any} */ (document.querySelector('#line canvas')).width),
    196
  )
  await page.mouse.move(.../** @type {[number, number]} */ (at(10 * 14 + 1)))
  assert.equal(await text(page, '#token-said'), 'patch (10, 1): 19.4 % = 38.3 × uniform')
  assert.equal(await page.getAttribute('#marks .ring', 'd'), 'M1 10h1v1h-1z')
  await page.mouse.down()
  await page.mouse.up()
  await page.waitForFunction(() => location.hash === '#q=10.1')
  await page.mouse.move(0, 0)
  assert.equal(await page.locator('#marks .ring').count(), 0)
  await page.focus('#prefix button')
  await page.waitForFunction(() =>
    /^CLS, [\d.]+ %, [\d.]+ times uniform$/.test(
      /** @type {Element} */ /** @type {string} */ (
        /** @type {any} */ (document.activeElement).getAttribute('aria-label')
      )
    )
  )
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => location.hash === '#q=cls')
  assert.equal(await page.getAttribute('#prefix button', 'aria-selected'), 'true')
  await finish(page)
})

/**
 * A picture's numbers as its table shows them, and as it copies them.
 * @param {TestPage} page
 * @param {string} button
 * @param {string} [view]
 */
async function tableOf(page, button, view) {
  if (view) await page.click(`#tab-${view}`)
  if (view === 'rollout')
    await page.waitForFunction(() =>
      document.getElementById('stage-title').textContent.startsWith('Rollout')
    )
  await page.focus(button)
  await page.keyboard.press('Enter')
  await page.click('.figures button:has-text("Copy")')
  await page.waitForSelector('.figures button:has-text("Copied")')
  const shown = await page
    .locator('.figures tbody tr')
    .evaluateAll((lines) =>
      lines.map((line) =>
        [.../** @type {any} */ (line).cells].slice(1).map((cell) => cell.textContent)
      )
    )
  const copied = (await page.evaluate(() => navigator.clipboard.readText()))
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t').slice(1))
  await page.keyboard.press('Escape')
  await page.waitForFunction(
    (button) =>
      !document.querySelector('dialog.figures') &&
      /** @type {Element} */ (document.activeElement).matches(button),
    button === '#stage-table' ? '[popovertarget=display]' : button // where its menu is opened
  )
  return { shown, copied }
}

test('every picture as a table: the numbers of the JSON, copied in full precision; Escape closes it, the focus goes back', async () => {
  const page = await browser.open('#v=heads', {
      permissions: ['clipboard-read', 'clipboard-write']
    }),
    {
      results: [{ heads, rollout }]
    } = await saved(page, '#save-json')
  const table = (/** @type {[button: string, view?: string]} */ ...what) => tableOf(page, ...what)
  const stage = await table('#stage-table'),
    { row } = heads[12]
  const all = [stage.copied[0][0], ...stage.copied.slice(1).flat()]
  assert.equal(all.length, 197)
  all.forEach((value, token) =>
    assert.ok(
      Math.abs(/** @type {any} */ (value) - row[token]) < 1e-6,
      `token ${token}: ${value}, expected ${row[token]}`
    )
  )
  assert.equal(stage.shown[11][1], (row[1 + 10 * 14 + 1] * 100).toFixed(3))
  const grid = await table('#view-table')
  heads.forEach((/** @type {any} */ { row }, /** @type {any} */ head) =>
    assert.ok(Math.abs(/** @type {any} */ (grid.copied[100][head]) - row[100]) < 1e-6)
  )
  const matrix = await table('#view-table', 'matrix')
  assert.equal(matrix.shown[1 + 2 * 14 + 10][0], 'patch (10, 1)')
  assert.ok(
    Math.abs(/** @type {any} */ (matrix.copied[1 + 2 * 14 + 10][4]) - heads[12].entropy) < 1e-4
  )
  const rolled = await table('#view-table', 'rollout')
  rollout.forEach((/** @type {any} */ weight, /** @type {any} */ token) =>
    assert.ok(Math.abs(/** @type {any} */ (rolled.copied[token][0]) - weight) < 1e-6)
  )
  await page.click('#tab-compare')
  await page.click('#view [name=pin]')
  await page.waitForSelector('#view dl dd')
  const pair = await table('#view-table')
  assert.ok(
    pair.copied.every(
      ([a, b, less]) =>
        Math.abs(/** @type {any} */ (a) - /** @type {any} */ (b) - /** @type {any} */ (less)) < 1e-9
    )
  )
  assert.equal((await table('#view-table', 'tokens')).shown[1 + 2 * 14 + 10][0], '1.000')
  await finish(page)
})

test('everything is above the fold at 1366 x 768, in every view', async () => {
  const page = await browser.open()
  for (const view of views) {
    await page.click(`#tab-${view}`)
    await page.waitForFunction(
      (view) =>
        document.getElementById('view').getAttribute('aria-labelledby') === `tab-${view}` &&
        document.getElementById('view').childElementCount,
      view
    )
    await page.waitForTimeout(100) // drawn
    assert.ok(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight), view)
    const ends = await page.evaluate(() =>
      [...document.querySelectorAll('main > section')].map((card) =>
        Math.round(card.getBoundingClientRect().bottom)
      )
    )
    assert.equal(new Set(ends).size, 1, `${view}: ${ends}`)
  }
  await finish(page)
})

test('at rest the explorer has few controls: rows of like ones, fields and buttons', async () => {
  // two more on a wide screen: the axes of the plot below the maps of all heads
  for (const [width, most] of [
    [360, 16],
    [1366, 16],
    [1920, 17]
  ]) {
    const page = await browser.open('#q=3.9', { viewport: { width, height: 1080 } })
    if (width === 1920) await page.waitForSelector('.beside select')
    const found = await page.evaluate(() =>
      [...document.querySelectorAll('main :is(button, summary, select, input, [tabindex])')]
        .filter(
          (element) =>
            element.checkVisibility({ visibilityProperty: true }) &&
            /** @type {HTMLElement} */ (element).tabIndex >= 0 &&
            !element.matches('.term')
        )
        .map((element) => element.closest('.samples, .tabs, .cells') ?? element)
        .map((element) => element.id || element.textContent?.trim() || element.className)
    )
    const count = new Set(found).size
    assert.ok(count > 10 && count <= most, `${width}: ${count}: ${[...new Set(found)].join(', ')}`)
    await finish(page)
  }
})

test('more numbers stand after a press, and without one on a wide screen', async () => {
  for (const [width, atRest, then] of /** @type {[number, number[], number[]][]} */ ([
    [1366, [2, 6], [6, 6]],
    [1920, [6, 12], [6, 12]]
  ])) {
    const page = await browser.open('#v=heads', { viewport: { width, height: 1080 } }),
      shown = () =>
        page.evaluate(() =>
          ['#facts dt', '#most tr'].map(
            (rows) =>
              [...document.querySelectorAll(rows)].filter((row) => row.checkVisibility()).length
          )
        )
    await page.waitForFunction(() => document.querySelectorAll('#facts dt').length === 6)
    assert.deepEqual(await shown(), atRest)
    if (width === 1366) {
      await page.click('#more-facts')
      assert.equal(await page.getAttribute('#more-facts', 'aria-expanded'), 'true')
    } else assert.equal(await page.isVisible('#more-facts'), false)
    assert.deepEqual(await shown(), then)
    await finish(page)
  }
})

test('forced colours: the chosen head’s map stays visible, what is chosen is outlined', async () => {
  const page = await browser.open('#v=heads', { forcedColors: 'active' }),
    style = (/** @type {string} */ selector, /** @type {string} */ name) =>
      page.evaluate(
        ([selector, name]) =>
          /** @type {any} */ (getComputedStyle(document.querySelector(selector)))[name],
        [selector, name]
      )
  await page.waitForSelector('#view [aria-selected=true]')
  assert.deepEqual(
    [
      await style('#view [aria-selected=true]', 'backgroundColor'),
      await style('#view [aria-selected=true]', 'outlineStyle')
    ],
    ['rgba(0, 0, 0, 0)', 'solid']
  )
  for (const chosen of [
    '#samples [aria-pressed=true]',
    '.pages [aria-current]',
    '#tabs [aria-selected=true]'
  ])
    assert.equal(await style(chosen, 'outlineStyle'), 'solid', chosen)
  assert.notEqual(
    await style('#prefix button', 'backgroundColor'),
    await style('body', 'backgroundColor')
  )
  await finish(page, 'explorer-forced')
})

test('print: the picture, its bar, caption, numbers, the view and where it is from, without controls', async () => {
  const page = await browser.open('#v=statistics', { viewport: { width: 718, height: 1040 } })
  await page.pdf({ format: 'A4' })
  await page.emulateMedia({ media: 'print' })
  for (const id of ['frame', 'bar', 'caption', 'facts', 'most', 'view', 'from', 'answer'])
    assert.ok(await page.isVisible(`#${id}`), id)
  for (const id of ['tabs', 'display', 'save', 'theme', 'samples', 'stage-table'])
    assert.ok(!(await page.isVisible(`#${id}`)), id)
  assert.match(await text(page, '#from'), /^heed \d.*Demo model.*Scene 159\. http.*#v=statistics$/)
  await finish(page, 'explorer-print-statistics')
})

test('Escape closes the first menu, or what explains a term, and leads nowhere', async () => {
  for (const open of ['[popovertarget=display]', '#stage-title .term']) {
    const page = await browser.open('') // the zoom, to which Escape leads back
    await page.click('#zoom-close')
    await page.waitForFunction(() => location.hash === '#v=heads' && history.state?.depth)
    await page.locator(open).first().click()
    await page.waitForSelector(
      open.startsWith('#') ? '#term-said:not([hidden])' : '#display:popover-open'
    )
    await page.keyboard.press('Escape')
    await page.waitForFunction(
      () => !document.querySelector(':popover-open, #term-said:not([hidden])')
    )
    await page.waitForTimeout(300) // the script of the keys may be on its way
    assert.equal(await page.evaluate(() => location.hash), '#v=heads', open)
    await finish(page)
  }
})

test('a locked end is said where it is used: not in rollout', async () => {
  const page = await browser.open('#v=rollout&end=20')
  await page.waitForFunction(() =>
    /^Rollout/.test(document.getElementById('stage-title').innerText)
  )
  assert.equal(await text(page, '#bar-label'), '× uniform')
  await page.click('#tab-heads')
  await page.waitForFunction(() => /locked/.test(document.getElementById('bar-label').innerText))
  await finish(page)
})

test('on a phone a tap on From CLS is not explained over what it has changed', async () => {
  const page = await browser.open('#v=rollout', phone)
  await page.tap('#cls')
  await page.waitForFunction(() =>
    /from CLS$/.test(document.getElementById('stage-title').innerText)
  )
  await page.tap('#stage-title .term')
  await page.waitForSelector('#term-said:not([hidden])') // so that its script is there
  await page.tap('#term-said')
  await page.waitForSelector('#term-said', { state: 'hidden' })
  await page.tap('#cls')
  await page.waitForFunction(
    () => !/from CLS$/.test(document.getElementById('stage-title').innerText)
  )
  assert.equal(await page.isVisible('#term-said'), false)
  await finish(page)
})

test('a long title stands in two lines, whole', async () => {
  for (const size of [{ width: 1366, height: 768 }, phone.viewport])
    for (const hash of ['#v=rollout&j=4&q=13.13', '#x=2.3_1.1&q=13.13']) {
      const page = await browser.open(hash, { viewport: size })
      await page.waitForSelector('#stage-title.long')
      assert.deepEqual(
        await page.evaluate(() => {
          const { scrollWidth, clientWidth, scrollHeight, clientHeight } =
            document.getElementById('stage-title')
          return [scrollWidth > clientWidth, scrollHeight > clientHeight]
        }),
        [false, false],
        `${hash} at ${size.width}`
      )
      await finish(page)
    }
})

for (const [width, height] of [
  [1366, 768],
  [390, 844]
])
  test(`menus at ${width} x ${height}: over the page, within the window, closed by Esc, a press outside and a command`, async () => {
    const page = await browser.open('#v=heads', { viewport: { width, height }, bypassCSP: true }),
      isOpen = (/** @type {string} */ id) =>
        page.evaluate((id) => document.getElementById(id)?.matches(':popover-open'), id),
      press = (/** @type {string} */ id) =>
        page.evaluate((id) => {
          const button = /** @type {HTMLElement} */ (
            document.querySelector(`[popovertarget="${id}"]`)
          )
          button.scrollIntoView({ block: 'nearest' })
          button.focus()
          button.click()
        }, id)
    if (width < 500) await page.click('#handle')
    await page.waitForFunction(
      () => !document.querySelector('[role=gridcell]:not([aria-label])'),
      undefined
    )
    await page.evaluate(() => document.getElementById('model').showPopover()) // its facts come late
    await page.waitForSelector('#tensors')
    await page.keyboard.press('Escape')
    for (const id of ['open', 'model', 'display', 'head-menu', 'save']) {
      if (width < 500 && (await page.getAttribute('#handle', 'aria-expanded')) === 'false')
        await page.click('#handle')
      const whole = await page.evaluate(() => document.documentElement.scrollHeight)
      await press(id)
      await page.waitForFunction(
        (id) => document.getElementById(id)?.querySelector('button, a, .hint'),
        id
      )
      assert.ok(await isOpen(id), id)
      const box = /** @type {Box} */ (await page.locator(`#${id}`).boundingBox())
      assert.ok(box.x >= 0 && box.x + box.width <= width, `${id}: ${JSON.stringify(box)}`)
      assert.ok(box.y >= 0 && box.y + box.height <= height, `${id}: ${JSON.stringify(box)}`)
      assert.equal(await page.evaluate(() => document.documentElement.scrollHeight), whole, id)
      assert.deepEqual(await violations(page), [])
      await page.keyboard.press('Escape')
      assert.ok(!(await isOpen(id)), `${id} after Esc`)
      assert.equal(
        await page.evaluate(() => document.activeElement?.getAttribute('popovertarget')),
        id
      )
      await press(id)
      assert.ok(await isOpen(id))
      await page.evaluate(() => scrollTo(0, 0))
      await page.mouse.click(3, 3) // the header
      assert.ok(!(await isOpen(id)), `${id} after a press outside`)
    }
    await press('head-menu')
    await page.evaluate(() => document.getElementById('pin').click())
    assert.ok(!(await isOpen('head-menu')), 'after a command')
    await press('display')
    await page.evaluate(() => document.getElementById('reverse').click())
    assert.ok(await isOpen('display'), 'a setting leaves it open')
    await finish(page)
  })
