/* The explorer while things move: what stands side by side is of one row at every moment; what ends after its view was left changes nothing. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from './browser.js'

let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

/* Keeps, from now on and at every frame, what the table and the histogram say of the row's largest share. */
const watch = (page) => page.evaluate(() => {
  window.frames_ = []
  const look = () => {
    const drawing = document.querySelector('#scores svg'), curve = drawing?.checkVisibility() ? /up to (.*?%)/.exec(drawing.textContent)[1] : null
    window.frames_.push([document.querySelector('#most tr td:nth-child(2)').textContent, curve, drawing?.innerHTML])
    requestAnimationFrame(look)
  }
  look()
})
const watched = (page) => page.evaluate(() => window.frames_)
const row = (page) => page.evaluate(() => [document.getElementById('most').textContent, document.getElementById('scores').innerHTML])

/* Frames whose histogram is of another row than the table, and how many rows the histogram was of. */
function compared(frames) {
  const shown = frames.filter(([, curve]) => curve !== null)
  return { unlike: shown.filter(([table, curve]) => table !== curve), rows: new Set(shown.map(([, , drawing]) => drawing)).size }
}

for (const [what, query] of [['away from the query', '#v=scene&q=7.7'], ['with the query on it', '#v=scene'], ['with the mean of the heads', '#v=scene&h=mean']])
  test(`while a shape is dragged, table and histogram are of one row, and of the run that follows: ${what}`, async () => {
    const page = await browser.open(query), box = await page.locator('#patches').boundingBox(), at = (x, y) => [box.x + (box.width * x) / 224, box.y + (box.height * y) / 224]
    await page.mouse.move(...at(173, 46))
    await watch(page)
    await page.mouse.down()
    for (let step = 1; step <= 40; step++) {
      await page.mouse.move(...at(173 - 2 * step, 46 + step))
      await page.waitForTimeout(20)
    }
    await page.waitForTimeout(400) // the last of the moves has run
    const { unlike, rows } = compared(await watched(page)), moving = await row(page)
    assert.deepEqual(unlike.slice(0, 3).map(([table, curve]) => [table, curve]), [], `${unlike.length} frames`)
    assert.ok(query.includes('mean') || rows > 3, `the histogram was of ${rows} rows`)
    const before = await page.textContent('#facts')
    assert.match(before, /…|%/)
    await page.mouse.up() // the same scene is run with all its numbers
    await page.waitForFunction(() => !document.getElementById('facts').textContent.includes('…'))
    assert.deepEqual(await row(page), moving)
    await finish(page)
  })

test('while pictures run under a moving pointer, table and histogram are of one row', async () => {
  const page = await browser.open(), box = await page.locator('#patches').boundingBox()
  await watch(page)
  for (let step = 0; step < 60; step++) {
    if (step % 6 === 0) await page.evaluate((n) => document.querySelectorAll('#samples button')[n % 4].click(), step / 6)
    await page.mouse.move(box.x + (box.width * (step % 14 + 0.5)) / 14, box.y + (box.height * (Math.floor(step / 5) + 0.5)) / 14)
    await page.waitForTimeout(15)
  }
  await page.waitForTimeout(400)
  const { unlike, rows } = compared(await watched(page))
  assert.deepEqual(unlike.slice(0, 3).map(([table, curve]) => [table, curve]), [], `${unlike.length} frames`)
  assert.ok(rows > 10, `the histogram was of ${rows} rows`)
  await finish(page)
})
