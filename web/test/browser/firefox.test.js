/* Each page in Firefox: its main path by mouse, and by keyboard alone; on a phone and a desk, light
 * and dark, nothing sticks out and axe finds no violation; its console stays empty. One browser for
 * all. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import test, { after, before } from 'node:test'
import puppeteer, { TimeoutError } from 'puppeteer-core'
import { site } from '../browser.js'
import { serve } from '../../serve.js'
/** @import {Page} from 'puppeteer-core' */

const executablePath =
  process.env.HEED_FIREFOX ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync)
const inFirefox = executablePath ? {} : { skip: 'no Firefox here' }
const patience = 90000
const threadsSaid = availableParallelism() > 1 ? /\d+ threads: one per core/ : /one core/
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** @type {import('puppeteer-core').Browser} */
let firefox
/** @type {Awaited<ReturnType<typeof serve>>} */
let server

before(async () => {
  if (!executablePath) return
  server = await serve(site)
  firefox = await puppeteer.launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    protocolTimeout: 180000
  })
})
after(async () => {
  await firefox?.close()
  server?.close()
})

/**
 * Waits until a function that runs in the page gives something true.
 * @typedef {(condition: (...given: any[]) => unknown, ...args: any[]) => Promise<unknown>} Until
 */

/**
 * Where a page stands, for the message of a failure.
 * @param {Page} page
 */
const said = (page) =>
  page
    .evaluate(() =>
      [
        location.href,
        document.getElementById('stage-title')?.textContent,
        document.activeElement?.outerHTML.slice(0, 200)
      ].join('\n')
    )
    .catch(String)

/**
 * Visits a page, and once more, which is printed, where a wait came to its end: on a busy machine
 * Firefox was seen to lose a key.
 * @param {string} path
 * @param {(page: Page, until: Until) => unknown} use
 */
async function visit(path, use) {
  try {
    await visitOnce(path, use)
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    console.log(`visited once more: ${error.message}`)
    await visitOnce(path, use)
  }
}

/**
 * Opens a page, calls use(page, until), and looks that nothing was said or thrown.
 * @param {string} path
 * @param {(page: Page, until: Until) => unknown} use
 */
async function visitOnce(path, use) {
  const page = await firefox.newPage(),
    faults = /** @type {string[]} */ ([])
  page.on(
    'console',
    (message) => ['error', 'warn'].includes(message.type()) && faults.push(message.text())
  )
  page.on('pageerror', (error) => faults.push(String(/** @type {Error} */ (error).stack ?? error)))
  /** @type {Until} */
  const until = (condition, ...args) =>
    page.waitForFunction(condition, { timeout: patience, polling: 100 }, ...args)
  try {
    await page.setViewport({ width: 1366, height: 768 })
    await page.goto(server.address + (path || '#v=heads'))
    await until(() => document.documentElement.dataset.ready === 'true')
    await use(page, until)
    assert.deepEqual(faults, [])
  } catch (caught) {
    const error = /** @type {Error} */ (caught)
    error.message += `\n${faults.join('\n')}\n${await said(page)}`
    throw error
  } finally {
    await page.close()
  }
}

/**
 * @param {Page} page
 * @param {string} selector
 */
const text = (page, selector) => page.$eval(selector, (element) => element.textContent)
/**
 * @param {Page} page
 * @param {string} selector
 * @param {number} i
 */
const nth = async (page, selector, i) => (await page.$$(selector))[i]

/**
 * Tab until the element that has the focus fits.
 * @param {Page} page
 * @param {string} selector
 */
async function tabTo(page, selector, most = 80) {
  for (let i = 0; i < most; i++) {
    if (
      await page.evaluate(
        (selector) => /** @type {Element} */ (document.activeElement).matches(selector),
        selector
      )
    )
      return
    await page.keyboard.press('Tab')
  }
  assert.fail(`Tab does not lead to ${selector}`)
}

/** @param {Page} page */
const press = async (page, /** @type {any[]} */ ...keys) => {
  for (const key of keys) await page.keyboard.press(key)
}

/**
 * Light and dark by the page's own switch; axe where the theme or the width is new to it.
 * @param {Page} page
 */
