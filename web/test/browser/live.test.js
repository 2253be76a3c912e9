/* The explorer while things move: what stands side by side is of one row at every moment; what ends
 * after its view was left changes nothing. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { bigModel } from '../big_model.js'
import { finish, startBrowser } from '../browser.js'
import { loadPage } from '../package.js'
/** @import {Box, TestBrowser, TestPage} from '../browser.js' */

/** @type {typeof import('../../pages/shared/array_files.js')} */
const { npyParts } = await loadPage('shared/array_files.js')

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

/**
 * Keeps, from now on and at every frame, what the table and the histogram say of the row's largest
 * share.
 * @param {TestPage} page
 */
const watch = (page) =>
  page.evaluate(() => {
    window.frames_ = []
    const look = () => {
      const drawing = document.querySelector('#scores svg'),
        curve = drawing?.checkVisibility()
          ? /** @type {RegExpExecArray} */ (/up to (.*?%)/.exec(drawing.textContent))[1]
          : null
      window.frames_.push([
        document.querySelector('#most tr td:nth-child(2)').textContent,
        curve,
        drawing?.innerHTML
      ])
      requestAnimationFrame(look)
    }
    look()
  })
/** @param {TestPage} page */
const watched = (page) => page.evaluate(() => window.frames_)
/** @param {TestPage} page */
const row = (page) =>
  page.evaluate(() => [
    document.getElementById('most').textContent,
    document.getElementById('scores').innerHTML
  ])

/**
 * Frames whose histogram is of another row than the table, and how many rows the histogram was
 * of.
 * @param {[table: string, curve: string | null, drawing: string][]} frames
 */
function compared(frames) {
  const shown = frames.filter(([, curve]) => curve !== null)
  return {
    unlike: shown.filter(([table, curve]) => table !== curve),
    rows: new Set(shown.map(([, , drawing]) => drawing)).size
  }
}

for (const [what, query] of [
  ['away from the query', '#v=scene&q=7.7'],
  ['with the query on it', '#v=scene'],
  ['with the mean of the heads', '#v=scene&h=mean']
])
  test(`while a shape is dragged, table and histogram are of one row, and of the run that follows: ${what}`, async () => {
    const page = await browser.open(query),
      box = /** @type {Box} */ (await page.locator('#patches').boundingBox()),
      at = /** @returns {[x: number, y: number]} */ (
        /** @type {number} */ x,
        /** @type {number} */ y
      ) => [box.x + (box.width * x) / 224, box.y + (box.height * y) / 224]
    await page.mouse.move(...at(173, 46))
    await watch(page)
    await page.mouse.down()
    const across = Number(await page.inputValue('#view [name=x]')) // of the shape, as it was run last
    for (let step = 1; step <= 40; step++) {
      await page.mouse.move(...at(173 - 2 * step, 46 + step))
      await page.waitForTimeout(20)
    }
    await page.waitForFunction((x) => {
      const field = /** @type {HTMLInputElement} */ (document.querySelector('#view [name=x]'))
      return Math.abs(Number(field.value) - x) < 1.5
    }, across - 80) // the last of the moves has run
    // Numbers of moves come within 200 ms: a longer timer of the same page ends after theirs.
    await page.evaluate(() => new Promise((done) => setTimeout(done, 250)))
    const { unlike, rows } = compared(await watched(page)),
      moving = await row(page)
    assert.deepEqual(
      unlike.slice(0, 3).map(([table, curve]) => [table, curve]),
      [],
      `${unlike.length} frames`
    )
    assert.ok(query.includes('mean') || rows > 3, `the histogram was of ${rows} rows`)
    const before = await page.textContent('#facts')
    assert.match(/** @type {string} */ (before), /…|%/)
    await page.mouse.up() // the same scene is run with all its numbers
    await page.waitForFunction(() => !document.getElementById('facts').textContent.includes('…'))
    assert.deepEqual(await row(page), moving)
    await finish(page)
  })

