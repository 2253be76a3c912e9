/* The explorer's view of texts, with a small CLIP and a small SigLIP opened as files: probabilities
 * beside those of the native program, similarity named so, the text's own attention by mouse and by
 * keys, what stands there without a tower or a tokenizer. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser, takePicture, violations } from '../browser.js'
import { native, vectors } from '../package.js'
import { writePng } from '../png.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

const clip = join(vectors, 'vit/clip_text'),
  siglip = join(vectors, 'vit/siglip_text'),
  width = 60,
  height = 40
/** @type {TestBrowser} */
let browser
/** @type {string} */
let scratch
/** @type {string} */
let picture

before(async () => {
  browser = await startBrowser()
  scratch = mkdtempSync(join(tmpdir(), 'heed-text-page-'))
  picture = join(scratch, 'picture.png')
  writeFileSync(
    picture,
    writePng(
      Uint8Array.from({ length: 4 * width * height }, (_, i) => (i * 37 + (i >> 6) * 11) & 255),
      width,
      height
    )
  )
})
after(async () => {
  await browser.close()
  rmSync(scratch, { recursive: true })
})

/**
 * The explorer with a model's files and the picture open, at the view.
 * @param {string[]} files
 * @param {object} [options]
 */
async function open(files, options) {
  const page = await browser.open('#v=texts', options)
  await page.waitForFunction(() =>
    /no text tower/.test(document.querySelector('#view [role=status]').textContent)
  )
  await page.setInputFiles('#model-files', files)
  await page.waitForFunction(
    () => document.getElementById('model-name').textContent === 'model.safetensors'
  )
  await page.setInputFiles('#picture-file', picture)
  await page.waitForFunction(() => /^picture/.test(document.getElementById('status').textContent))
  return page
}

/**
 * @param {TestPage} page
 * @param {string[]} lines
 */
async function compare(page, lines) {
  await page.fill('#view textarea', lines.join('\n'))
  await page.press('#view textarea', 'Tab')
  await page.keyboard.press('Enter')
  await page.waitForFunction(
    (lines) =>
      [...document.querySelectorAll('#view ol button span')]
        .map((part) => part.textContent)
        .join() === lines.join(),
    lines
  )
}

/** @param {TestPage} page */
const said = (page) => page.textContent('#text-said')

