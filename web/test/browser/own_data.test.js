/* Models by address: sizes before the download, kept until removed, refused where the policy names
 * no such server; which tensors matched. What is saved says where it is from. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { pathToFileURL } from 'node:url'
import { finish, plain, site, startBrowser } from '../browser.js'
import { nativeReport } from '../native_report.js'
import { loadPage, native, packageFolder, repository } from '../package.js'
import { writePng } from '../png.js'
import { serve } from '../../serve.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {typeof import('../../pages/shared/array_files.js')} */
const { npyParts } = await loadPage('shared/array_files.js')

const { licenceOfCard } = await import(
    pathToFileURL(join(plain, 'explorer/model/licence_words.js')).href
  ),
  { mayAsk, megabytes } = await import(
    pathToFileURL(join(plain, 'explorer/open/model_cache.js')).href
  ),
  { isOtherMakers, modelFiles } = await import(
    pathToFileURL(join(plain, 'heed/weight_files.js')).href
  )
/** @type {TestBrowser} */
let browser

before(async () => (browser = await startBrowser()))
after(() => browser.close())

/**
 * @param {TestPage} page
 * @param {string} id
 */
const text = (page, id) => /** @type {Promise<string>} */ (page.textContent(`#${id}`))

/**
 * @param {TestPage} page
 * @param {string | RegExp} address
 */
async function askFor(page, address) {
  await page.click('#open-address')
  await page.fill('#library input', /** @type {any} */ (address))
  await page.keyboard.press('Enter')
}

test('a policy says who may be asked', () => {
  assert.equal(mayAsk("default-src 'none'; connect-src 'self'", 'https://a.b', 'https://a.b'), true)
  assert.equal(
    mayAsk("default-src 'none'; connect-src 'self'", 'https://c.d', 'https://a.b'),
    false
  )
  assert.equal(
    mayAsk("connect-src 'self' https://c.d; img-src 'self'", 'https://c.d', 'https://a.b'),
    true
  )
  for (const [origin, may] of /** @type {[string, boolean][]} */ ([
    ['https://cdn.c.d', true],
    ['https://c.d', false],
    ['http://cdn.c.d', false],
    ['https://cdn.c.d.e', false]
  ]))
    assert.equal(mayAsk("connect-src 'self' https://*.c.d", origin, 'https://a.b'), may, origin)
  assert.deepEqual([megabytes(1234), megabytes(1.6e6)], ['1.2 KB', '1.6 MB'])
})

test('a model by address: its size first, then kept, opened again after a reload, removed', async () => {
  const page = await browser.open('#v=heads&l=3') /* a place that is named stays */,
    caption = await text(page, 'caption')
  await askFor(page, 'heed/demo/')
  await page.waitForSelector('#library .kept li')
  assert.match(
    await text(page, 'library'),
    /config\.json: \d.*model\.safetensors: 0\.\d MB.*Download 0\.\d MB/
  )
  assert.equal(await page.evaluate(() => caches.has('heed-models')), false)
  await page.screenshot({ path: join(site, '../screenshots/explorer-address.png') })
  await page.keyboard.press('Enter')
  await page.waitForFunction(
    () => document.getElementById('model-name').textContent === 'heed/demo'
  )
  await page.waitForFunction(
    (caption) => document.getElementById('caption').textContent === caption,
    caption
  )
  await page.click('#tensors')
  assert.match(await text(page, 'report-title'), /heed\/demo/)
  assert.match(
    /** @type {string} */ (await page.textContent('dialog.report')),
    /(\d+) of \1 tensors are used.*distillation/
  )
  assert.match(
    /** @type {string} */ (await page.textContent('dialog.report')),
    /blocks\.3\.attn\.qkv\.weightencoder\.layer\.3\.attention\.attention\.query\.weight|encoder\.layer\.3\.attention/
  )
  await page.screenshot({ path: join(site, '../screenshots/explorer-tensors.png') })
  await page.keyboard.press('Escape')
  await page.reload()
  await page.waitForSelector('html[data-ready]', { timeout: 60000 })
  await page.click('#library button:text-is("Open")')
  await page.waitForFunction(
    () => document.getElementById('model-name').textContent === 'heed/demo'
  )
  await page.click('#library button:text-is("Remove")')
  await page.waitForFunction(() => !document.querySelector('#library .kept li'))
  assert.equal(await page.evaluate(() => caches.has('heed-models')), false)
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // requests that the reload ended
  await finish(page)
})

test('the licence of a model card, its front matter alone', () => {
  /** @param {string} front */
  const card = (front) => licenceOfCard(`---\n${front}\n---\n# A model\nlicense: of the text\n`)
  assert.equal(card('tags:\n- vision\nlicense: apache-2.0\ndatasets: x'), 'apache-2.0')
  assert.equal(card("license: 'cc-by-4.0'"), 'cc-by-4.0')
  assert.equal(card('license:\n  - mit\n  - apache-2.0\ntags: a'), 'mit, apache-2.0')
  assert.equal(card('license: other\nlicense_name: dinov2'), 'dinov2')
  for (const text of [
    'license: mit',
    '# A card\n---\nlicense: mit\n---\n',
    '',
    '---\ntags: a\n---\n',
    '---\nlicense:\n---\n',
    '---\nlicense: # none\n---'
  ])
    assert.equal(licenceOfCard(text), null, text)
})