test('while a shape is dragged, numbers are 200 ms apart and no arcs are drawn; both are there once it rests', async () => {
  const page = await browser.open('#v=scene&q=7.7'),
    box = /** @type {Box} */ (await page.locator('#patches').boundingBox()),
    at = /** @returns {[x: number, y: number]} */ (
      /** @type {number} */ x,
      /** @type {number} */ y
    ) => [box.x + (box.width * x) / 224, box.y + (box.height * y) / 224],
    count = () =>
      /** @type {Promise<{maps: number, arcs: number, shown: number[]}>} */ (
        page.evaluate(() => window.moves_)
      )
  await page.mouse.move(...at(173, 46))
  await page.waitForSelector('#arcs', { state: 'attached' })
  await page.mouse.down()
  await page.evaluate(() => {
    window.moves_ = { maps: 0, arcs: 0, shown: [] }
    const observe = (
      /** @type {string} */ id,
      /** @type {MutationObserverInit} */ what,
      /** @type {() => unknown} */ then
    ) => new MutationObserver(then).observe(document.getElementById(id), what)
    observe('map', { attributes: true }, () => window.moves_.maps++)
    observe('arcs', { childList: true }, () => {
      const { maps } = window.moves_ // those of before the press end with the first map
      if (maps) window.moves_.arcs += document.getElementById('arcs').childElementCount
    })
    // When the page began to show them, by the clock that it asked: what showing them takes differs.
    const now = performance.now.bind(performance)
    let asked = 0
    performance.now = () => (asked = now())
    observe('most', { characterData: true, subtree: true }, () => window.moves_.shown.push(asked))
  })
  // To and fro until numbers were shown a few times: how long that takes is the machine's.
  for (let step = 1; step <= 40 || (step < 1000 && (await count()).shown.length < 4); step++) {
    const along = Math.abs(((step + 40) % 80) - 40)
    await page.mouse.move(...at(173 - 2 * along, 46 + along))
    await page.waitForTimeout(20)
  }
  const { maps, arcs, shown } = await count()
  const gaps = shown.slice(1).map((time, i) => time - shown[i])
  assert.ok(shown.length > 2 && shown.length <= maps, `${shown.length} of ${maps}`)
  assert.ok(Math.min(...gaps) >= 199, String(gaps))
  assert.equal(arcs, 0)
  await page.mouse.move(...at(140, 80)) // a slow machine has shown the numbers of the place before
  await page.mouse.up()
  await page.waitForFunction(() => window.moves_.arcs > 0)
  await page.waitForFunction((before) => window.moves_.shown.length > before, shown.length)
  await finish(page)
})

test('while pictures run under a moving pointer, table and histogram are of one row', async () => {
  const page = await browser.open(),
    box = /** @type {Box} */ (await page.locator('#patches').boundingBox())
  await watch(page)
  for (let step = 0; step < 60; step++) {
    if (step % 6 === 0)
      await page.evaluate(
        (n) => document.querySelectorAll('#samples button')[n % 4].click(),
        step / 6
      )
    await page.mouse.move(
      box.x + (box.width * ((step % 14) + 0.5)) / 14,
      box.y + (box.height * (Math.floor(step / 5) + 0.5)) / 14
    )
    await page.waitForTimeout(15)
  }
  await page.waitForTimeout(400)
  const { unlike, rows } = compared(await watched(page))
  assert.deepEqual(
    unlike.slice(0, 3).map(([table, curve]) => [table, curve]),
    [],
    `${unlike.length} frames`
  )
  assert.ok(rows > 10, `the histogram was of ${rows} rows`)
  await finish(page)
})

/**
 * A page whose worker is answered `window.late` milliseconds late, so that whatever asked has been
 * left by then; `window.workers` counts those that were started and not ended.
 * @param {string} hash
 */
async function openLate(hash, also = () => {}) {
  const page = await browser.open(hash, { ready: false })
  await page.addInitScript(() => {
    const { set } = /** @type {any} */ (
        Object.getOwnPropertyDescriptor(Worker.prototype, 'onmessage')
      ),
      { terminate } = Worker.prototype
    Object.defineProperty(Worker.prototype, 'onmessage', {
      set(handler) {
        set.call(this, (/** @type {any} */ event) =>
          window.late ? setTimeout(handler, window.late, event) : handler(event)
        )
      }
    })
    const alive = new Set()
    Object.defineProperty(window, 'workers', { get: () => alive.size })
    Worker.prototype.terminate = function () {
      alive.delete(this)
      terminate.call(this)
    }
    window.Worker = new Proxy(Worker, {
      construct(of, given) {
        const worker = new of(.../** @type {[string]} */ (given))
        alive.add(worker)
        return worker
      }
    })
  })
  await page.addInitScript(also)
  await page.reload()
  await page.waitForSelector('html[data-ready]', { timeout: 60000 })
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // requests that the reload ended
  return page
}

/**
 * Goes to a view, begins what takes long in it, and leaves it before the worker has answered:
 * nothing may come of it.
 * @param {TestPage} page
 * @param {string} view
 */