test('CLIP: the probabilities of heed run --text, similarity, the text’s attention', async () => {
  const page = await open(
      ['config.json', 'model.safetensors', 'tokenizer.json'].map((name) => join(clip, name))
    ),
    lines = ['a cat', 'a dog of a cat', 'a dog of a cat of a dog of a cat'],
    out = join(scratch, 'out.json')
  await compare(page, lines)
  execFileSync(
    native,
    ['run', clip, picture, ...lines.flatMap((line) => ['--text', line]), '--backend', 'cpu'].concat(
      ['--quiet', '--json', out]
    ),
    { stdio: 'ignore' }
  )
  const { texts } = JSON.parse(readFileSync(out, 'utf8')),
    shown = await page.$$eval('#view ol button', (buttons) =>
      buttons.map((button) => ({
        percent: parseFloat(/** @type {any} */ (button.querySelector('b')).textContent),
        cosine: parseFloat(
          /** @type {any} */ (button.querySelector('small')).textContent.slice(7).replace('−', '-')
        ),
        pressed: button.getAttribute('aria-pressed')
      }))
    )
  texts.forEach((/** @type {any} */ { probability, cosine }, /** @type {number} */ i) => {
    assert.ok(Math.abs(shown[i].percent - 100 * probability) <= 0.051, `${shown[i].percent} %`)
    assert.ok(Math.abs(shown[i].cosine - cosine) <= 0.00051, `cosine ${shown[i].cosine}`)
  })
  assert.deepEqual(
    shown.map(({ pressed }) => pressed),
    ['true', 'false', 'false']
  )
  assert.match(
    /** @type {string} */ (await page.textContent('#view figure')),
    /Similarity to the text.*cosine.*this is not attention/
  )

  await page.press('#view ol li:nth-child(2) button', 'Enter')
  assert.equal(await page.getAttribute('#view ol li:nth-child(2) button', 'aria-pressed'), 'true')
  await page.selectOption('#view [name=layer]', '0')
  await page.selectOption('#view [name=head]', '2')
  await page.focus('#view .matrix')
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key)
  const { tokens, attention } = texts[1],
    { rows } = attention.find((/** @type {any} */ { layer, head }) => layer === 0 && head === 2),
    [, from, to, percent] = /** @type {RegExpExecArray} */ (
      /^From “(.*)” to “(.*)”: (\S+) %$/.exec(/** @type {string} */ (await said(page)))
    )
  assert.deepEqual([from, to], [tokens[2], tokens[1]])
  assert.ok(Math.abs(Number(percent) - 100 * rows[2][1]) <= 0.051, `${percent} %`)
  await page.press('#view ol li:nth-child(3) button', 'Enter')
  const places = await page.$eval('#view .tokens', (map) => {
    const { top, height } = map.querySelector('canvas').getBoundingClientRect(),
      labels = [...map.querySelectorAll('li')].map((label) => label.getBoundingClientRect())
    return labels.map((label, i) => [
      label.top + label.height / 2 - top - ((i + 0.5) * height) / labels.length, // from its row's middle
      label.height - height / labels.length
    ])
  })
  assert.ok(places.length >= 9, `${places.length} tokens`)
  for (const [off, more] of places) assert.ok(Math.abs(off) < 1 && more < 1, `${off}, ${more}`)
  await page.hover('#view .matrix', { position: { x: 2, y: 2 } })
  const [first] = texts[2].tokens
  assert.equal(await said(page), `From “${first}” to “${first}”: 100.0 %`)
  await finish(page, 'explorer-texts')
})

test('axe finds no violation in the results, light and dark', async () => {
  const page = await open(
    ['config.json', 'model.safetensors', 'tokenizer.json'].map((name) => join(clip, name)),
    { colorScheme: 'light', bypassCSP: true }
  )
  await compare(page, ['a cat', 'a dog'])
  await page.waitForFunction(() => !document.querySelector('[role=gridcell]:not([aria-label])')) // they get their names a moment later
  assert.deepEqual(await violations(page), [])
  await takePicture(page, 'explorer-texts-light-clip')
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.deepEqual(await violations(page, 'html', { runOnly: ['color-contrast'] }), [])
  await finish(page, 'explorer-texts-dark-clip')
})

test('SigLIP: each text by itself, no similarity; without a tokenizer a sentence', async () => {
  const files = ['config.json', 'model.safetensors'].map((name) => join(siglip, name)),
    page = await open([...files, join(clip, 'tokenizer.json')])
  await compare(page, ['a cat', 'a dog'])
  assert.match(
    /** @type {string} */ (await page.textContent('#view [role=status]')),
    /a sigmoid of each text by itself.*no similarity/
  )
  assert.equal(await page.isVisible('#view figure >> nth=0'), false)
  assert.equal(await page.isVisible('#view figure >> nth=1'), true)
  await page.setInputFiles('#model-files', files)
  await page.waitForFunction(() =>
    /tokenizer: no file of one beside the model/.test(
      document.querySelector('#view [role=status]').textContent
    )
  )
  assert.equal(await page.isVisible('#view ol'), false)
  const workers = page.workers().length
  await page.click('#tab-tokens')
  await page.waitForSelector('.likenesses')
  for (let tries = 0; tries < 50 && page.workers().length === workers; tries++)
    await page.waitForTimeout(100)
  assert.ok(page.workers().length < workers, 'the tower’s workers end with the view')
  await finish(page, 'explorer-texts-siglip')
})