test('licence and SHA-256 of the weights are beside the model; weights that are not those asked for are not kept', async () => {
  const page = await browser.open(),
    sum = createHash('sha256')
      .update(readFileSync(join(packageFolder, 'demo/model.safetensors')))
      .digest('hex')
  /** @param {RegExp} pattern */
  const origin = (pattern) =>
    page.waitForFunction(
      (source) => new RegExp(source).test(document.getElementById('model-origin').textContent),
      pattern.source
    )
  await origin(
    new RegExp(`^vit: classifier on CLS.*\\.Licence: Apache-2\\.0.*SHA-256 ${sum.slice(0, 8)}…$`)
  )
  assert.equal(
    await page.getAttribute('#model-origin button', 'title'),
    `${sum}  model.safetensors`
  )
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => {
      window.copied = text
    }
  })
  await page.click('#model-origin button')
  const copied = await page.waitForFunction(() => window.copied)
  assert.equal(await copied.jsonValue(), `${sum}  model.safetensors`)
  await askFor(page, `heed/demo/#sha256=${'0'.repeat(64)}`)
  await page.click('#library button:text-matches("^Download")')
  await page.waitForSelector('#error:not([hidden])')
  assert.match(
    await text(page, 'error-text'),
    new RegExp(
      `not the file that was asked for \\(found SHA-256 ${sum.slice(0, 16)}, expected 0{16}\\)`
    )
  )
  assert.equal(await page.evaluate(() => caches.has('heed-models')), false)
  await page.click('#error-close')
  await askFor(page, `heed/demo/#sha256=${sum}`)
  await page.click('#library button:text-matches("^Download")')
  await page.waitForFunction(
    () => document.getElementById('model-name').textContent === 'heed/demo'
  )
  await origin(/^vit: classifier on CLS, .*Licence: apache-2\.0/) // of its card
  await page.setInputFiles(
    '#model-files',
    ['config.json', 'model.safetensors'].map((name) => join(packageFolder, 'demo', name))
  )
  await origin(/Licence: not stated in the files/)
  assert.equal(await page.isVisible('#error'), false)
  await page.setInputFiles('#model-files', join(packageFolder, 'demo/model.safetensors'))
  await page.waitForSelector('#error:not([hidden])')
  assert.match(
    await text(page, 'error-text'),
    /^Assumed: 2 heads \(a guess: width 128 \/ 64\).*open the weights together with their config\.json/
  )
  assert.equal(await page.getAttribute('#error', 'role'), 'status') // it is a notice, and nothing to copy
  assert.equal(await page.isVisible('#error-copy'), false)
  await origin(/Assumed: 2 heads \(a guess: width 128 \/ 64\)/)
  await finish(page)
})

test('what is not there, and a server that the policy does not name, get a sentence', async () => {
  const page = await browser.open()
  for (const [address, sentence] of [
    ['heed/plot/', /no model\.safetensors in it/],
    [
      'https://elsewhere.example/model/',
      /policy names the servers.*--connect https:\/\/elsewhere\.example/
    ]
  ]) {
    await askFor(page, address)
    await page.waitForSelector('#error:not([hidden])')
    assert.match(await text(page, 'error-text'), /** @type {any} */ (sentence))
    await page.click('#error-close')
  }
  const asked = page.faults.filter((fault) => fault.includes('404'))
  assert.equal(asked.length, 5, asked.join('\n')) // two names of configs, three of weights
  page.faults = page.faults.filter((fault) => !fault.includes('404'))
  await finish(page)
})

/**
 * What `heed inspect` prints after a word; '' where it has no such line.
 * @param {string} model
 */
function inspected(model) {
  const lines = execFileSync(native, ['inspect', model], { encoding: 'utf8' })
  return (/** @type {string} */ word) => new RegExp(`^${word}:? ?(.*)$`, 'm').exec(lines)?.[1] ?? ''
}

/** What of the model's rail is wider than its room. @param {TestPage} page */
const tooWide = (page) =>
  page.$$eval('#model-name, #model-facts, main > :first-child', (parts) =>
    parts.filter((one) => one.scrollWidth > one.clientWidth).map(({ id, tagName }) => id || tagName)
  )

test('files of PyTorch by picker, drop and address: the page says what heed inspect says of them', async () => {
  const page = await browser.open(),
    folder = mkdtempSync(join(tmpdir(), 'heed-torch-')),
    vectors = join(repository, 'tests/vectors'),
    config = readFileSync(join(vectors, 'vit/hf_vit/config.json')),
    weights = readFileSync(join(vectors, 'pickle/vit/zip.pth')),
    long = 'vit_tiny_patch16_224.augreg_in21k_ft_in1k_without_a_place_to_break.ckpt'
  writeFileSync(join(folder, 'vit.pth'), weights)
  writeFileSync(join(folder, 'config.json'), config)
  const said = inspected(join(folder, 'vit.pth'))
  /** @param {string} name */
  const opened = async (name) => {
    await page.waitForFunction(
      (name) => document.getElementById('model-name').textContent === name,
      name
    )
    await page.waitForFunction(
      (start) => document.getElementById('model-origin').textContent.startsWith(start),
      `${said('family').split(':')[0]}: ${said('rules')}. Assumed: ${said('assumed')}.Licence: `
    )
    assert.equal(await page.isVisible('#error'), false)
  }
  const named = (/** @type {string} */ name, /** @type {Buffer} */ buffer) => ({
    name,
    mimeType: '',
    buffer
  })
  await page.setInputFiles('#model-files', [
    named('vit.pth', weights),
    named('config.json', config),
    named('optimizer.pt', Buffer.from('no weights'))
  ])
  await opened('vit.pth')
  await page.screenshot({ path: join(site, '../screenshots/explorer-pytorch.png') })
  await page.evaluate(
    (files) => {
      const data = new DataTransfer()
      for (const [name, bytes] of files) data.items.add(new File([Uint8Array.from(bytes)], name))
      dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }))
    },
    /** @type {[string, number[]][]} */ ([
      ['config.json', [...config]],
      [long, [...weights]]
    ])
  )
  await opened(long)
  assert.deepEqual(await tooWide(page), [])
  await page.route('**/torch/**', (route) => {
    const name = new URL(route.request().url()).pathname.split('/').pop()
    return name === 'pytorch_model.bin'
      ? route.fulfill({ body: weights })
      : name === 'config.json'
        ? route.fulfill({ body: config })
        : route.fulfill({ status: 404 })
  })
  await askFor(page, 'torch/')
  await page.click('#library button:text-matches("^Download")')
  await opened('torch')
  await page.click('#library button:text-is("Remove")')
  page.faults = page.faults.filter((fault) => !fault.includes('404'))
  await finish(page)
})

