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
import { writeAnimation, writePng } from '../png.js'
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

test('an animated picture is the same as its frames', async () => {
  const page = await browser.open('#s=159')
  await page.setInputFiles('#model-files', filesOf('videomae'))
  await page.waitForSelector('#time-shown')
  const model = await runtime.loadModel(join(vectors, 'vit/videomae')),
    pictures = await Promise.all(
      Array.from({ length: model.info.frames }, async (_, i) => (await runtime.scene(i + 5)).image)
    ),
    paths = pictures.map((_, i) => join(scratch, `single${i}.png`)),
    animation = join(scratch, 'animation.png')
  pictures.forEach(({ data, width, height }, i) =>
    writeFileSync(paths[i], writePng(data, width, height))
  )
  writeFileSync(animation, writeAnimation(pictures))
  const results = []
  for (const [files, status] of /** @type {[string[], RegExp][]} */ ([
    [paths, /^\d+ frames: /],
    [[animation], /^animation\.png: /]
  ])) {
    await page.setInputFiles('#picture-file', files)
    await says(page, '#status', status)
    results.push((await numbersOf(page)).results[0])
  }
  assert.deepEqual(results[1].logits, results[0].logits)
  assert.deepEqual(results[1].heads, results[0].heads)
  await finish(page)
  model.close()
})

test('a video file: frames from its whole length, also where it names none', async () => {
  const page = await browser.open('#s=159')
  await page.setInputFiles('#model-files', filesOf('videomae'))
  await page.waitForSelector('#time-shown')
  /* Recorded as a camera page would: red, then blue. The file says no duration. */
  const recorded = await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 96, height: 96 }),
      draw = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')),
      recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm' }),
      /** @type {Blob[]} */
      parts = [],
      ended = new Promise((done) => {
        recorder.onstop = done
      })
    recorder.ondataavailable = ({ data }) => parts.push(data)
    recorder.start()
    for (let i = 0; i < 40; i++) {
      draw.fillStyle = i < 20 ? '#f00' : '#00f'
      draw.fillRect(0, 0, 96, 96)
      await new Promise((done) => setTimeout(done, 40))
    }
    recorder.stop()
    await ended
    return Array.from(new Uint8Array(await new Blob(parts).arrayBuffer()))
  })
  const path = join(scratch, 'recorded.webm')
  writeFileSync(path, Buffer.from(recorded))
  await page.setInputFiles('#picture-file', path)
  await says(page, '#status', /^recorded\.webm: /)
  const [first, last] = await page.$eval('#picture', (element) => {
    const { width, height } = /** @type {HTMLCanvasElement} */ (element),
      { data } = /** @type {CanvasRenderingContext2D} */ (
        /** @type {HTMLCanvasElement} */ (element).getContext('2d')
      ).getImageData(0, 0, width, height),
      at = (/** @type {number} */ share) => {
        const pixel = Math.floor(share * height) * width + Math.floor(share * width)
        return Array.from(data.subarray(4 * pixel, 4 * pixel + 3))
      }
    return [at(0.2), at(0.8)]
  })
  assert.ok(first[0] > 150 && first[2] < 100, `red first, found ${first}`)
  assert.ok(last[2] > 150 && last[0] < 100, `blue last, found ${last}`)
  await page.setInputFiles('#picture-file', {
    ...{ name: 'broken.webm', mimeType: 'video/webm' },
    buffer: Buffer.from('no video')
  })
  await says(page, '#error-text', /broken\.webm: this browser cannot play the file/)
  await page.click('#error-close')
  await finish(page)
})
