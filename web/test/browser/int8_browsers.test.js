/* Products of int8 in Chromium and Firefox, against plain numbers: whatever these engines make of
 * the relaxed dot product. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { chromium } from 'playwright-core'
import puppeteer from 'puppeteer-core'
import { plain } from '../browser.js'
import { testModules } from '../package.js'
import { serve } from '../../serve.js'

/** @param {(string | undefined)[]} names */
const find = (names) => names.find((name) => name && existsSync(name))
const chromiumPath = find([
    process.env.HEED_CHROMIUM,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser'
  ]),
  firefoxPath = find([process.env.HEED_FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'])
/** @type {Awaited<ReturnType<typeof serve>>} */
let server

before(async () => {
  server = await serve(plain)
})
after(() => server?.close())

const products = readFileSync(new URL('../int8_products.js', import.meta.url), 'utf8').replaceAll(
    /^export /gm,
    ''
  ),
  modules = ['wasm128.wasm', 'relaxed.wasm'].filter((name) =>
    existsSync(join(testModules, 'int8', name))
  ),
  bytesOf = (/** @type {string} */ name) =>
    `Uint8Array.from(atob('${readFileSync(join(testModules, 'int8', name), 'base64')}'), (c) => c.charCodeAt(0))`

/** @param {string} name */
const inPage = (name) => `(async () => {
  ${products}
  return runProducts(${bytesOf(name)})
})()`

/**
 * @param {string} name
 * @param {{levels: string[], wrong: string[]}} found
 */
function assertExact(name, { levels, wrong }) {
  console.log(`${name}: ${levels.join(', ')}`)
  assert.deepEqual(wrong, [])
  assert.equal(levels.at(-1), name.includes('relaxed') ? 'relaxed' : 'wasm128')
}

for (const args of [
  [],
  ['--js-flags=--no-enable-avx-vnni,--no-enable-avx-vnni-int8'],
  ['--js-flags=--liftoff-only']
])
  test(`products are exact in Chromium ${args}`, {
    skip: !chromiumPath && 'no Chromium here'
  }, async () => {
    const browser = await chromium.launch({
      executablePath: chromiumPath,
      args: ['--no-sandbox', '--no-first-run', ...args]
    })
    try {
      const page = await browser.newPage()
      await page.goto(`${server.address}embed.html`)
      for (const name of modules) {
        const found = /** @type {any} */ (await page.evaluate(inPage(name)))
        assertExact(name, found)
        if (args.length === 1 && args[0].includes('vnni') && name.includes('relaxed'))
          assert.deepEqual(found.levels, ['relaxed'], 'saturating products are not used')
      }
    } finally {
      await browser.close()
    }
  })

test('products are exact in Firefox', { skip: !firefoxPath && 'no Firefox here' }, async () => {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: firefoxPath,
    headless: true,
    protocolTimeout: 180000
  })
  try {
    const page = await browser.newPage()
    await page.goto(`${server.address}embed.html`)
    for (const name of modules) {
      const valid = await page.evaluate(`WebAssembly.validate(${bytesOf(name)})`)
      if (valid) assertExact(name, /** @type {any} */ (await page.evaluate(inPage(name))))
      else assert.ok(name.includes('relaxed'), name)
    }
  } finally {
    await browser.close()
  }
})