/**
 * A folder at an address of the page; the files that are asked for.
 * @param {TestPage} page
 * @param {string} address
 * @param {string} folder
 */
async function serveFolder(page, address, folder) {
  const asked = /** @type {string[]} */ ([])
  await page.route(`**/${address}/**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice(address.length + 2)
    if (route.request().method() === 'GET') asked.push(name)
    return name && existsSync(join(folder, name))
      ? route.fulfill({ body: readFileSync(join(folder, name)) })
      : route.fulfill({ status: 404 })
  })
  return asked
}

/**
 * The maps that the page saves of both.
 * @param {string} found
 * @param {string} expected
 */
function near(found, expected) {
  const numbers = (/** @type {string} */ csv) =>
    (csv.match(/-?\d+\.\d+(e-?\d+)?/g) ?? []).map(Number)
  assert.ok(numbers(expected).length > 20)
  assert.equal(numbers(found).length, numbers(expected).length)
  numbers(found).forEach((value, i) =>
    assert.ok(Math.abs(value - numbers(expected)[i]) <= 1e-6, `${value}, number ${i}`)
  )
}

/**
 * The numbers that the page saves of a model, once it is open.
 * @param {TestPage} page
 * @param {string} name
 * @param {string} [onnx] how it is read, '': it is no ONNX file
 */
async function savedOf(page, name, onnx = "model.onnx: ONNX file as weights of heed's own graph") {
  await page.waitForFunction(
    (name) =>
      document.getElementById('model-name').textContent === name &&
      !document.body.classList.contains('dim'), // it has run; the origin may be that of the model before
    name
  )
  await page.waitForFunction(
    (onnx) => document.getElementById('model-origin').textContent.includes(onnx),
    onnx && `${onnx} (opset 14 by pytorch 1.13.0, `
  )
  assert.equal(await page.isVisible('#error'), false)
  assert.equal((await text(page, 'model-facts')).endsWith(', from ONNX'), onnx !== '')
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-csv')])
  return readFile(await download.path(), 'utf8')
}

/**
 * @param {TestPage} page
 * @param {[string, Buffer][]} files
 */
const drop = (page, files) =>
  page.evaluate(
    (files) => {
      const data = new DataTransfer()
      for (const [name, bytes] of files) data.items.add(new File([Uint8Array.from(bytes)], name))
      dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }))
    },
    files.map(([name, bytes]) => /** @type {[string, number[]]} */ ([name, [...bytes]]))
  )

test('ONNX files by picker, drop and address: the numbers of the same weights as .safetensors', async () => {
  const page = await browser.open(),
    vectors = join(repository, 'tests/vectors'),
    folder = join(vectors, 'onnx/vit'),
    config = readFileSync(join(folder, 'config.json')),
    safetensors = readFileSync(join(vectors, 'vit/hf_vit/model.safetensors')),
    part = (/** @type {string} */ name) => readFileSync(join(folder, 'onnx', name)),
    named = (/** @type {string} */ name, /** @type {Buffer} */ buffer) => ({
      name,
      mimeType: '',
      buffer
    })
  await page.setInputFiles('#model-files', [
    named('model.safetensors', safetensors),
    named('config.json', config)
  ])
  const expected = await savedOf(page, 'model.safetensors', '')
  await page.setInputFiles('#model-files', [
    named('config.json', config),
    named('model_q4.onnx', part('model_q4.onnx')),
    named('model.onnx', part('model.onnx')),
    named('model.onnx_data', part('model.onnx_data'))
  ])
  near(await savedOf(page, 'model.onnx'), expected)
  await page.screenshot({ path: join(site, '../screenshots/explorer-onnx.png') })
  await drop(page, [
    ['config.json', config],
    ['dropped.onnx', readFileSync(join(vectors, 'onnx/model.onnx'))]
  ])
  near(
    await savedOf(page, 'dropped.onnx', "dropped.onnx: ONNX file as weights of heed's own graph"),
    expected
  )
  const asked = await serveFolder(page, 'hub', folder)
  for (const address of ['hub/', 'hub/onnx/model.onnx']) {
    await askFor(page, address)
    await page.click('#library button:text-matches("^Download")')
    near(await savedOf(page, address === 'hub/' ? 'hub' : 'onnx/model.onnx'), expected)
    await page.click('#library button:text-is("Remove")')
    assert.deepEqual(asked.splice(0), ['config.json', 'onnx/model.onnx', 'onnx/model.onnx_data'])
  }
  page.faults = page.faults.filter((fault) => !fault.includes('404'))
  await finish(page)
})

test('an ONNX file that no config names runs as its graph, by drop and address: the same numbers', async () => {
  const page = await browser.open(),
    vectors = join(repository, 'tests/vectors'),
    reference = join(vectors, 'vit/hf_vit'),
    whole = readFileSync(join(vectors, 'onnx/model.onnx')),
    way = "run as an ONNX graph on heed's kernels",
    alone = mkdtempSync(join(tmpdir(), 'heed-graph-'))
  await page.setInputFiles(
    '#model-files',
    ['model.safetensors', 'config.json'].map((name) => join(reference, name))
  )
  const expected = await savedOf(page, 'model.safetensors', '')
  await drop(page, [['alone.onnx', whole]])
  near(await savedOf(page, 'alone.onnx', `alone.onnx: ${way}`), expected)
  await page.screenshot({ path: join(site, '../screenshots/explorer-onnx-graph.png') })
  writeFileSync(join(alone, 'model.onnx'), whole)
  await serveFolder(page, 'alone', alone)
  await askFor(page, 'alone/model.onnx')
  await page.click('#library button:text-matches("^Download")')
  near(await savedOf(page, 'alone/model.onnx', `model.onnx: ${way}`), expected)
  rmSync(alone, { recursive: true })
  // text in, no image: the page says so, and keeps the model that it has
  await drop(page, [['bert.onnx', readFileSync(join(vectors, 'onnx/graphs/clip_text_17.onnx'))]])
  await page.waitForFunction(() =>
    document
      .getElementById('error')
      .textContent.includes('no vision transformer (found 0 inputs of images')
  )
  page.faults = page.faults.filter((fault) => !fault.includes('404'))
  await finish(page)
})

test('ONNX files in the library of a page: all maps are those of .safetensors', async () => {
  const page = await browser.open(),
    vectors = join(repository, 'tests/vectors')
  await serveFolder(page, 'hub', join(vectors, 'onnx/vit'))
  await serveFolder(page, 'safe', join(vectors, 'vit/hf_vit'))
  const apart = await page.evaluate(async () => {
    const { createRuntime } = await import('./heed/index.js'),
      runtime = await createRuntime(),
      pixels = Float32Array.from({ length: 1200 }, (_, i) => Math.sin(i)),
      run = async (/** @type {string} */ source, /** @type {string} */ file) => {
        const model = await runtime.loadModel(source, { file }),
          session = model.createSession({ taps: 'all' }),
          { attention, logits } = await session.run(pixels)
        model.close()
        return /** @type {Float32Array[]} */ ([logits, .../** @type {any} */ (attention)])
      },
      one = await run('safe/', 'model.safetensors'),
      other = await run('hub/', 'onnx/model.onnx'),
      half = await run('hub/', 'onnx/model_fp16.onnx')
    runtime.close()
    const most = (/** @type {Float32Array[]} */ a, /** @type {Float32Array[]} */ b) =>
      Math.max(...a.flatMap((x, i) => Array.from(x, (value, k) => Math.abs(value - b[i][k]))))
    return [most(one, other), most(one, half)]
  })
  assert.equal(apart[0], 0)
  assert.ok(apart[1] > 0 && apart[1] < 1e-2, `${apart[1]}`)
  page.faults = page.faults.filter((fault) => !/404|ERR_ABORTED/.test(fault))
  await finish(page)
})

test('tokens before the patches have the names that heed run gives them', async () => {
  const page = await browser.open(),
    vectors = join(repository, 'tests/vectors/vit')
  for (const [model, cells, named] of /** @type {[string, RegExp, RegExp][]} */ ([
    ['hf_deit_distilled', /^CLS \S+ %dist \S+ %$/, /"distillation"/],
    ['hf_dinov2_registers', /^CLS < \S+ %r1r2/, /"register 2"/],
    ['timm_gap_registers', /^r1 .*r2/, /"register 1"/]
  ])) {
    await page.setInputFiles(
      '#model-files',
      readdirSync(join(vectors, model))
        .filter((name) => /^(pre.*config|config|model)\./.test(name))
        .map((name) => join(vectors, model, name))
    )
    await page.waitForFunction(
      (cells) => new RegExp(cells).test(document.getElementById('prefix').textContent),
      cells.source
    )
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-csv')])
    assert.match(await readFile(await download.path(), 'utf8'), named)
    await page.screenshot({ path: join(site, `../screenshots/explorer-${model}.png`) })
  }
  await finish(page)
})

test('weights of other makers get the sentence of the command line, by picker and by address', async () => {
  const page = await browser.open(),
    folder = mkdtempSync(join(tmpdir(), 'heed-others-')),
    gguf = Buffer.from('GGUF\x03\0\0\0\0\0\0\0')
  for (const [name, buffer] of /** @type {[string, Buffer][]} */ ([
    ['vit.gguf', gguf],
    ['model.bin', gguf],
    ['vit.onnx', Buffer.from('\x08\x07\x12\x07pytorch\x1a\x031.0')],
    ['tf_model.h5', Buffer.from('\x89HDF\r\n\x1a\n\0\0', 'latin1')],
    ['flax_model.msgpack', Buffer.from('\x81\xa6params\0\0\0', 'latin1')],
    ['vit.pth', Buffer.from('PK\x03\x04\0\0\x08\x08\0\0')]
  ])) {
    writeFileSync(join(folder, name), buffer)
    const { stderr } = spawnSync(native, ['inspect', join(folder, name)], { encoding: 'utf8' }),
      sentence = stderr.trim().replace(`heed inspect: ${folder}/`, '')
    assert.ok(sentence.startsWith(`${name}: `), sentence)
    /** @param {() => Promise<unknown>} open */
    const refused = async (open) => {
      await open()
      await page.waitForSelector('#error:not([hidden])')
      const said = await text(page, 'error-text')
      assert.ok(said.startsWith(sentence), `${said}, not ${sentence}`)
      await page.click('#error-close')
    }
    await refused(() => page.setInputFiles('#model-files', { name, mimeType: '', buffer }))
    if (!/bin|onnx|pth/.test(name))
      await refused(() => askFor(page, `https://elsewhere.example/${name}`))
  }
  await finish(page)
})