async function looks(page) {
  for (const [theme, width, height, asked] of [
    ['light', 1366, 768, false],
    ['light', 360, 740, true],
    ['dark', 360, 740, false],
    ['dark', 1366, 768, true]
  ]) {
    await page.setViewport({ width: Number(width), height: Number(height) })
    if ((await page.evaluate(() => document.documentElement.dataset.theme ?? 'light')) !== theme)
      await page.click('#theme')
    assert.deepEqual(
      await page.evaluate(() => [
        innerWidth,
        document.documentElement.scrollWidth - document.documentElement.clientWidth
      ]),
      [width, 0],
      /** @type {any} */ (theme)
    )
    if (!asked) continue
    await page.waitForFunction(() => !document.querySelector('[role=gridcell]:not([aria-label])'), {
      timeout: patience,
      polling: 100
    }) // cells are named 300 ms after they were drawn
    await page.evaluate(`${axe}; 0`)
    const found = await page.evaluate(() =>
      /** @type {any} */ (axe)
        .run()
        .then((/** @type {any} */ { violations }) =>
          violations.map(
            (/** @type {any} */ { id, nodes }) =>
              `${id}: ${nodes[0].html.slice(0, 200)} ${nodes[0].failureSummary}`
          )
        )
    )
    assert.deepEqual(found, [], `${theme}, ${width}`)
  }
  await page.click('#theme')
}

