/* Bundlers that leave the package's files behind, as esbuild does: what a page says then, and how setBase()
 * tells all of heed where they are. In a bundle nothing is of the repository: the package is installed. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import esbuild from 'esbuild'
import { chromium } from 'playwright-core'
import { serve } from '../../serve.js'
import { packageFolder } from '../package.js'

/** @type {string} */
let scratch
/** @type {import('playwright-core').Browser} */
let browser

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'heed-bundlers-'))
  mkdirSync(join(scratch, 'node_modules'))
  cpSync(packageFolder, join(scratch, 'node_modules/heed'), { recursive: true })
  browser = await chromium.launch({
    executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox']
  })
})
after(async () => {
  await browser?.close()
  rmSync(scratch, { recursive: true })
})

/* All of heed that has files of its own, with what it says. */
const everything = `
import { createRuntime, look, setBase } from 'heed'
import { demoModel } from 'heed/demo'
import { loadExplain } from 'heed/explain'
import { createTokenizer } from 'heed/tokenizer'
import { loadTexts } from 'heed/text'
import 'heed/element'
BASE
const picture = { data: new Uint8ClampedArray(224 * 224 * 4).fill(200), width: 224, height: 224 }
const told = (promise, tell) => promise.then(tell, ({ status, message }) => status + ' ' + message)
async function drawn() {
  const element = document.createElement('attention-map')
  return new Promise((resolve, reject) => {
    element.addEventListener('drawn', ({ detail }) => resolve(detail.length))
    element.addEventListener('error', ({ detail }) => reject(detail))
    document.body.append(element)
  })
}
async function all() {
  const found = {
    look: await told(Promise.resolve().then(() => look(picture, { model: demoModel })), ({ top }) => top(1)[0].label),
    explain: await told(Promise.resolve().then(() => loadExplain()), (explain) => explain.entropy(new Float32Array([1]))),
    tokenizer: await told(Promise.resolve().then(() => createTokenizer({ 'tokenizer.json': new Uint8Array(2) }))),
    text: await told(Promise.resolve().then(() => loadTexts({ weights: new Uint8Array(2) }))),
    element: await told(drawn(), String),
    worker: await told(Promise.resolve().then(() => createRuntime({ worker: true })), ({ info }) => info.worker)
  }
  document.body.dataset.found = JSON.stringify(found)
}
all()
`

/**
 * What the page says of a bundle by esbuild.
 * @param {import('esbuild').BuildOptions} options
 * @param {string} base a line of the script
 * @param {boolean} copied whether the package lies beside the bundle
 */
async function bundled(options, base, copied) {
  const folder = mkdtempSync(join(scratch, 'page-'))
  writeFileSync(join(scratch, 'entry.js'), everything.replace('BASE', base))
  await esbuild.build({
    entryPoints: [join(scratch, 'entry.js')],
    bundle: true,
    outfile: join(folder, 'main.js'),
    absWorkingDir: scratch,
    logLevel: 'silent',
    ...options
  })
  if (copied) cpSync(packageFolder, join(folder, 'assets/heed'), { recursive: true })
  const kind = options.format === 'esm' ? ' type="module"' : ''
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><title>bundle</title><body><script${kind} src="main.js"></script></body>`
  )
  const server = await serve(folder, { isolated: false }),
    page = await browser.newPage()
  try {
    await page.goto(server.address)
    await page.waitForFunction(() => document.body.dataset.found, undefined, { timeout: 60000 })
    const found = await page.evaluate(() => document.body.dataset.found ?? '')
    return { address: server.address, found: JSON.parse(found), title: await page.title() }
  } finally {
    await page.close()
    server.close()
  }
}

/** @param {any} found */
function expectAll({ look, explain, tokenizer, text, element, worker }) {
  assert.deepEqual([look, explain, element, worker], ['heart', 0, '197', true])
  assert.match(tokenizer, /^INVALID_FILE tokenizer\.json/)
  assert.match(text, /^INVALID_FILE /)
}

test('esbuild without the files: each sentence has the address and the way out', async () => {
  const { address, found } = await bundled({ format: 'esm' }, '', false)
  for (const [what, file] of Object.entries({
    look: 'heed-relaxed',
    explain: 'heed-relaxed',
    tokenizer: 'heed-all-relaxed',
    text: 'heed-all-relaxed',
    element: 'heed-relaxed'
  }))
    assert.match(
      found[what],
      new RegExp(
        `^IO .*\\(found "HTTP 404 at ${address}${file}\\.wasm", expected the package's file; setBase\\(\\) or the option base names the folder that has it\\)$`
      ),
      what
    )
  assert.match(found.worker, /^INTERNAL worker: failed \(found ".+from .+\/worker\.js"\)$/)
})

for (const base of [
  "'assets/heed/'",
  "'/assets/heed'",
  "new URL('assets/heed/', document.baseURI)",
  "new URL('assets/heed/index.js', document.baseURI)"
])
  test(`esbuild with setBase(${base})`, async () => {
    expectAll((await bundled({ format: 'esm' }, `setBase(${base})`, true)).found)
  })

test('a classic script knows no address of its own, and takes setBase()', async () => {
  const { found } = await bundled({ format: 'iife' }, '', true)
  for (const what of ['look', 'explain', 'tokenizer', 'text', 'element'])
    assert.match(
      found[what],
      /^IO .*: no address \(found a script that does not know its own/,
      what
    )
  expectAll((await bundled({ format: 'iife' }, "setBase('assets/heed/')", true)).found)
})

test('setBase() refuses what is no address', async () => {
  const { title } = await bundled(
    { format: 'esm' },
    "try { setBase('http://') } catch ({ message }) { document.title = message }",
    false
  )
  assert.equal(title, 'setBase: base is not valid (found "http://", expected an address)')
})
