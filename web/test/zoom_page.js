/* What the tests of the zoom share: its texts as numbers, its stops, places of its picture. */
import assert from 'node:assert/strict'
import { loadPage, sceneColours, sceneShapes } from './package.js'
/** @import {Box, TestPage} from './browser.js' */

/** @type {typeof import('../pages/explorer/zoom/stops.js')} */
const { stopNames } = await loadPage('explorer/zoom/stops.js'),
  { sceneOfCode } = await loadPage('explorer/state/scene_code.js')

export { stopNames }

/** @param {number} found @param {number} wanted @param {number} by @param {string} what */
export const near = (found, wanted, by, what) =>
  assert.ok(Math.abs(found - wanted) <= by, `${what}: ${found}, expected ${wanted}`)

/** @param {string} text */
export const numberIn = (text) => Number(text.replace('−', '-').replace(/[^\d.e-]/g, ''))

/**
 * The texts of a part of the drawing.
 * @param {TestPage} page
 * @param {string} part
 */
export const texts = (page, part) =>
  page.$$eval(`#zoom-root ${part}`, (found) => found.map((one) => one.textContent))

/**
 * A list of the page is one of Node, to its two digits.
 * @param {TestPage} page
 * @param {string} part
 * @param {ArrayLike<number>} wanted
 */
export async function same(page, part, wanted) {
  const found = (await texts(page, part)).map(numberIn)
  assert.equal(found.length, wanted.length, part)
  found.forEach((value, i) => near(value, wanted[i], 5.1e-3, `${part} ${i}`))
}

/** @param {TestPage} page @param {string} stop */
export async function go(page, stop) {
  await page.click(`#zoom-stops [data-stop=${stop}]`)
  await page.waitForSelector(`#zoom-root[data-stop=${stop}]`, { state: 'attached' })
}

/** All heads have been ablated. @param {TestPage} page */
export const measured = (page) =>
  page.waitForFunction(() => document.querySelectorAll('[data-loss]').length === 20, undefined, {
    timeout: 60000
  })

/**
 * Waits until the camera does.
 * @param {TestPage} page
 */
export const rests = (page) =>
  page.evaluate(
    () =>
      new Promise((done) => {
        let last = /** @type {string | null} */ (null)
        const look = () => {
          const now = document.getElementById('zoom-root').getAttribute('transform')
          if (now === last) return done(true)
          last = now
          setTimeout(look, 250)
        }
        look()
      })
  )

/** Where a place of the picture, in its 224 pixels, is in the zoom. @param {TestPage} page */
export async function pictureAt(page, part = '#zoom-picture') {
  const { x, y, width, height } = /** @type {Box} */ (await page.locator(part).boundingBox())
  return (/** @type {number} */ across, /** @type {number} */ down) =>
    /** @type {[number, number]} */ ([x + (width * across) / 224, y + (height * down) / 224])
}

/* The names that codes of scenes count. */
const names = { shapes: sceneShapes, colours: sceneColours }

/** The scene that the page's link has, as the command reads it. @param {TestPage} page */
export async function sceneIn(page) {
  const hash = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)),
    objects = hash.get('objects'),
    [row, column] = (hash.get('q') ?? '2.10').split('.').map(Number)
  return { scene: objects ? sceneOfCode(objects, names) : 159, at: { row, column } }
}