async function leave(page, view, /** @type {any} */ begin = undefined) {
  /** @param {string} view */
  const go = (view) => page.evaluate((view) => document.getElementById(`tab-${view}`).click(), view)
  /** @param {string} view */
  const isThere = (view) =>
    page.waitForFunction(
      (view) =>
        document.getElementById('view').getAttribute('aria-labelledby') === `tab-${view}` &&
        document.querySelector(
          view === 'statistics' ? '#view tbody tr' : '#view button, #view canvas'
        ),
      view
    )
  /** @param {number} milliseconds */
  const late = (milliseconds) =>
    page.evaluate((milliseconds) => {
      window.late = milliseconds
    }, milliseconds)
  await late(begin ? 0 : 150)
  await go(view)
  await isThere(view)
  await late(150)
  await begin?.()
  await go('statistics')
  await isThere('statistics')
  await page.waitForTimeout(1000)
  assert.equal(
    await page.isVisible('#error'),
    false,
    `${view}: ${await page.textContent('#error-text')}`
  )
}

const begins = {
  tokens: undefined,
  /** @param {TestPage} page */
  compare: (page) => page.selectOption('#view [name=other]', 'int4'),
  /** @param {TestPage} page */
  intervene: (page) => page.click('#view [name=sweep]')
}
for (const [view, begin] of Object.entries(begins))
  test(`${view} is left while its numbers are on their way: nothing of it is shown or kept`, async () => {
    const page = await openLate('#v=statistics'),
      workers = await page.evaluate(() => window.workers),
      answer = await page.textContent('#answer')
    await leave(page, view, begin && (() => begin(page)))
    await page.evaluate(() => {
      window.late = 0
    })
    await page.waitForTimeout(2500) // of a sweep the run that is under way, and one that brings the numbers back
    await page.waitForFunction(
      ({ workers, answer }) =>
        window.workers === workers &&
        document.getElementById('answer').textContent === answer &&
        /^Scene 159: /.test(document.getElementById('status').textContent),
      { workers, answer }
    ) // on a slow machine later; a second model is let go
    assert.equal(
      await page.isVisible('#error'),
      false,
      /** @type {any} */ (await page.textContent('#error-text'))
    )
    await finish(page)
  })

test('so too where maps are computed on demand: heads and matrix', async () => {
  const page = await openLate('#v=statistics')
  await page.setInputFiles('#model-files', await bigModel())
  await page.waitForSelector('#demo-model:not([hidden])', { timeout: 120000 })
  await page.waitForSelector('#view tbody tr:nth-child(24)', { timeout: 120000 })
  for (const view of ['heads', 'matrix']) await leave(page, view)
  assert.equal(await page.locator('#marks .ring').count(), 0)
  await page.mouse.move(5, 5)
  const box = /** @type {Box} */ (await page.locator('#view').boundingBox())
  await leave(page, 'matrix', () => page.mouse.move(box.x + 100, box.y + 300, { steps: 3 }))
  assert.match(/** @type {string} */ (await page.textContent('#stage-title')), /from CLS/) // the query, not what the pointer was on
  await finish(page)
})

test('cells are named as they were drawn, also where another model came before their names', async () => {
  const page = await openLate('#v=heads', () => {
    const { setTimeout } = window,
      held = /** @type {any[]} */ ([])
    window.setTimeout = /** @type {any} */ (
      (/** @type {any} */ act, /** @type {any} */ after, /** @type {any[]} */ ...given) =>
        window.hold && after === 300 ? held.push(act) : setTimeout(act, after, ...given)
    ) // names come after 300 ms
    window.nameWith = () =>
      new MutationObserver(() => held.forEach((act) => act())).observe(
        document.getElementById('model-facts'),
        { childList: true }
      ) // once the model has come, before it has run
  })
  await page.setInputFiles('#model-files', {
    name: 'own.npy',
    mimeType: '',
    buffer: Buffer.from(
      await new Blob(npyParts([3, 1, 5, 5], [new Float32Array(75).fill(0.2)])).arrayBuffer()
    )
  })
  await page.waitForFunction(() => document.querySelectorAll('#view [role=gridcell]').length === 3)
  await page.evaluate(() => {
    window.hold = true
    window.late = 200
    window.nameWith()
  })
  await page.click('#view [role=gridcell] >> nth=1')
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.includes('Layer 1')
  )
  await page.click('#demo-model') // of more heads
  await page.waitForFunction(() => document.querySelectorAll('#view [role=gridcell]').length === 20)
  await finish(page)
})