const paths = {
  explorer: {
    path: '',
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async mouse(page, until) {
      assert.match(
        await text(page, '#caption'),
        /most to patch \(10, 1\): 19\.4 % = 38\.3 × uniform/
      )
      await (await nth(page, '#patches [role=gridcell]', 14 * 10 + 1)).click()
      await until(() => location.hash === '#q=10.1')
      await page.click('#cls')
      await until(
        () => document.getElementById('stage-title').textContent === 'Layer 3, head 0: from CLS'
      )
      await page.click('[popovertarget=model]')
      await until(() => document.getElementById('size')) // the menu is made when it opens
      await page.click('#size')
      await until(() =>
        /197 tokens/.test(document.querySelector('dialog .hint')?.textContent ?? '')
      )
      await page.$eval('dialog [name=width]', (field) => {
        Object.assign(field, { value: '448' })
        field.dispatchEvent(new Event('input'))
      })
      await page.click('dialog [name=take]')
      await until(() => /393 tokens/.test(document.getElementById('model-facts').textContent))
      await until(() => document.querySelectorAll('#patches button').length === 392)
      await page.click('#tab-statistics') // fetched now: a service worker that does not answer would keep it away
      await until(() => document.querySelector('#view table'))
    },
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async keys(page, until) {
      await tabTo(page, '#patches *')
      await press(page, 'ArrowUp', ']', '.', 'c')
      await until(
        () => document.getElementById('stage-title').textContent === 'Layer 4, head 1: from CLS'
      )
      await press(page, '3')
      await until(() => document.getElementById('stage-title').textContent.startsWith('Rollout'))
      await tabTo(page, '#tabs [aria-selected=true]')
      await press(page, 'ArrowLeft', 'Enter')
      await until(() => document.querySelector('#tab-matrix[aria-selected=true]'))
    }
  },
  learn: {
    path: 'learn.html',
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async mouse(page, until) {
      await until(() => document.getElementById('agreement').dataset.passed === 'true')
      await page.select('#norm', 'sparsemax')
      await page.hover('#output td button')
      await until(() => document.querySelector('#output-formula math'))
      await page.click('#run-real')
      await until(() => document.getElementById('real').dataset.shown === '3.0')
      assert.match(await text(page, '#real-rows'), /patch \(10, 1\)/)
    },
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async keys(page, until) {
      await tabTo(page, '.chapter summary')
      for (let step = 2; step <= 10; step++) {
        await press(page, 'ArrowDown')
        await until(
          (step) => document.querySelector(`#story[data-shown="${step}"] .chapter:focus.current`),
          step
        )
      }
      await press(page, 'ArrowUp') // the last step leads to the explorer
      await until(() => document.querySelector('#story[data-shown="9"] .chapter:focus.current'))
      await tabTo(page, '.chapter.current summary')
      await press(page, 'Enter')
      await until(() => document.querySelector('.chapter.current details[open] [data-look]'))
      await press(page, 'Tab', 'Enter') // the workbench
      await until(() => document.activeElement?.id === 'real-title')
      await page.evaluate(() => document.getElementById('given')?.focus())
      await tabTo(page, '#query input')
      await press(page, 'ArrowUp')
      await until(() => document.querySelector('#weights td button').textContent !== '0.331')
      await tabTo(page, '#norm', 100)
      await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown')
      await until(() => /no entmax/.test(document.getElementById('agreement').textContent))
      await tabTo(page, '#weights td button')
      await until(() => document.querySelector('#weights-formula math'))
      await tabTo(page, '#run-sort', 250)
      await press(page, 'Enter')
      await until(() => document.getElementById('sorting').dataset.shown === 'ABCNOR 1.0')
      await tabTo(page, '#run-real')
      await press(page, 'Enter')
      await until(() => document.getElementById('real').dataset.shown === '3.0')
    }
  },
  masks: {
    path: 'masks.html',
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async mouse(page, until) {
      await until(() => document.getElementById('agreement').dataset.passed === 'true')
      await page.click('#factors [data-name=painted] td button')
      await until(() => document.querySelector('#joined td span').textContent === '0')
      await page.select('#form', 'large')
      await until(() => document.querySelector('#bias td span').textContent === '−1e9')
      /* The first row has no key left, where the page shows what other libraries do. */
      await until(() => document.getElementById('agreement').dataset.passed === '')
    },
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async keys(page, until) {
      await tabTo(page, '#window')
      await press(page, ' ')
      await until(() => document.querySelector('#factors [data-name=window] table'))
      await tabTo(page, '#real-query button')
      await press(page, 'Enter')
      await until(
        () =>
          document.querySelector('#factors [data-name=query]:not([hidden]) td span')
            ?.textContent === '0'
      )
    }
  },
  bench: {
    path: 'bench.html',
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async mouse(page, until) {
      assert.match(await text(page, '#offline'), /^These pages are kept in this browser/)
      await page.$eval('#runs', (input) => {
        Object.assign(input, { value: 3 })
      })
      await page.click('#start')
      await until(() => document.documentElement.dataset.measured === 'true')
      await page.click('#keep')
      await until(() =>
        /^this browser/.test(document.querySelector('#baseline option:last-child').textContent)
      )
    },
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async keys(page, until) {
      await tabTo(page, '#runs')
      await press(page, 'Delete', 'Delete', 'Backspace', 'Backspace', '3')
      await until(() => /** @type {HTMLInputElement} */ (document.activeElement).value === '3')
      await page.keyboard.down('Shift')
      await press(page, 'Tab') // the button is before the number
      await page.keyboard.up('Shift')
      await until(() => document.activeElement?.id === 'start')
      await press(page, 'Enter')
      await until(() => document.documentElement.dataset.measured === 'true')
      assert.equal((await page.$$('#op-times tr')).length, 6)
      assert.ok((await page.$$('#times tr')).length >= 2)
    }
  },
  embed: {
    path: 'embed.html',
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async mouse(page, until) {
      await until(() => /38\.3 × uniform/.test(document.getElementById('said').textContent))
      await page.select('#head', 'mean')
      await until(() =>
        /^Layer 3, mean of the heads/.test(document.getElementById('said').textContent)
      )
    },
    /**
     * @param {Page} page
     * @param {Until} until
     */
    async keys(page, until) {
      await tabTo(page, '#layer')
      await press(page, 'ArrowUp', 'Tab')
      await until(() => /^Layer 4, head 0/.test(document.getElementById('said').textContent))
    }
  }
}

for (const [name, { path, mouse, keys }] of Object.entries(paths)) {
  /* Bench by keyboard measures as long. */
  if (name !== 'bench' || process.env.HEED_SOAK)
    test(`${name} by mouse; wide and narrow, light and dark`, inFirefox, () =>
      visit(path, async (page, until) => {
        await mouse(page, until)
        await looks(page)
      })
    )
  test(`${name} by keyboard alone`, inFirefox, () => visit(path, keys))
}

