/* Maps from the native program to the page and back, in every format: registers before the patches,
 * a grid that is no square. What heed run --save wrote is opened by the page; what the page saves
 * of it, heed maps and the page open again; every number stays. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { bigModel } from '../big_model.js'
import { finish, startBrowser, violations } from '../browser.js'
import { nativeReport } from '../native_report.js'
import { native } from '../package.js'
import { writePng } from '../png.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser

before(async () => (browser = await startBrowser()))
after(() => browser.close())

const folder = mkdtempSync(join(tmpdir(), 'heed-round-')),
  run = (/** @type {any[]} */ ...words) =>
    execFileSync(native, words, { cwd: folder, encoding: 'utf8' })

/**
 * @param {TestPage} page
 * @param {string} button
 */
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)])
  return readFileSync(await download.path())
}

/**
 * Grid, tokens, every number of every head, and the rollout.
 * @param {string} where
 */
function same(/** @type {any} */ found, /** @type {any} */ expected, where) {
  for (const name of ['grid', 'prefix_tokens', 'tokens', 'query', 'query_token'])
    assert.deepEqual(found[name], expected[name], `${where}: ${name}`)
  const numbers = (/** @type {any} */ { heads, rollout }) => [
      ...heads.flatMap((/** @type {any} */ head) => Object.values(head).flat()),
      ...rollout
    ],
    a = numbers(found),
    b = numbers(expected)
  assert.equal(a.length, b.length, where)
  b.forEach((number, i) =>
    assert.ok(
      Math.abs(a[i] - number) <= 1e-5 * Math.max(1, Math.abs(number)),
      `${where}, number ${i}: ${a[i]}, expected ${number}`
    )
  )
}

/**
 * @param {TestPage} page
 * @param {string} name
 * @param {NonSharedBuffer} buffer
 */
async function opened(page, name, buffer) {
  await page.setInputFiles('#model-files', { name, mimeType: '', buffer })
  await page.waitForFunction(
    (name) => document.getElementById('model-name').textContent === name,
    name
  )
  await page.waitForFunction(() =>
    /^(picture|pixel_values)/.test(document.getElementById('status').textContent)
  )
  return JSON.parse(await saved(page, '#save-json')).results[0]
}

test('a survey: what heed survey --json wrote opens as dots, maps and a table with its numbers', async () => {
  run('survey', '--scenes', '6', '--backend', 'cpu', '--quiet', '--json', 'survey.json')
  const buffer = readFileSync(join(folder, 'survey.json')),
    survey = JSON.parse(buffer.toString()),
    page = await browser.open('#v=heads', { bypassCSP: true })
  await page.setInputFiles('#model-files', { name: 'survey.json', mimeType: '', buffer })
  await page.waitForSelector('dialog.report')
  const rows = await page.$$eval('dialog.report tbody tr', (lines) =>
    lines.map((line) => Array.from(line.children, (cell) => cell.textContent))
  )
  assert.deepEqual(
    rows.map(([head, habit, share, , prefix]) => [head, habit, share, prefix]),
    survey.heads.map((/** @type {any} */ of) => [
      `${of.layer}.${of.head}`,
      of.habit,
      (100 * of.place_share).toFixed(1),
      (100 * of.prefix_mass.mean).toFixed(1)
    ])
  )
  assert.equal(await page.locator('dialog.report svg circle').count(), survey.heads.length)
  assert.deepEqual(await violations(page, 'dialog'), [])
  const empty = { ...survey, heads: [] }
  await page.keyboard.press('Escape')
  await page.setInputFiles('#model-files', {
    name: 'empty.json',
    mimeType: '',
    buffer: Buffer.from(JSON.stringify(empty))
  })
  await page.waitForSelector('#error:not([hidden])')
  assert.match(
    /** @type {string} */ (await page.textContent('#error-text')),
    /empty\.json: not a survey with mean maps/
  )
  await page.click('#error-close')
  const large = join(folder, 'large.json') // without a block on the disk
  writeFileSync(large, '{"heed_session": 1')
  truncateSync(large, 256e6 + 1)
  await page.setInputFiles('#model-files', large)
  await page.waitForSelector('#error:not([hidden])')
  assert.match(
    /** @type {string} */ (await page.textContent('#error-text')),
    /large\.json: too large \(found 257 MB, expected at most 256 MB\)/
  )
  await finish(page)
})

for (const [name, size, grid] of [
  ['a square with registers', undefined, [4, 4]],
  ['no square, with registers', { shortest_edge: 56 }, [4, 6]]
])
  test(`maps there and back: ${name}`, async () => {
    mkdirSync(join(folder, 'model'), { recursive: true })
    for (const { name, buffer } of await bigModel({
      layers: 2,
      side: 4,
      size: /** @type {any} */ (size)
    }))
      writeFileSync(join(folder, 'model', name), buffer)
    const width = 21,
      height = 14,
      rgba = Uint8Array.from({ length: width * height * 4 }, (_, i) => (i * 37) % 251)
    writeFileSync(join(folder, 'picture.png'), writePng(rgba, width, height))
    const words = ['run', 'model', 'picture.png', '--ablate', '0.1', '--backend', 'cpu', '--quiet']
    run(...words, '--save', 'native.safetensors')
    const expected = nativeReport(folder, '1,2', ...words).results[0],
      page = await browser.open('#q=1.2&l=1&h=0')
    assert.deepEqual([expected.grid, expected.prefix_tokens], [grid, 5])
    same(
      await opened(page, 'native.safetensors', readFileSync(join(folder, 'native.safetensors'))),
      expected,
      'page'
    )
    const tensors = await saved(page, '#save-safetensors'),
      npz = await saved(page, '#save-npz'),
      npy = await saved(page, '#save-npy')
    writeFileSync(join(folder, 'page.safetensors'), tensors)
    const said = run('maps', 'page.safetensors', '--query', '1,2', '--maps', 'back.png')
    assert.match(said, /^changed: --ablate 0\.1$/m)
    const back = nativeReport(folder, '1,2', 'maps', 'page.safetensors')
    same(back.results[0], expected, 'heed maps')
    same(await opened(page, 'page.safetensors', tensors), expected, 'page, safetensors')
    same(await opened(page, 'page.npz', npz), expected, 'page, npz')
    if (
      /** @type {any} */ (grid)[0] ===
      /** @type {string | number[] | {shortest_edge: number}} */ /** @type {any} */ (grid)[1]
    )
      same(
        { ...(await opened(page, 'page.npy', npy)), heads: [], rollout: [] },
        { ...expected, heads: [], rollout: [] },
        'page, npy'
      )
    await finish(page)
  })
