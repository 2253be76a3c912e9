/* The languages: what their files hold, and the pages that are in them, in a browser. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from './browser.js'
import { repository } from './package.js'
import { inPage, inScript, languages, namesIn } from '../words.js'
/** @import {TestBrowser} from './browser.js' */

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

test('each language has the keys of English, with the same names in braces', () => {
  for (const [language, words] of Object.entries(languages)) {
    assert.deepEqual(Object.keys(words), Object.keys(languages.en), language)
    for (const [key, text] of Object.entries(words))
      assert.deepEqual(namesIn(text), namesIn(languages.en[key]), `${language} ${key}`)
  }
})

test('a script gets its texts; what is not there is an error', () => {
  const put = (/** @type {string} */ call) =>
    inScript(`import { say } from './say.js'\n${call}`, { a: 'one', b: '{x} of {y}' })
  assert.equal(put("f(say('a'))"), 'f(`one`)')
  assert.equal(put("say('b', { x, y: g(1, '}') })"), "`${x} of ${g(1, '}')}`")
  assert.throws(() => put("say('c')"), /c: no language has it/)
  assert.throws(() => put("say('b', { x })"), /\{y\} has no value/)
  assert.throws(() => inPage('<p>{{c}}</p>', {}), /c: no language has it/)
})

test('Masks has no text outside of the table', () => {
  const text = readFileSync(join(repository, 'web/pages/masks.html'), 'utf8')
  const said = [
    ...text.matchAll(/>([^<>]*)<|(?:aria-label|title|alt|content|placeholder)="([^"]*)"/g)
  ]
    .map(([, between, attribute]) => (between ?? attribute).replace(/\{\{[\w.]+\}\}/g, ''))
    .filter((rest) => /[A-Za-z]/.test(rest))
  assert.deepEqual(said, [])
})

test('Masks in each language: chosen by the browser, switched, kept; only its script is fetched; no scroll at 360', async () => {
  for (const [language, title] of [
    ['ja-JP', 'マスクとその組み合わせ'],
    ['zh-CN', '掩码及其组合'],
    ['zh-TW', 'Masks and how they combine']
  ]) {
    const page = await browser.open('masks.html#q=4', {
        locale: language,
        ready: false,
        viewport: { width: 360, height: 800 }
      }),
      scripts = /** @type {string[]} */ ([])
    page.on('request', (request) => {
      if (/masks-\w+\.js$/.test(request.url())) scripts.push(request.url())
    })
    await page.waitForSelector(`h1:text-is("${title}")`)
    await page.waitForSelector('html[data-ready]')
    assert.equal(new URL(page.url()).hash, '#q=4')
    assert.ok(new Set(scripts).size <= 1, scripts.join())
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
    await page.selectOption('#language', 'en')
    await page.waitForURL(/masks\.html#q=4$/)
    await page.reload()
    await page.waitForSelector('html[lang=en][data-ready]')
    page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // what the change of pages ended
    await finish(page, `masks-${language}`)
  }
})
