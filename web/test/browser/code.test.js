/* What the page copies as code, run as copied: the command line and the JavaScript give the row on
 * the stage, and the command line's JSON every number of the page's: maps, scores, statistics,
 * class shares, rollout. With the attention changed in every way, and without. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from '../browser.js'
import { native, packageFolder } from '../package.js'
import { writePng } from '../png.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser

before(async () => (browser = await startBrowser()))
after(() => browser.close())

const unlike = new Set(['heed', 'device', 'path', 'milliseconds', 'provenance'])

/**
 * Every number of `expected` is in `found`, within 1e-5 and 1e-5 of its size; scores of a row,
 * sums of products as large as its largest, of that; logits, for the same reason, within 2e-6 of
 * the first.
 * @param {ArrayLike<number>} found
 * @param {ArrayLike<number>} expected
 * @param {string} where
 */
function close(found, expected, where, size = 1, logits = 1) {
  if (typeof expected === 'number')
    assert.ok(
      Math.abs(/** @type {any} */ (found) - expected) <= 1e-5 * Math.max(size, Math.abs(expected)),
      `${where}: ${found}, expected ${expected}`
    )
  else if (typeof expected === 'object' && expected !== null) {
    const first =
      'top' in expected ? Math.max(1, /** @type {any} */ (expected).top[0].logit / 5) : logits
    for (const key of Object.keys(expected)) {
      if (!unlike.has(key))
        close(
          /** @type {any} */ (found)[key],
          /** @type {any} */ (expected)[key],
          `${where}.${key}`,
          key === 'scores'
            ? Math.max(1, .../** @type {any} */ (expected)[key].map(Math.abs))
            : /^logits?$/.test(key)
              ? first
              : size,
          first
        )
    }
  } else assert.equal(found, expected, where)
}

/**
 * @param {TestPage} page
 * @param {string} button
 */
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)])
  return readFileSync(await download.path())
}

/** @param {Buffer} tensors */
const metadataOf = (tensors) =>
  JSON.parse(tensors.subarray(8, 8 + Number(tensors.readBigUInt64LE(0))).toString()).__metadata__

/** @param {TestPage} page */
async function copied(page) {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.click('#code')
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.includes('Code copied')
  )
  return (await page.evaluate(() => navigator.clipboard.readText())).split('\n\n')
}

/**
 * Of the numbers of all heads those that a command writes for its layer, head and query.
 * @param {any} all
 * @param {any} written
 */
function narrowed(all, written) {
  const [result] = all.results,
    [part] = written.results,
    of = (/** @type {any} */ from, /** @type {any} */ like) =>
      Object.fromEntries(Object.keys(like).map((key) => [key, from[key]]))
  assert.ok(part.heads.length > 0)
  return {
    ...all,
    results: [
      {
        ...result,
        rollout: part.rollout && result.rollout,
        heads: part.heads.map((/** @type {any} */ head) =>
          of(
            result.heads.find(
              (/** @type {any} */ other) => other.layer === head.layer && other.head === head.head
            ),
            head
          )
        )
      }
    ]
  }
}

/**
 * In a folder with the package: the JSON that the command line writes.
 * @param {string} command
 * @param {string} folder
 */
function runCommand(command, folder) {
  execFileSync('sh', ['-c', command.replace(/^heed/, `'${native}'`)], { cwd: folder })
  return JSON.parse(readFileSync(join(folder, 'heed.json'), 'utf8'))
}

/**
 * Its row; -Infinity as JSON cannot have it.
 * @param {string} script
 * @param {string} folder
 */
function runScript(script, folder) {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(packageFolder, join(folder, 'node_modules/heed'))
  writeFileSync(
    join(folder, 'code.mjs'),
    `${script}\nconsole.log(JSON.stringify(Array.from(row, String)))\nruntime.close()\n`
  )
  return JSON.parse(execFileSync(process.execPath, ['code.mjs'], { cwd: folder })).map(Number)
}

