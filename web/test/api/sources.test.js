/* Where a model's bytes come from: what is no file is refused at once, and an index names files of
 * its own folder alone. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import fs from 'node:fs'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { pathToFileURL } from 'node:url'
import {
  createRuntime,
  demoModel,
  HeedError,
  look,
  packageFolder,
  release,
  repository
} from '../package.js'

const demo = join(repository, 'runtime/demo/model'),
  index = 'model.safetensors.index.json'
/**
 * @param {string} status
 * @param {RegExp | string} sentence
 */
const fails = (status, sentence) => (/** @type {Error} */ error) =>
  error instanceof HeedError &&
  error.status === status &&
  /** @type {any} */ (sentence).test(error.message)
const modes = { direct: { threads: 1 }, worker: { threads: 1, worker: true } }
/** @type {string} */
let folder

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'heed-sources-'))
})
after(() => rmSync(folder, { recursive: true }))

/**
 * A folder with these files; null makes a FIFO.
 * @param {string} name
 * @param {string[]} files
 */
function made(name, files) {
  const path = join(folder, name)
  mkdirSync(path)
  for (const [file, text] of Object.entries(files))
    text === null
      ? execFileSync('mkfifo', [join(path, file)])
      : writeFileSync(join(path, file), text)
  return path
}

/**
 * What a script prints, and the ms of processor time that it took; run with a runtime in a process of
 * its own, which may hang.
 * @param {string} script
 * @param {{threads: number, } | { threads: number, worker: boolean}} options
 */
function inProcess(script, options) {
  const whole = `import { truncateSync } from 'node:fs'
    import { createRuntime } from ${JSON.stringify(pathToFileURL(join(packageFolder, 'index.js')).href)}
    const runtime = await createRuntime(${JSON.stringify(options)}), tell = ({ name, status, message }) => console.log(name, status, message), start = process.cpuUsage()
    ${script}
    const { user, system } = process.cpuUsage(start)
    console.log((user + system) / 1000)
    runtime.close()`
  return execFileSync(process.execPath, ['--input-type=module', '-e', whole], {
    timeout: 20000,
    encoding: 'utf8'
  }).split('\n')
}