test('the ends of other makers’ weights are those that the command line names', () => {
  const source = readFileSync(join(repository, 'runtime/pickle/foreign.c'), 'utf8'),
    ends = [...source.matchAll(/^ {4}\{"(\.[^"]+)", /gm)].map(([, end]) => end)
  assert.ok(ends.length > 10)
  for (const end of ends) assert.equal(isOtherMakers(`model${end}`), true, end)
  for (const name of ['model.safetensors', 'vit.pth', 'model.onnx', 'config.json', 'photo.png'])
    assert.equal(isOtherMakers(name), false, name)
})

test('of a folder the weights of one kind are read, as heed run takes them', () => {
  const of = (/** @type {string[]} */ ...names) =>
    modelFiles(names.map((name) => ({ name }))).files.map(
      (/** @type {{name: string}} */ { name }) => name
    )
  assert.deepEqual(of('config.json', 'vit.pth'), ['config.json', 'vit.pth'])
  assert.deepEqual(of('a.pt', 'model.safetensors', 'a.jpg'), ['a.jpg', 'model.safetensors'])
  assert.deepEqual(of('optimizer.pt', 'pytorch_model.bin', 'epoch.pth'), ['pytorch_model.bin'])
  assert.deepEqual(of('pytorch_model-1.bin', 'training_args.bin'), ['pytorch_model-1.bin'])
  assert.deepEqual(of('tf_model.h5', 'README.md', 'config.json'), ['tf_model.h5'])
  assert.deepEqual(of('model_q4.onnx', 'a.onnx', 'model_fp16.onnx', 'model_fp16.onnx_data'), [
    'model_fp16.onnx_data',
    'model_fp16.onnx'
  ])
  assert.deepEqual(of('model.onnx', 'vit.pth'), ['vit.pth'])
  assert.deepEqual(of('notes.txt'), [])
})

test('an index by address names files of its own folder alone', async () => {
  const page = await browser.open(),
    asked = /** @type {string[]} */ ([])
  /** @type {string | number} */
  let name
  await page.route('**/shards/**', (route) => {
    asked.push(new URL(route.request().url()).pathname)
    return /** @type {string} */ (asked.at(-1)).endsWith('index.json')
      ? route.fulfill({ json: { weight_map: { a: name } } })
      : route.fulfill({
          status: /** @type {string} */ (asked.at(-1)).endsWith('config.json') ? 200 : 404
        })
  })
  for (name of ['..\\secret.safetensors', 'sub/x.safetensors', 'C:x.safetensors', 'x.bin', 7]) {
    await askFor(page, 'shards/')
    await page.waitForSelector('#error:not([hidden])')
    assert.match(
      await text(page, 'error-text'),
      /^model\.safetensors\.index\.json: weight_map is not valid \(found .+, expected 1 to 512 files NAME\.safetensors\)/
    )
    await page.click('#error-close')
  }
  assert.deepEqual(
    [...new Set(asked)].filter(
      (path) =>
        !/^\/shards\/(config\.json|(pre)?processor_config\.json|README\.md|model\.safetensors(\.index\.json)?)$/.test(
          path
        )
    ),
    []
  )
  page.faults = page.faults.filter((fault) => !fault.includes('404'))
  await finish(page)
})

test('another server is asked where the page is served with --connect; a download that ends early is not kept', async () => {
  let cut = true
  const other = createServer(async ({ url, method }, response) => {
    const bytes = await readFile(join(site, 'heed/demo', /** @type {string} */ (url))).catch(
        () => null
      ),
      headers = {
        'Access-Control-Allow-Origin': '*',
        'Cross-Origin-Resource-Policy': 'cross-origin'
      }
    if (!bytes) return response.writeHead(404, headers).end()
    response.writeHead(200, { ...headers, 'Content-Length': bytes.length })
    if (method === 'HEAD') return response.end()
    if (!cut || !(/** @type {string} */ (url).endsWith('.safetensors'))) return response.end(bytes)
    response.write(bytes.subarray(0, 1e5), () => response.destroy())
  })
  await new Promise((done) => other.listen(0, 'localhost', () => done(null)))
  const address = `http://localhost:${/** @type {any} */ (other.address()).port}`,
    server = await serve(site, { connect: address }),
    page = await browser.open()
  try {
    await page.goto(`${server.address}#v=heads`)
    await page.waitForSelector('html[data-ready]', { timeout: 60000 })
    page.faults = []
    await askFor(page, `${address}/`)
    await page.click('#library button:text-matches("^Download")')
    await page.waitForSelector('#error:not([hidden])')
    assert.equal(await page.evaluate(() => caches.has('heed-models')), false)
    await page.click('#error-close')
    cut = false
    page.faults = []
    await askFor(page, `${address}/model.safetensors`)
    await page.click('#library button:text-matches("^Download")')
    await page.waitForFunction(
      () => document.getElementById('model-name').textContent === 'model.safetensors'
    )
    await finish(page)
  } finally {
    server.close()
    other.close()
  }
})

/**
 * @param {TestPage} page
 * @param {string} button
 */
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)])
  return readFile(await download.path())
}