const cases = {
  'heads out, one of another gain, patches dropped, a pair cut, temperature':
    '#x=0.1_1.2&k=0.7&z=3_10-13&u=30.41&l=2&b=1.3.35',
  'means in the place of heads, at half their size, temperature':
    '#x=0.1_1.2&y=mean&l=2&k=1.5&b=0.1.50_2.2.0',
  'equal attention in the place of a head, the mean of all heads': '#x=0.1&y=uniform&l=2&h=mean',
  'a rollout of some layers': '#v=rollout&f=max&i=1&j=3&e=0.25&g=0.5',
  'who looks at a patch': '#r=1&q=4.4',
  'who looks at a patch, by the length of its value': '#r=1&q=4.4&p=value&x=2.0',
  'raw scores of CLS, the mean of all heads': '#q=cls&p=raw&h=mean',
  'scores with masks, to a patch': '#p=masked&z=3_20&k=2&r=1&q=0.3',
  'scaled scores': '#p=scaled&s=7'
}
for (const [name, hash] of Object.entries(cases))
  test(`as copied: ${name}`, async () => {
    const page = await browser.open(hash),
      folder = mkdtempSync(join(tmpdir(), 'heed-code-')),
      changed = /[xzkub]=/.test(hash)
    if (changed)
      await page.waitForFunction(() =>
        /without|dropped/.test(document.getElementById('stage-title').textContent)
      )
    const [command, script] = await copied(page),
      json = JSON.parse(await saved(page, '#save-json')),
      csv = (await saved(page, '#save-csv')).toString()
    const found = runCommand(command, folder),
      shown = csv
        .split('\n')
        .slice(3, -1)
        .map((line) =>
          Number(line.replace(/"[^"]*"/g, '').split(',')[hash.includes('p=') ? 4 : 2])
        ),
      row = runScript(script, folder)
    close(found, narrowed(json, found), 'command line')
    assert.equal(shown.length, 197)
    shown.forEach((number, i) =>
      assert.ok(
        number === row[i] ||
          Math.abs(number - row[i]) <=
            1e-5 * Math.max(1, ...shown.filter(Number.isFinite).map(Math.abs)),
        `${i}: JavaScript ${row[i]}, page ${number}`
      )
    )
    const tensors = readFileSync(join(folder, 'heed.safetensors'))
    assert.equal(metadataOf(tensors).changes, changed ? json.provenance.changes : undefined)
    await finish(page)
  })

test('as copied: a picture of one’s own, seen whole, with what was changed in every file that is saved', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heed-code-')),
    page = await browser.open('#x=4.0&b=3.1.20&m=whole')
  const rgba = Uint8Array.from({ length: 300 * 180 * 4 }, (_, i) =>
    i % 4 === 3 ? 255 : ((i >> 3) % 256) ^ ((i * 7) % 64)
  )
  writeFileSync(join(folder, "it's mine.png"), writePng(rgba, 300, 180))
  await page.setInputFiles('#picture-file', join(folder, "it's mine.png"))
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith("it's mine.png")
  )
  const [command] = await copied(page),
    json = JSON.parse(await saved(page, '#save-json')),
    tensors = await saved(page, '#save-safetensors')
  const found = runCommand(command, folder)
  close(found, narrowed(json, found), 'command line')
  assert.equal(json.provenance.fit, 'whole')
  assert.equal(json.provenance.changes, '--ablate 4.0 --gain 3.1=0.2')
  assert.equal(metadataOf(tensors).changes, json.provenance.changes)
  assert.match(
    (await saved(page, '#save-csv')).toString(),
    /^# heed .*, changed: --ablate 4\.0 --gain 3\.1=0\.2\n/
  )
  assert.equal(JSON.parse(await saved(page, '#save-session')).changes, json.provenance.changes)
  assert.ok((await saved(page, '#save-npz')).includes('"changes":"--ablate 4.0 --gain 3.1=0.2"'))
  writeFileSync(join(folder, 'page.safetensors'), tensors)
  assert.match(
    execFileSync(native, ['maps', 'page.safetensors'], { cwd: folder, encoding: 'utf8' }),
    /^changed: --ablate 4\.0 --gain 3\.1=0\.2$/m
  )
  await finish(page)
})
