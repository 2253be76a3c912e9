/* What a link carries in Chromium: a changed scene opens again with the same pixels, and a damaged
 * link is blamed for the part that is damaged. Changes of a scene are undone and redone. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from '../browser.js'
/** @import {Box, TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

/**
 * @param {TestPage} page
 * @param {string} selector
 * @param {RegExp} pattern
 */
const until = (page, selector, pattern) =>
  page.waitForFunction(
    ([selector, source]) =>
      new RegExp(source).test(document.querySelector(selector)?.textContent ?? ''),
    [selector, pattern.source]
  )
/** @param {TestPage} page */
const hashOf = (page) => page.evaluate(() => location.hash)
/**
 * @param {TestPage} page
 * @param {RegExp} pattern
 */
const untilHash = (page, pattern) =>
  page.waitForFunction((source) => new RegExp(source).test(location.hash), pattern.source)

/**
 * The picture's pixels as a text.
 * @param {TestPage} page
 */
const pixels = (page) =>
  page.evaluate(() =>
    /** @type {HTMLCanvasElement} */ (document.getElementById('picture')).toDataURL()
  )

/**
 * Drags what lies at a place of the picture, in its pixels.
 * @param {TestPage} page
 * @param {[x: number, y: number]} from
 * @param {[x: number, y: number]} to
 */
async function drag(page, from, to) {
  const box = /** @type {Box} */ (await page.locator('#patches').boundingBox()),
    at = /** @returns {[x: number, y: number]} */ (
      /** @type {[x: number, y: number]} */ [x, y]
    ) => [box.x + (box.width * x) / 224, box.y + (box.height * y) / 224]
  await page.mouse.move(...at(from))
  await page.mouse.down()
  await page.mouse.move(...at(to), { steps: 4 })
  await page.mouse.up()
}
const star = /** @type {[x: number, y: number]} */ ([170, 60]) // the violet star of scene 159

test('a changed scene is in the address, and opens again with the same pixels and numbers', async () => {
  const page = await browser.open('#v=scene')
  await drag(page, star, [120.4, 90.7])
  await untilHash(page, /objects=/)
  const options = page.locator('#view [name=object] option'),
    before = await options.count()
  /* The address is written after what it tells of. */
  const written = async (/** @type {() => Promise<unknown>} */ change) => {
    const hash = await hashOf(page)
    await change()
    await page.waitForFunction((hash) => location.hash !== hash, hash)
  }
  await written(() => page.selectOption('#view [name=colour]', 'yellow'))
  await written(() => page.click('#view [name=add]'))
  await options.nth(before).waitFor({ state: 'attached' })
  const hash = await hashOf(page),
    [, code] = /** @type {RegExpExecArray} */ (/objects=([^&]+)/.exec(hash))
  assert.ok(code.length + 8 <= 120 && !/\bs=/.test(hash), hash)
  const other = await browser.open(hash)
  await until(other, '#status', /^Your scene/)
  assert.equal(await pixels(other), await pixels(page))
  assert.equal(await other.textContent('#stage-title'), await page.textContent('#stage-title'))
  assert.equal(await hashOf(other), hash)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.click('#link')
  await until(page, '#status', /^Link copied\.$/)
  await page.reload()
  await page.waitForSelector('html[data-ready]')
  assert.equal(await pixels(page), await pixels(other))
  await finish(other, 'share-scene')
  await finish(page)
})

test('a damaged scene in a link: the sentence blames that part, and all else opens', async () => {
  const page = await browser.open('#v=scene')
  await drag(page, star, [120, 90])
  await untilHash(page, /objects=/)
  const hash = await hashOf(page)
  await finish(page)
  for (const [damaged, said] of /** @type {[string, RegExp][]} */ ([
    [
      hash.replace(/(objects=.{8})(.)/, (_, before, sign) => before + (sign === 'A' ? 'B' : 'A')),
      /a sign of it was changed/
    ],
    [hash.replace(/(objects=.{20}).*?(?=&|$)/, '$1'), /part of it may be missing/]
  ])) {
    const other = await browser.open(`${damaged}&h=2`)
    await until(
      other,
      '#error-text',
      /^The changed scene in this link cannot be read: its part “objects=” \(found .*expected .*Scene 159 is shown in its place/
    )
    await until(other, '#error-text', said)
    await untilHash(other, /^#h=2.*v=scene$/)
    await until(other, '#status', /^Scene 159/)
    await finish(other)
  }
})

test('changes of a scene are undone and redone, by buttons and by keys, back to the seed', async () => {
  const page = await browser.open('#v=scene'),
    seen = [await pixels(page)],
    until = (/** @type {string} */ expected) =>
      page.waitForFunction(
        (expected) =>
          /** @type {HTMLCanvasElement} */ (document.getElementById('picture')).toDataURL() ===
          expected,
        expected
      )
  const changed = async () => {
    await page.waitForFunction(
      (before) =>
        /** @type {HTMLCanvasElement} */ (document.getElementById('picture')).toDataURL() !==
          before && !document.body.classList.contains('dim'),
      seen.at(-1)
    )
    seen.push(await pixels(page))
  }
  assert.equal(await page.isDisabled('#view [name=undo]'), true)
  await drag(page, star, star) // a press alone changes nothing
  assert.equal(await page.isDisabled('#view [name=undo]'), true)
  await page.selectOption('#view [name=colour]', 'yellow')
  await changed()
  await page.fill('#view [name=radius]', '40')
  await changed()
  await page.click('#view [name=remove]')
  await changed()
  assert.equal(new Set(seen).size, 4)
  await untilHash(page, /objects=/)
  await page.click('#view [name=undo]')
  await until(seen[2])
  await page.keyboard.press('Control+z')
  await until(seen[1])
  await page.keyboard.press('Control+z')
  await until(seen[0])
  await untilHash(page, /^(?!.*(objects|s)=)/) // the scene of the seed again
  await page.waitForSelector('#view [name=undo]:disabled')
  await page.keyboard.press('Control+Shift+Z')
  await until(seen[1])
  await page.keyboard.press('Control+y')
  await until(seen[2])
  await page.click('#view [name=redo]')
  await until(seen[3])
  await page.waitForSelector('#view [name=redo]:disabled')
  await page.click('#view [name=undo]')
  await until(seen[2])
  await page.selectOption('#view [name=shape]', 'heart') // what was undone is gone
  await page.waitForSelector('#view [name=redo]:disabled')
  await page.click('#samples button:nth-child(2)') // so is all before another picture
  await page.waitForSelector('#view [name=undo]:disabled')
  await finish(page, 'share-undo')
})