const weights = readFileSync(join(repository, 'runtime/demo/model/model.safetensors')),
  sum = createHash('sha256').update(weights).digest('hex')

/* Each number of each head, row by row. */
function sameHeads(/** @type {any} */ found, /** @type {any} */ expected) {
  assert.equal(found.length, expected.length)
  for (const [i, head] of expected.entries())
    for (const [key, value] of Object.entries(head))
      [value]
        .flat()
        .forEach((number, at) =>
          assert.ok(
            Math.abs([found[i][key]].flat()[at] - number) <= 1e-5 * Math.max(1, Math.abs(number)),
            `head ${i}, ${key} ${at}: ${[found[i][key]].flat()[at]}, expected ${number}`
          )
        )
}

/**
 * What heed maps says of layer 3, head 0 of saved maps, and writes of them.
 * @param {Buffer} tensors
 */
function mapsByNative(tensors) {
  const folder = mkdtempSync(join(tmpdir(), 'heed-own-'))
  writeFileSync(join(folder, 'own.safetensors'), tensors)
  const said = execFileSync(
    native,
    [
      'maps',
      'own.safetensors',
      '--layer',
      '3',
      '--head',
      '0',
      '--query',
      '2,10',
      '--maps',
      'own.png'
    ],
    { cwd: folder, encoding: 'utf8' }
  )
  assert.match(said, /peak patch \(10, 1\) 19\.4\d % \(38\.3 x uniform\)/)
  assert.ok(said.includes(sum))
  return nativeReport(folder, '2,10', 'maps', 'own.safetensors').results[0]
}

