/* Models whose patches lie in several grids, in the explorer: stages of a hierarchy, time steps of a
 * video. Rows are compared with the library's. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser, takePicture } from '../browser.js'
import { createRuntime, vectors } from '../package.js'
import { writePng } from '../png.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */
/** @import {Runtime} from 'heed' */

/** @type {TestBrowser} */
let browser
/** @type {Runtime} */
let runtime
/** @type {string} */
let scratch

before(async () => {
  browser = await startBrowser()
  runtime = await createRuntime({ threads: 1 })
  scratch = mkdtempSync(join(tmpdir(), 'heed-parts-'))
})
after(() => {
  runtime.close()
  rmSync(scratch, { recursive: true })
  return browser.close()
})

/** @param {string} model */
const filesOf = (model) =>
  readdirSync(join(vectors, 'vit', model))
    .filter((name) => /^(.*config\.json|model\.safetensors)$/.test(name))
    .map((name) => join(vectors, 'vit', model, name))

/**
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

/** @param {TestPage} page */
async function numbersOf(page) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-json')])
  return JSON.parse(await readFile(await download.path(), 'utf8'))
}

/**
 * @param {string} what
 * @param {number[]} found
 * @param {ArrayLike<number>} expected
 */
function near(what, found, expected) {
  assert.equal(found.length, expected.length, what)
  found.forEach((value, i) =>
    assert.ok(Math.abs(value - expected[i]) <= 1e-5, `${what}, ${i}: ${value}, ${expected[i]}`)
  )
}

test('the stages of Swin, one at a time', async () => {
  const page = await browser.open('#s=159')
  assert.equal(await page.isVisible('#parts'), false)
  await page.setInputFiles('#model-files', filesOf('swin'))
  await page.waitForSelector('#stage-shown')
  const model = await runtime.loadModel(join(vectors, 'vit/swin')),
    session = model.createSession({ taps: 'all' }),
    { image } = await runtime.scene(159),
    { places } = await session.ready
  await session.run(image)
  const last = places.length - 1
  assert.ok(places[0].rows > places[last].rows)
  for (const [option, first] of /** @type {[number, number][]} */ ([
    [1, places.findIndex(({ patch }) => patch === places[last].patch)],
    [0, 0]
  ])) {
    const { rows, columns, heads } = places[first]
    await page.selectOption('#stage-shown', String(option))
    await page.waitForFunction(
      (count) => document.querySelectorAll('#patches button').length === count,
      rows * columns
    )
    const { results, provenance } = await numbersOf(page),
      [{ grid, query_token: query, heads: rowsOf }] = results
    assert.deepEqual(grid, [rows, columns])
    assert.deepEqual([provenance.stage, provenance.first_layer], [option + 1, first])
    assert.equal(rowsOf.length % heads, 0)
    for (const { layer, head, row, entropy_patches: entropy } of rowsOf) {
      near(
        `layer ${first + layer}, head ${head}`,
        row,
        await session.attention({ layer: first + layer, head, query })
      )
      assert.ok(entropy > 0)
    }
  }
  await says(page, '#model-facts', /^2 layers/)
  await page.waitForFunction(() => location.hash.includes('stage=0'))
  await page.click('#tab-matrix')
  await says(page, '#matrix-said', /\d/)
  await page.click('#tab-rollout')
  await says(page, '#stage-title', /[Rr]ollout/)
  await page.click('#tab-tokens')
  await page.click('#tab-heads')
  await takePicture(page, 'explorer-stages')
  await page.click('#demo-model')
  await page.waitForSelector('#parts', { state: 'hidden' })
  await finish(page)
  model.close()
})

test('the time steps of a video, side by side', async () => {
  const page = await browser.open('#s=159')
  await page.setInputFiles('#model-files', filesOf('videomae'))
  await page.waitForSelector('#time-shown')
  const model = await runtime.loadModel(join(vectors, 'vit/videomae')),
    session = model.createSession({ taps: 'all' }),
    { frames, rows, columns, prefixTokens } = await session.ready,
    pictures = await Promise.all(
      Array.from({ length: model.info.frames }, async (_, i) => (await runtime.scene(i + 5)).image)
    ),
    across = Math.ceil(Math.sqrt(frames))
  assert.equal(frames % across, 0)
  await session.run(pictures)
  const paths = pictures.map(({ data, width, height }, i) => {
    const path = join(scratch, `frame${i + 9}.png`) // 10 comes after 9
    writeFileSync(path, writePng(data, width, height))
    return path
  })
  await page.setInputFiles('#picture-file', [...paths].reverse())
  await says(page, '#status', new RegExp(`^${model.info.frames} frames: `))
  await page.waitForFunction(
    (count) => document.querySelectorAll('#patches button').length === count,
    frames * rows * columns
  )
  await page.selectOption('#time-shown', '0')
  const early = await numbersOf(page)
  await page.click('#parts [name=later]')
  const late = await numbersOf(page)
  for (const [time, { results, provenance }] of [early, late].entries()) {
    const [{ grid, query_token: query, heads, logits }] = results
    assert.deepEqual(grid, [(rows * frames) / across, columns * across])
    assert.equal(provenance.time_steps_across, across)
    const place = query - prefixTokens,
      down = Math.floor(place / (columns * across)),
      right = place % (columns * across)
    assert.equal(Math.floor(down / rows) * across + Math.floor(right / columns), time)
    assert.ok(logits.length > 0)
    for (const { layer, head, row } of heads) {
      const own = await session.attention({
          ...{ layer, head },
          query: [time, down % rows, right % columns]
        }),
        arranged = []
      for (let y = 0; y < grid[0]; y++)
        for (let x = 0; x < grid[1]; x++)
          arranged.push(
            own[
              prefixTokens +
                ((Math.floor(y / rows) * across + Math.floor(x / columns)) * rows + (y % rows)) *
                  columns +
                (x % columns)
            ]
          )
      near(`time ${time}, layer ${layer}, head ${head}`, row.slice(prefixTokens), arranged)
    }
  }
  await page.click('#tab-rollout')
  await says(page, '#stage-title', /[Rr]ollout/)
  await page.click('#tab-heads')
  await takePicture(page, 'explorer-video')
  await finish(page)
  model.close()
})