for (const [mode, options] of Object.entries(modes)) {
  test(`what is no file is refused at once (${mode})`, () => {
    const fifo = made(
      `fifo-${mode}`,
      /** @type {any} */ ({ 'config.json': null, 'model.safetensors': '' })
    )
    for (const [source, what] of [
      [
        fifo,
        /^HeedError IO config\.json: not a regular file \(found a folder, a FIFO or a device, expected a file\) at .*config\.json$/
      ],
      [join(fifo, 'config.json'), /^HeedError IO .*: not a regular file/],
      ['/dev/zero', /^HeedError IO .*: not a regular file/]
    ]) {
      const [said, took] = inProcess(
        `await runtime.loadModel(${JSON.stringify(source)}).then(() => console.log('loaded'), tell)`,
        options
      )
      assert.match(said, /** @type {any} */ (what))
      assert.ok(Number(took) < 1000, `${took} ms`)
    }
  })

  const outside = [
    '../outside.safetensors',
    '/etc/passwd.safetensors',
    '..\\outside.safetensors',
    'sub\\x.safetensors',
    'C:outside.safetensors',
    'C:\\outside.safetensors',
    '\\\\server\\share\\x.safetensors',
    'a\0b.safetensors',
    'a\nb.safetensors',
    '\ud800.safetensors',
    '',
    '.safetensors',
    '..',
    '..\\..\\..\\..\\etc\\passwd',
    'model.bin',
    5,
    null,
    ['x.safetensors'],
    { toString: 'x.safetensors' }
  ]
  test(`an index names files of its own folder alone (${mode})`, async () => {
    const runtime = await createRuntime(options),
      whole = made(
        `outside-${mode}`,
        /** @type {any} */ ({ 'config.json': '{}', 'b.safetensors': '' })
      ),
      opened = /** @type {string[]} */ ([])
    const { openSync: real } = fs
    fs.openSync = (path, ...rest) => {
      opened.push(String(path))
      return real(path, ...rest)
    }
    syncBuiltinESMExports()
    try {
      for (const name of outside) {
        writeFileSync(
          join(whole, index),
          JSON.stringify({ weight_map: { a: 'b.safetensors', b: name } })
        )
        await assert.rejects(
          runtime.loadModel(whole),
          fails(
            'INVALID_FILE',
            /^model\.safetensors\.index\.json: weight_map is not valid \(found .+, expected 1 to 512 files NAME\.safetensors\)$/
          ),
          JSON.stringify(name)
        )
      }
      assert.deepEqual(
        opened.filter((path) => !/\/(config\.json|model\.safetensors\.index\.json)$/.test(path)),
        []
      )
    } finally {
      fs.openSync = real
      syncBuiltinESMExports()
      runtime.close()
    }
  })

  test(`an index that is none is refused with a sentence (${mode})`, async () => {
    const runtime = await createRuntime(options),
      whole = made(`none-${mode}`, /** @type {any} */ ({ 'config.json': '{}' })),
      many = Object.fromEntries(
        Array.from({ length: 513 }, (_, i) => [`t${i}`, `s${i}.safetensors`])
      )
    for (const [text, what] of [
      ['null', /weight_map is not valid \(found "null", expected/],
      ['{}', /weight_map is not valid \(found "\{\}"/],
      ['{"weight_map": 5}', /weight_map is not valid \(found 5, expected/],
      ['{"weight_map": {}}', /weight_map is not valid \(found Object/],
      ['{"weight_map"', /weight_map is not valid \(found "\{\\"weight_map\\"", expected/],
      [
        JSON.stringify({ weight_map: many }),
        /weight_map is not valid \(found 513, expected 1 to 512 files/
      ]
    ]) {
      writeFileSync(join(whole, index), /** @type {any} */ (text))
      await assert.rejects(
        runtime.loadModel(whole),
        fails('INVALID_FILE', what),
        /** @type {any} */ (text).slice(0, 40)
      )
    }
    writeFileSync(join(whole, index), '')
    truncateSync(join(whole, index), 3e9)
    const { rss } = process.memoryUsage()
    await assert.rejects(
      runtime.loadModel(whole),
      fails('INVALID_FILE', /weight_map is not valid \(found "3000000000 bytes"/)
    )
    assert.ok(process.memoryUsage().rss - rss < 5e7)
    runtime.close()
  })

  test(`shards of plain names open, also those that an address would read otherwise (${mode})`, async () => {
    const runtime = await createRuntime(options),
      name = 'a %2e%2e#1?.safetensors',
      whole = made(`plain-${mode}`, /** @type {any} */ ({}))
    for (const file of ['config.json', 'preprocessor_config.json'])
      copyFileSync(join(demo, file), join(whole, file))
    copyFileSync(join(demo, 'model.safetensors'), join(whole, name))
    const single = await runtime.loadModel(demoModel),
      { found } = await single.tensors()
    writeFileSync(
      join(whole, index),
      JSON.stringify({ weight_map: Object.fromEntries(found.map((tensor) => [tensor.name, name])) })
    )
    const model = await runtime.loadModel(whole)
    assert.equal(model.info.parameters, single.info.parameters)
    runtime.close()
  })

  test(`over HTTP nothing outside of the folder is asked for (${mode})`, async () => {
    const asked = /** @type {(string | undefined)[]} */ ([]),
      server = createServer(({ url }, response) => {
        asked.push(url)
        response
          .writeHead(url === `/m/${index}` ? 200 : 404)
          .end(
            url === `/m/${index}`
              ? JSON.stringify({ weight_map: { a: '..\\secret.safetensors' } })
              : ''
          )
      })
    await new Promise((done) => server.listen(0, 'localhost', () => done(null)))
    const runtime = await createRuntime(options)
    await assert.rejects(
      runtime.loadModel(`http://localhost:${/** @type {any} */ (server.address()).port}/m/`),
      fails('INVALID_FILE', /weight_map is not valid \(found "\.\.\\\\secret\.safetensors"/)
    )
    assert.deepEqual(asked.sort(), [
      '/m/config.json',
      `/m/${index}`,
      '/m/open_clip_config.json',
      '/m/preprocessor_config.json',
      '/m/processor_config.json'
    ])
    runtime.close()
    server.close()
    server.closeAllConnections?.()
  })

  test(`processor_config.json: image_processor inside it says how pictures are prepared (${mode})`, async () => {
    const micro = join(repository, 'tests/vectors/vit/micro_32'),
      processor = {
        image_processor_type: 'CLIPImageProcessor',
        image_mean: [0.1, 0.2, 0.3],
        size: 48,
        crop_size: 32
      },
      text = (/** @type {unknown} */ value) => new TextEncoder().encode(JSON.stringify(value)),
      weights = readFileSync(join(micro, 'model.safetensors')),
      config = readFileSync(join(micro, 'config.json')),
      old = { weights, config, preprocessor: text(processor) },
      stale = text({ size: 16 }),
      nested = text({ image_processor: processor, processor_class: 'CLIPProcessor' }),
      picture = { data: new Uint8Array(57 * 40 * 3).map((_, i) => i * 37), width: 57, height: 40 },
      served = new Map([
        ['config.json', config],
        ['model.safetensors', weights],
        ['processor_config.json', nested]
      ]),
      server = createServer(({ url = '' }, response) => {
        const file = served.get(url.replace('/m/', ''))
        response.writeHead(file ? 200 : 404).end(file)
      })
    await new Promise((done) => server.listen(0, 'localhost', () => done(null)))
    const runtime = await createRuntime(options),
      address = `http://localhost:${/** @type {any} */ (server.address()).port}/m/`,
      answerOf = async (/** @type {any} */ source) => {
        const model = await runtime.loadModel(source),
          session = model.createSession(),
          { logits, region } = await session.run(picture)
        return {
          logits: [.../** @type {Float32Array} */ (logits)],
          region,
          assumed: model.info.assumed
        }
      },
      expected = await answerOf(old),
      other = await answerOf({ weights, config })
    assert.equal(expected.assumed, null)
    assert.equal(expected.region?.y, (8 * 40) / 48)
    assert.notDeepEqual(other.logits, expected.logits)
    for (const source of [
      { weights, config, processor: nested },
      { weights, config, processor: nested, preprocessor: stale },
      { ...old, processor: text({ processor_class: 'CLIPProcessor' }) },
      { 'model.safetensors': weights, 'config.json': config, 'processor_config.json': nested },
      address,
      `${address}model.safetensors`
    ])
      assert.deepEqual(await answerOf(source), expected)
    const refused = await runtime.loadModel({
      weights,
      config,
      processor: text({
        image_processor: { image_processor_type: 'CLIPImageProcessor', size: { longest_edge: 64 } }
      })
    })
    assert.equal(refused.info.layers, 2)
    await assert.rejects(
      refused.createSession().run(picture),
      fails('UNSUPPORTED', /processor_config.json: size with a longest_edge is not supported/)
    )
    const unknown = await answerOf({
      weights,
      config,
      processor: text({ image_processor: { image_processor_type: 'UnknownImageProcessor' } })
    })
    assert.match(String(unknown.assumed), /preprocessing of UnknownImageProcessor, read as that of/)
    runtime.close()
    server.close()
    server.closeAllConnections?.()
  })

  test(`open_clip's folders and weights by address: the files beside them are read (${mode})`, async () => {
    const files = join(repository, 'tests/vectors/vit/open_clip'),
      served = new Map([
        ['/m/open_clip_config.json', 'open_clip_config.json'],
        ['/m/open_clip_model.safetensors', 'model.safetensors'],
        ['/closed/any.safetensors', 'model.safetensors'],
        ['/busy/any.safetensors', 'model.safetensors'],
        ['/down/any.safetensors', 'model.safetensors']
      ]),
      refusals = /** @type {Record<string, number>} */ ({ closed: 403, busy: 429, down: 503 })
    const server = createServer(({ url = '' }, response) => {
      const file = served.get(url.split('?')[0])
      response
        .writeHead(file ? 200 : (refusals[url.split('/')[1]] ?? 404))
        .end(file && readFileSync(join(files, file)))
    })
    await new Promise((done) => server.listen(0, 'localhost', () => done(null)))
    const runtime = await createRuntime(options),
      address = `http://localhost:${/** @type {any} */ (server.address()).port}`,
      expected = (await runtime.loadModel(files)).info
    for (const path of ['m/', 'm/open_clip_model.safetensors?download=true'])
      assert.deepEqual((await runtime.loadModel(`${address}/${path}`)).info, expected, path)
    await assert.rejects(
      runtime.loadModel(`${address}/closed/any.safetensors?signed`), // a server that refuses the others
      /cannot infer the number of heads/
    )
    for (const path of ['busy', 'down']) // where a file may be, but does not come
      await assert.rejects(
        runtime.loadModel(`${address}/${path}/any.safetensors`),
        fails('IO', new RegExp(`config.json: download failed \\(found HTTP ${refusals[path]},`))
      )
    runtime.close()
    server.close()
    server.closeAllConnections?.()
  })
}

test('a name on a hub is asked for there, and only where the caller says so', async () => {
  const asked = /** @type {string[]} */ ([]),
    server = createServer(({ url = '' }, response) => {
      asked.push(url)
      const [, name] = /^\/acme\/shapes\.v1\/resolve\/(?:main|v2)\/([\w.]+)$/.exec(url) ?? [],
        path = name && join(demo, name)
      if (path && fs.existsSync(path)) response.end(readFileSync(path))
      else response.writeHead(404).end()
    })
  server.keepAliveTimeout = 60000 // on a slow machine, a connection that ends is one that is asked again
  await new Promise((done) => server.listen(0, 'localhost', () => done(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address()),
    hub = `http://localhost:${port}/`,
    runtime = await createRuntime({ threads: 1 })
  try {
    const { info } = await runtime.loadModel('acme/shapes.v1', { hub })
    assert.equal(info.layers, 5)
    assert.ok(asked.includes('/acme/shapes.v1/resolve/main/model.safetensors'))
    await runtime.loadModel('acme/shapes.v1@v2', { hub: new URL(hub) })
    assert.ok(asked.includes('/acme/shapes.v1/resolve/v2/model.safetensors'))
    const { length } = asked
    await assert.rejects(runtime.loadModel('acme/shapes.v1'), { status: 'IO' })
    assert.equal(asked.length, length)
    for (const name of ['shapes', 'a/b/c', '../b', 'a/b@../c', 'https://a/b', new Uint8Array(8)])
      await assert.rejects(
        runtime.loadModel(/** @type {any} */ (name), { hub }),
        fails('INVALID_ARGUMENT', /no name on a hub .*expected owner\/name/)
      )
    const found = await look(
      { data: new Uint8Array(4 * 224 * 224), width: 224, height: 224 },
      { model: 'acme/shapes.v1', hub }
    )
    assert.equal(found.info.layers, 5)
  } finally {
    await release()
    runtime.close()
    server.close()
    server.closeAllConnections?.()
  }
})

test('a file beside weights that is there and cannot be read is an error, not a file less', async () => {
  const folder = made('beside', /** @type {any} */ ({})),
    runtime = await createRuntime({ threads: 1 })
  copyFileSync(join(demo, 'model.safetensors'), join(folder, 'model.safetensors'))
  mkdirSync(join(folder, 'preprocessor_config.json'))
  await assert.rejects(
    runtime.loadModel(join(folder, 'model.safetensors')),
    fails('IO', /preprocessor_config.json: not a regular file/)
  )
  runtime.close()
})

/* The demo model's weights after 5 MB that nothing reads: more than is held of a file at a time. */
function paddedWeights() {
  const bytes = readFileSync(join(demo, 'model.safetensors')),
    start = 8 + Number(bytes.readBigUInt64LE()),
    pad = 5e6,
    header = JSON.parse(bytes.subarray(8, start))
  for (const tensor of Object.values(header))
    if (tensor.data_offsets)
      tensor.data_offsets = tensor.data_offsets.map((/** @type {any} */ at) => at + pad)
  const text = Buffer.from(
      JSON.stringify({ ...header, pad: { dtype: 'F32', shape: [pad / 4], data_offsets: [0, pad] } })
    ),
    length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  return Buffer.concat([length, text, Buffer.alloc(pad), bytes.subarray(start)])
}

test('a file that is cut short while it is read is an error, not a wait', () => {
  const whole = made('cut', /** @type {any} */ ({ 'model.safetensors': paddedWeights() }))
  copyFileSync(join(demo, 'config.json'), join(whole, 'config.json'))
  const [said] = inProcess(
    `const model = await runtime.loadModel(${JSON.stringify(whole)})
    truncateSync(${JSON.stringify(join(whole, 'model.safetensors'))}, 1000)
    await model.createSession().ready.then(() => console.log('ready'), tell)`,
    { threads: 1 }
  )
  assert.match(said, /^HeedError IO .*reading failed/)
})

test('a data: address is read, not fetched: a policy may forbid that, and bundlers make some', async () => {
  const address = (/** @type {string} */ name) =>
      `data:application/octet-stream;base64,${readFileSync(join(demo, name)).toString('base64')}`,
    config = `data:application/json,${encodeURIComponent(readFileSync(join(demo, 'config.json'), 'utf8'))}`,
    { fetch } = globalThis,
    runtime = await createRuntime({ threads: 1 })
  globalThis.fetch = () => Promise.reject(new TypeError('Failed to fetch'))
  try {
    for (const source of [
      { weights: address('model.safetensors'), config: address('config.json') },
      { weights: new URL(address('model.safetensors')), config }
    ])
      assert.equal((await runtime.loadModel(source)).info.classes, 10)
    await assert.rejects(
      runtime.loadModel({ weights: 'https://example.org/m/model.safetensors' }),
      fails(
        'IO',
        /^model\.safetensors: reading failed \(found "Failed to fetch"\) at https:\/\/example\.org\/m\/model\.safetensors$/
      )
    )
    await assert.rejects(
      createRuntime({ threads: 1, base: 'https://example.org/heed' }),
      fails('IO', /\(found "Failed to fetch: https:\/\/example\.org\/heed\/heed.*\.wasm", expected/)
    )
  } finally {
    globalThis.fetch = fetch
    runtime.close()
  }
})

test('a download that breaks off is named with its address, in the first session and in the next', async () => {
  const weights = readFileSync(join(demo, 'model.safetensors')),
    config = readFileSync(join(demo, 'config.json'))
  let cut = true
  const server = createServer((request, response) => {
    if (!request.url?.endsWith('model.safetensors')) {
      const found = request.url?.endsWith('/config.json')
      return void response.writeHead(found ? 200 : 404).end(found ? config : '')
    }
    response.writeHead(200, { 'content-length': weights.length })
    if (!cut) return void response.end(weights)
    response.write(weights.subarray(0, 65536), () => response.destroy())
  })
  await new Promise((done) => server.listen(0, 'localhost', () => done(null)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address()),
    folder = `http://localhost:${port}/`,
    broken = {
      status: 'IO',
      message: new RegExp(`^model\\.safetensors: reading failed \\(found ".+"\\) at ${folder}`)
    }
  const runtime = await createRuntime({ threads: 1 })
  try {
    await assert.rejects(runtime.loadModel(folder), broken)
    await assert.rejects(
      runtime.loadModel({ weights: await fetch(`${folder}model.safetensors`), config }),
      broken
    )
    cut = false
    const model = await runtime.loadModel(folder),
      first = model.createSession({ taps: 'all' }),
      run = async (/** @type {import('heed').Session} */ session) =>
        (await session.run(new Float32Array(3 * 224 * 224))).logits
    await first.ready
    cut = true
    // sessions share their weights: one more fetches nothing
    const second = model.createSession()
    for (const [at, logit] of Object.entries((await run(second)) ?? []))
      assert.ok(Math.abs(logit - /** @type {any} */ (await run(first))[at]) < 1e-4)
    first.close()
    second.close()
    await runtime.memory() // they are closed by then
    await assert.rejects(model.createSession().ready, broken)
  } finally {
    runtime.close()
    server.close()
  }
})