/** What a caption says of the same maps without the scene whose shapes it names. @param {string} caption */
function withoutScene(caption) {
  assert.match(caption, /patches on the teal star,/)
  return caption.replace('on the teal star', 'at the bottom left')
}

test('every view is saved with its numbers, caption and the hash of the weights', async () => {
  const page = await browser.open(),
    caption = await text(page, 'caption'),
    images = { heads: 5, matrix: 5, statistics: 4, compare: 9, tokens: 9 } // each map of the view with its bar
  for (const [view, lines] of Object.entries({
    heads: 198,
    matrix: 198,
    rollout: 198,
    statistics: 21,
    compare: 198,
    tokens: 198
  })) {
    await page.click(`#tab-${view}`)
    await page.waitForFunction(
      (rollout) => document.getElementById('caption').textContent.startsWith('Rollout') === rollout,
      view === 'rollout'
    )
    if (view !== 'rollout')
      await page.waitForFunction(() => document.querySelector('#view canvas, #view svg circle')) // views draw in a turn of their own
    if (view === 'compare') await page.click('#view [name=pin]')
    const csv = (await saved(page, '#save-csv')).toString().trim().split('\n'),
      svg = (await saved(page, '#save-svg')).toString()
    assert.match(csv[0], new RegExp(`^# heed .*sha256 ${sum.slice(0, 16)}, .*#`))
    const states = /^# States after layer 3\. Cosine of .* patch \(2, 10\)/
    if (view === 'tokens') assert.match(csv[1], states)
    else assert.equal(csv[1], `# ${await text(page, 'caption')}`)
    assert.equal(csv.length - 2, lines, view)
    assert.ok(svg.includes(`sha256 ${sum.slice(0, 16)}`), view)
    if (/** @type {any} */ (images)[view])
      assert.equal(
        /** @type {RegExpMatchArray} */ (svg.match(/<image/g)).length,
        /** @type {any} */ (images)[view],
        view
      )
  }
  await page.click('#tab-heads')
  const json = JSON.parse(await saved(page, '#save-json'))
  assert.equal(json.provenance.weights_sha256['model.safetensors'], sum)
  const tensors = await saved(page, '#save-safetensors'),
    header = JSON.parse(tensors.subarray(8, 8 + Number(tensors.readBigUInt64LE(0))))
  assert.equal(JSON.parse(header.__metadata__.provenance).weights_sha256['model.safetensors'], sum)
  const ofNative = mapsByNative(tensors)
  assert.equal(JSON.parse(ofNative.from).weights_sha256['model.safetensors'], sum)
  sameHeads(ofNative.heads, json.results[0].heads)
  const packed = await saved(page, '#save-npz')
  for (const [name, buffer] of [
    ['own.safetensors', tensors],
    ['own.npz', packed]
  ]) {
    await page.setInputFiles('#model-files', /** @type {any} */ ({ name, mimeType: '', buffer }))
    await page.waitForFunction(
      (name) => document.getElementById('model-name').textContent === name,
      name
    )
    await page.waitForFunction(() =>
      document.getElementById('status').textContent.startsWith('picture')
    )
    assert.equal(await text(page, 'caption'), withoutScene(caption))
    sameHeads(JSON.parse(await saved(page, '#save-json')).results[0].heads, json.results[0].heads)
  }
  const [png] = await Promise.all([saved(page, '#save-png')])
  writeFileSync(join(site, '../screenshots/saved.png'), png)
  await finish(page)
})

/**
 * Maps [2, 1, 5, 5] whose weights are all the same.
 * @param {number} weight
 */
const ownMaps = async (weight) => ({
  name: 'own.npy',
  mimeType: '',
  buffer: Buffer.from(
    await new Blob(npyParts([2, 1, 5, 5], [new Float32Array(50).fill(weight)])).arrayBuffer()
  )
})