test('explorer: the tour by keyboard alone, to its end and left on the way', inFirefox, () =>
  visit('', async (page, until) => {
    const titled = (/** @type {string} */ title) =>
        until((title) => document.getElementById('tour-title')?.textContent === title, title),
      ended = () =>
        until(
          () =>
            !document.getElementById('tour').checkVisibility() &&
            !/tour|x=/.test(location.hash) &&
            document.activeElement?.closest('#patches')
        )
    await tabTo(page, '#tour-start')
    await press(page, 'Enter')
    await titled('Drag the star.')
    await tabTo(page, '#tour-next')
    for (const title of ['Another head.', 'Another layer.', 'Take a head out.']) {
      await press(page, 'Enter')
      await titled(title)
    }
    await until(() => /^cross/.test(document.getElementById('answer').textContent))
    await press(page, 'Enter') // Done
    await ended()
    await until(() => /^star/.test(document.getElementById('answer').textContent))
    await press(page, '?')
    await until(() => document.getElementById('keys')?.matches('[open]'))
    await tabTo(page, '#tour-again')
    await press(page, 'Enter')
    await titled('Drag the star.')
    await until(() => document.activeElement?.id === 'tour-title')
    await press(page, 'Escape')
    await ended()
  })
)

for (const isolated of [true, false])
  test(
    `pages are kept, ${isolated ? 'also beside threads that wait for work' : 'also without isolation headers'}: views come, and offline the explorer runs and another page opens`,
    inFirefox,
    async () => {
      const own = await serve(site, { isolated }),
        page = await firefox.newPage(),
        until = (/** @type {any} */ condition) =>
          page.waitForFunction(condition, { timeout: patience, polling: 100 })
      const ready = () => until(() => document.documentElement.dataset.ready === 'true')
      let open = true
      try {
        await page.goto(`${own.address}#v=heads`)
        await ready()
        await until(async () => (await navigator.serviceWorker.ready).active?.state === 'activated')
        await page.click('#tab-statistics')
        await until(() => document.querySelector('#view table'))
        own.close()
        open = false
        for (const path of ['', 'masks.html']) {
          await page.goto(own.address + path)
          await ready()
          assert.equal(await page.evaluate(() => crossOriginIsolated), isolated)
          if (path === '') assert.match(await text(page, '#caption'), /38\.3 × uniform/)
        }
      } finally {
        if (open) own.close()
        await page.close()
      }
    }
  )

test('explorer: a figure for print is drawn, and its PNG has its width and source', inFirefox, () =>
  visit('', async (page, until) => {
    await page.evaluate(() => {
      const make = URL.createObjectURL
      URL.createObjectURL = (blob) => {
        if (/** @type {Blob} */ (blob).type === 'image/png')
          /** @type {any} */ (window).lastPng = blob
        return make(blob)
      }
      document.getElementById('save').showPopover()
    })
    await until(() => document.getElementById('save-figure') !== null)
    await page.$eval('#save-figure', (button) => /** @type {HTMLElement} */ (button).click())
    await until(
      () =>
        /** @type {HTMLImageElement | null} */ (document.querySelector('#figure img'))?.naturalWidth
    )
    await page.click('#figure [name=png]')
    await until(() => /** @type {any} */ (window).lastPng)
    const found = await page.evaluate(async () => {
      const png = /** @type {Blob} */ (/** @type {any} */ (window).lastPng),
        picture = await createImageBitmap(png),
        canvas = new OffscreenCanvas(picture.width, picture.height),
        context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'))
      context.drawImage(picture, 0, 0)
      const { data } = context.getImageData(60, 120, 400, 400) // of the first panel's picture
      return {
        width: picture.width,
        colours: new Set(new Uint32Array(data.buffer)).size,
        says: (await png.text()).includes('Scene 159: Layer 3, head 0')
      }
    })
    assert.equal(found.width, 1004)
    assert.ok(found.colours > 100, String(found.colours))
    assert.ok(found.says)
  })
)

test(
  'where a server isolates nothing a service worker does, when asked for threads',
  inFirefox,
  async () => {
    const own = await serve(site, { isolated: false }),
      page = await firefox.newPage(),
      until = (/** @type {() => boolean} */ condition) =>
        page.waitForFunction(condition, { timeout: patience, polling: 100 })
    try {
      await page.goto(`${own.address}bench.html`)
      await until(() => document.documentElement.dataset.ready === 'true')
      await Promise.all([page.waitForNavigation(), page.click('#threads')])
      await until(() => document.documentElement.dataset.ready === 'true' && crossOriginIsolated)
      await page.goto(own.address)
      await until(() => document.documentElement.dataset.ready === 'true' && crossOriginIsolated)
      assert.match(
        await page.$eval('#machine', (machine) => machine.getAttribute('data-why') ?? ''),
        threadsSaid
      )
    } finally {
      own.close()
      await page.close()
    }
  }
)