test("maps of one's own: nothing of the model before stays on them; what fails changes nothing", async () => {
  const page = await browser.open('#x=3.0&k=0.5'),
    open = (/** @type {any[]} */ ...files) => page.setInputFiles('#model-files', files)
  /** @param {RegExp} expected */
  const refused = async (expected) => {
    await page.waitForSelector('#error:not([hidden])')
    assert.match(await text(page, 'error-text'), expected)
    await page.click('#error-close')
  }
  await page.waitForFunction(() =>
    /without 3\.0, temperature 0\.5/.test(document.getElementById('stage-title').textContent)
  ) // words for what was changed are fetched
  const before = await text(page, 'stage-title')
  await open(await ownMaps(1.4))
  await refused(
    /own\.npy: layer 0, head 0, row 0 does not sum to 1 \(found 7\.00\): scores, not weights\?/
  )
  await open(await ownMaps(0.2), {
    name: 'broken.png',
    mimeType: 'image/png',
    buffer: Buffer.from('no picture')
  })
  await refused(/broken\.png/)
  assert.equal(await text(page, 'stage-title'), before)
  await page.click('#tab-matrix')
  await page.waitForSelector('#view .matrix')
  await open(await ownMaps(0.2))
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.endsWith('maps of own.npy')
  )
  await page.waitForFunction(() =>
    document.getElementById('stage-title').textContent.startsWith('Layer 1, head 0:')
  )
  assert.match(await text(page, 'took'), /no model was run/)
  assert.match(await text(page, 'model-facts'), /The picture is not theirs/)
  await page.waitForFunction(() => !/[xk]=/.test(location.hash))
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => {
      window.copied = text
    }
  })
  await page.click('#link')
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.endsWith('on this machine: your own maps.')
  )
  await page.click('#code')
  await refused(/heed maps reads \.safetensors files as this page writes them, not own\.npy/)
  const folder = mkdtempSync(join(tmpdir(), 'heed-maps-'))
  writeFileSync(join(folder, 'own.safetensors'), await saved(page, '#save-safetensors'))
  await open(join(folder, 'own.safetensors'))
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.endsWith('maps of own.safetensors')
  )
  await page.click('#code')
  await page.waitForFunction(() =>
    window.copied?.startsWith('heed maps path/to/own.safetensors --layer 1 --head 0 ')
  )
  const [, , , ...words] = (await page.evaluate(() => window.copied)).split(' ')
  execFileSync(native, ['maps', 'own.safetensors', ...words], { cwd: folder })
  const [{ layer, head }, ...more] = JSON.parse(readFileSync(join(folder, 'heed.json'), 'utf8'))
    .results[0].heads
  assert.deepEqual([layer, head, more.length], [1, 0, 0])
  await finish(page)
})

/**
 * Mean and spread of several pictures' numbers are those of a table of heads.
 * @param {string[]} csv its lines from the names on
 * @param {any[][]} expected the heads of each picture
 */
function sameMeans(csv, expected) {
  const names = csv[0].split(',')
  for (const line of csv.slice(1)) {
    const [layer, head, ...numbers] = line.split(',').map(Number)
    for (const key of ['entropy_patches', 'distance', 'self_mass', 'top5_mass']) {
      const values = expected.map(
          (/** @type {any} */ heads) =>
            heads.find((/** @type {any} */ one) => one.layer === layer && one.head === head)[key]
        ),
        mean = values.reduce((/** @type {any} */ a, /** @type {any} */ b) => a + b) / 3,
        spread = Math.sqrt(
          values.reduce(
            (/** @type {any} */ total, /** @type {any} */ value) => total + (value - mean) ** 2,
            0
          ) / 2
        )
      for (const [what, value] of Object.entries({ mean, spread })) {
        const found = numbers[names.indexOf(`${key}_${what}`) - 2]
        assert.ok(
          Math.abs(found - value) <= 1e-4 * Math.max(1, value),
          `${layer}.${head} ${key} ${what}: ${found}, expected ${value}`
        )
      }
    }
  }
}

test('several pictures: mean and spread of every head, those of heed run --json; what is no picture is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heed-many-')),
    seeds = [7, 42, 1009],
    pictures = seeds.map((seed) => join(folder, `scene${seed}.png`))
  for (const [i, seed] of seeds.entries())
    execFileSync(native, ['demo', '--scene', String(seed), '--picture', pictures[i]])
  execFileSync(native, [
    'run',
    ...pictures,
    '--backend',
    'cpu',
    '--json',
    join(folder, 'many.json'),
    '--quiet'
  ])
  const expected = JSON.parse(readFileSync(join(folder, 'many.json'), 'utf8')).results.map(
    (/** @type {any} */ { heads }) => heads
  )
  const page = await browser.open()
  await page.setInputFiles('#picture-file', [
    ...pictures.map((path) => ({
      name: /** @type {string} */ (path.split('/').at(-1)),
      mimeType: 'image/png',
      buffer: readFileSync(path)
    })),
    {
      name: /** @type {string} */ /** @type {string} */ /** @type {any} */ ('note.png'),
      mimeType: 'image/png',
      buffer: Buffer.from('no picture')
    }
  ])
  await page.waitForSelector('dialog.report tbody tr:nth-child(20)')
  assert.match(
    /** @type {string} */ (await page.textContent('dialog.report')),
    /^Heads over 3 pictures.*Not read as pictures: note\.png/
  )
  const csv = (await saved(page, 'dialog.report button:text-is("Save CSV")'))
    .toString()
    .trim()
    .split('\n')
  assert.match(csv[0], new RegExp(`^# heed .*sha256 ${sum.slice(0, 16)}, 3 pictures`))
  assert.equal(csv[1], '# scene7.png, scene42.png, scene1009.png')
  sameMeans(csv.slice(2), expected)
  assert.equal(csv.length, 23)
  await page.screenshot({ path: join(site, '../screenshots/explorer-many.png') })
  await page.keyboard.press('Escape')
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.startsWith('scene7.png')
  )
  await finish(page)
})

const limit =
  /^The demo model knows ten generated shapes only: its prediction for a photo is meaningless\.$/
const png = writePng(
    Uint8Array.from({ length: 64 * 48 * 4 }, (_, i) => (i % 4 === 3 ? 255 : (i * 7) % 251)),
    64,
    48
  ),
  photo = (/** @type {string} */ name) => ({ name, mimeType: 'image/png', buffer: png })

/**
 * What the page says of the answer's limit, and of the picture that it shows.
 * @param {TestPage} page
 */
function limits(page) {
  const said = () =>
      page
        .locator('#answer-limit')
        .evaluate((line) => (line.checkVisibility() ? line.textContent : '')),
    shows = (/** @type {string} */ name) =>
      page.waitForFunction(
        (name) => document.getElementById('status').textContent.startsWith(name),
        name
      )
  const scene = async () => {
    await page.click('#samples button:nth-child(2)')
    await shows('Scene 7')
    assert.equal(await said(), '')
  }
  return { said, shows, scene }
}

/**
 * A camera that shows a black square.
 * @param {TestPage} page
 */
const giveCamera = (page) =>
  page.evaluate(() => {
    const canvas = document.createElement('canvas'),
      draw = () => {
        canvas.getContext('2d')?.fillRect(0, 0, 9, 9)
        requestAnimationFrame(draw)
      }
    draw()
    navigator.mediaDevices.getUserMedia = async () => canvas.captureStream()
  })

test('the built-in model says of every picture but a drawn scene that its answer means nothing', async () => {
  const page = await browser.open(),
    { said, shows, scene } = limits(page)
  assert.equal(await said(), '')
  await page.setInputFiles('#picture-file', photo('own.png'))
  await shows('own.png')
  assert.match(await said(), limit)
  await page.screenshot({ path: join(site, '../screenshots/explorer-photo.png') })
  await scene()
  await page.evaluate(
    (bytes) => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(
        new File([Uint8Array.from(bytes)], 'pasted.png', { type: 'image/png' })
      )
      dispatchEvent(new ClipboardEvent('paste', { clipboardData }))
    },
    [...png]
  )
  await shows('pasted.png')
  assert.match(await said(), limit)
  await scene()
  await giveCamera(page)
  await page.click('#camera')
  await page.waitForFunction(() => document.getElementById('video')?.readyState > 1)
  await page.click('#shoot')
  await shows('Camera')
  assert.match(await said(), limit)
  await scene()
  await page.setInputFiles('#picture-file', [photo('one.png'), photo('two.png')])
  await page.waitForSelector('dialog.report')
  await page.keyboard.press('Escape')
  await shows('one.png')
  assert.match(await said(), limit)
  await finish(page)
})

test('other models and saved maps say nothing of the answer, nor does the built-in one of a changed scene', async () => {
  const page = await browser.open(),
    { said, shows, scene } = limits(page)
  await page.setInputFiles('#picture-file', photo('one.png'))
  await shows('one.png')
  assert.match(await said(), limit)
  await page.setInputFiles(
    '#model-files',
    ['config.json', 'preprocessor_config.json', 'model.safetensors']
      .map((name) => join(repository, 'tests/vectors/vit/micro_32', name))
      .filter(existsSync)
  )
  await page.waitForSelector('#demo-model:not([hidden])')
  await shows('one.png')
  assert.equal(await said(), '')
  await page.click('#demo-model')
  await page.waitForFunction(() => !document.getElementById('answer-limit').hidden)
  await page.setInputFiles('#model-files', await ownMaps(0.2))
  await page.waitForFunction(() =>
    document.getElementById('status').textContent.endsWith('maps of own.npy')
  )
  assert.equal(await said(), '')
  await page.click('#demo-model')
  await scene()
  await page.click('#tab-scene')
  await page.click('#view [name=remove]')
  await shows('Your scene')
  assert.equal(await said(), '')
  await finish(page)
})

/**
 * Waits until a model has run, and until the browser's history has followed.
 * @param {TestPage} page
 * @param {{name: string, facts: string, number: number}} model number: of those opened here, 0: the demo model
 */
const showsModel = (page, model) =>
  page.waitForFunction(({ name, facts, number }) => {
    const entry = history.state.model ?? 0
    return (
      document.getElementById('model-name').textContent === name &&
      document.getElementById('model-facts').textContent.includes(facts) &&
      !document.body.classList.contains('dim') &&
      (entry && Math.round(entry - performance.timeOrigin)) === number
    )
  }, model)

test('Back leads to the model before, and to saved maps; settings are those of the entry; a model of one’s own stays', async () => {
  const page = await browser.open(),
    reference = join(repository, 'tests/vectors/vit/hf_vit')
  const shows = (/** @type {Parameters<typeof showsModel>[1]} */ model) => showsModel(page, model),
    demo = { name: await text(page, 'model-name'), facts: '5 layers, 4 heads', number: 0 },
    maps = { name: 'own.npy', facts: '2 layers, 1 heads, 5 tokens', number: 2 }
  await page.click('#cls')
  await page.waitForFunction(() => location.hash.includes('q=cls'))
  await page.setInputFiles(
    '#model-files',
    ['config.json', 'model.safetensors'].map((name) => join(reference, name))
  )
  const name = /** @type {string} */ (
      await (
        await page.waitForFunction((demo) => {
          const { textContent } = document.getElementById('model-name')
          return textContent !== demo && textContent
        }, demo.name)
      ).jsonValue()
    ),
    own = { name, facts: await text(page, 'model-facts'), number: 1 }
  await shows(own)
  await page.setInputFiles('#model-files', [await ownMaps(0.2)])
  await shows(maps)
  for (const model of [own, demo]) {
    await page.goBack()
    await shows(model)
  }
  assert.match(await page.evaluate(() => location.hash), /q=cls/) // as it was before the other model
  assert.equal(await page.getAttribute('#cls', 'aria-pressed'), 'true')
  assert.equal(await page.getAttribute('#demo-model', 'hidden'), '')
  await page.goForward()
  await shows(own)
  await page.goForward()
  await shows(maps)
  assert.equal(await page.getAttribute('#demo-model', 'hidden'), null)
  await page.click('#tab-matrix') // an entry of the maps: Back stays on them
  await page.waitForFunction(() => location.hash.includes('v=matrix'))
  await page.goBack()
  await page.waitForSelector('#tab-heads[aria-selected=true]')
  await shows(maps)
  await finish(page)
})
