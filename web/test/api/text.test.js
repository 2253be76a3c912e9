/* Text towers in the package (heed/text): against the float64 results of tests/vectors/vit on every
 * level, beside an image against the native program; lengths, sentences, cancelling, memory. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { pathToFileURL } from 'node:url'
import v8 from 'node:v8'
import {
  createRuntime,
  demoModel,
  loadPage,
  native,
  packageFolder,
  repository,
  scalar,
  vectors
} from '../package.js'
import { writePng } from '../png.js'
import { distance, readSafetensors } from '../safetensors.js'
/** @import {Model, Runtime} from 'heed' */
/** @import {Texts, TextOptions} from 'heed/text' */

/** @type {typeof import('../../pages/shared/array_files.js')} */
const { safetensorsParts } = await loadPage('shared/array_files.js')

if (process.versions.node.startsWith('20.'))
  v8.setFlagsFromString('--experimental-wasm-relaxed-simd')
/** @type {typeof import('heed/text')} */
const { loadTexts } = await import(pathToFileURL(join(packageFolder, 'text.js')).href)

const folders = ['clip_text', 'siglip_text', 'open_clip_text', 'open_clip_text_openai', 'pe_text'],
  clip = join(vectors, 'vit/clip_text'),
  siglip = join(vectors, 'vit/siglip_text')
/** @type {Record<string, TextOptions>} */
const levels = {
  simd: { simd: 'simd', threads: 1 },
  'simd, two threads': { simd: 'simd', threads: 2 },
  relaxed: { threads: 1 },
  'relaxed, two threads': { threads: 2 },
  scalar,
  worker: { threads: 2, worker: true }
}
/** @type {Runtime} */
let runtime
/** @type {string} */
let scratch

before(async () => {
  runtime = await createRuntime({ threads: 1 })
  scratch = mkdtempSync(join(tmpdir(), 'heed-text-'))
})
after(() => {
  runtime.close()
  rmSync(scratch, { recursive: true })
})

/**
 * @param {string} status
 * @param {RegExp | string} message
 */
const fails = (status, message) => (/** @type {any} */ error) => {
  assert.equal(error.name, status === 'CANCELLED' ? 'AbortError' : 'HeedError')
  assert.equal(error.status, status, error.message)
  if (typeof message === 'string') assert.equal(error.message, message)
  else assert.match(error.message, message)
  return true
}

/**
 * @param {string} what
 * @param {ArrayLike<number> | null} found
 * @param {ArrayLike<number>} expected
 * @param {number} [most]
 */
function near(what, found, expected, most = 2e-5) {
  const off = distance(/** @type {ArrayLike<number>} */ (found), expected)
  assert.ok(off <= most, `${what}: ${off} from the reference`)
}

/**
 * Of a tensor [N, ...] the n-th part.
 * @param {{shape: number[], data: any}} tensor
 * @param {number} n
 */
function part({ shape, data }, n) {
  const size = data.length / shape[0]
  return data.subarray(n * size, (n + 1) * size)
}

/**
 * @param {Texts} texts
 * @param {Record<string, {shape: number[], data: any}>} io
 */
async function checkTexts(texts, io) {
  const [count] = io.input_ids.shape
  for (let n = 0; n < count; n++) {
    const found = await texts.run(part(io.input_ids, n))
    found.attention.forEach((map, layer) =>
      near(`attention ${layer} of ${n}`, map, part(io[`expect.text.attention.${layer}`], n))
    )
    assert.equal(found.attention.length, 2)
    near(`states of ${n}`, found.states, part(io['expect.text.last_hidden_state'], n))
    near(`embedding of ${n}`, found.embedding, part(io['expect.text_embeds'], n))
  }
}

/**
 * @param {Texts} texts
 * @param {Model} model
 * @param {Record<string, {shape: number[], data: any}>} io
 */
async function checkComparison(texts, model, io) {
  const [count, , height, width] = io.pixel_values.shape,
    ids = Array.from({ length: io.input_ids.shape[0] }, (_, n) => part(io.input_ids, n))
  for (let n = 0; n < count; n++) {
    const image = await texts.embedImage(model, part(io.pixel_values, n), { height, width }),
      found = await texts.compare(image, ids),
      expected = part(io['expect.logits_per_image'], n),
      share = Array.from(expected, (logit) =>
        texts.info.probability === 'sigmoid'
          ? 1 / (1 + Math.exp(-logit))
          : 1 / Array.from(expected, (other) => Math.exp(other - logit)).reduce((a, b) => a + b)
      )
    near('image', image.embedding, part(io['expect.image_embeds'], n))
    near('logits', found.logits, expected, 5e-5) // about ten times the cosines
    near('probabilities', found.probabilities, share)
    assert.deepEqual([found.rows, found.columns], [height / 4, width / 4])
  }
}

for (const [level, options] of Object.entries(levels))
  for (const folder of folders)
    test(`${folder}, ${level}: as in float64`, async (t) => {
      const at = join(vectors, 'vit', folder),
        texts = await loadTexts(at, options)
      t.after(() => texts.close())
      const { device, simd, threads, worker } = texts.info.runtime
      if (level.startsWith('relaxed') && simd !== 'relaxed') return t.skip('no relaxed SIMD here')
      assert.equal(worker, level === 'worker')
      assert.equal(threads, level.includes('two') || worker ? 2 : 1)
      if (level === 'scalar') assert.match(device, /scalar/)
      const model = await runtime.loadModel(at)
      for (const run of ['io', 'io_short']) {
        const io = readSafetensors(join(at, `${run}.safetensors`)).tensors
        await checkTexts(texts, io)
        await checkComparison(texts, model, io)
      }
      model.close()
    })

test('an image beside texts: the numbers of heed run --text', async (t) => {
  const width = 31,
    height = 22,
    data = Uint8Array.from(
      { length: 4 * width * height },
      (_, i) => (i * 37 + (i >> 5) * 11) & 255
    ),
    png = join(scratch, 'image.png'),
    out = join(scratch, 'out.json'),
    words = ['a cat', 'A  DOG', 'a cat of a dog of a cat of a dog of a cat']
  writeFileSync(png, writePng(data, width, height))
  const texts = await loadTexts(clip, { simd: 'simd', threads: 1 }),
    model = await runtime.loadModel(clip)
  t.after(() => texts.close())
  assert.equal(texts.info.tokenizer, 'byte-level BPE')
  for (const fit of /** @type {const} */ (['model', 'whole'])) {
    execFileSync(
      native,
      ['run', clip, png, ...words.flatMap((word) => ['--text', word]), '--fit', fit].concat([
        '--backend',
        'cpu',
        '--simd',
        'sse2',
        '--quiet',
        '--json',
        out
      ]),
      { stdio: 'ignore' }
    )
    const expected = JSON.parse(readFileSync(out, 'utf8')),
      image = await texts.embedImage(model, { data, width, height }, { fit }),
      found = await texts.compare(image, words)
    assert.deepEqual([found.rows, found.columns], expected.grid)
    for (const [i, one] of expected.texts.entries()) {
      const { ids, tokens, attention } = found.texts[i],
        heads = texts.info.heads
      assert.deepEqual([...ids], one.ids)
      assert.deepEqual(tokens, one.tokens)
      near('probability', [found.probabilities[i]], [one.probability], 5e-6)
      near('logit', [found.logits[i]], [one.logit], 5e-6)
      near('cosine', [found.cosines[i]], [one.cosine], 1e-6)
      near('similarity', found.similarity?.[i] ?? null, one.similarity, 2e-6)
      for (const { layer, head, rows } of one.attention)
        near('attention', part({ shape: [heads], data: attention[layer] }, head), rows.flat(), 2e-6)
    }
    assert.equal(found.texts[2].ids.length, 9)
    assert.equal(found.texts[2].whole, 16)
  }
})

test('SigLIP: a text is padded, each by itself, and patches have no similarity', async (t) => {
  const files = {
      weights: join(siglip, 'model.safetensors'),
      config: join(siglip, 'config.json')
    },
    texts = await loadTexts(files, {
      tokenizer: { 'tokenizer.json': join(clip, 'tokenizer.json') }
    }),
    model = await runtime.loadModel(files)
  t.after(() => texts.close())
  assert.equal(texts.info.probability, 'sigmoid')
  const image = await texts.embedImage(model, new Float32Array(3 * 20 * 20).fill(0.5)),
    both = await texts.compare(image, ['a cat', 'a dog']),
    alone = await texts.compare(image, ['a dog'])
  assert.equal(both.probabilities[1], alone.probabilities[0])
  assert.equal(image.patches, null)
  assert.equal(both.similarity, null)
  const { ids, embedding } = both.texts[0],
    padded = new Int32Array(9).fill(29)
  padded.set(ids)
  assert.deepEqual((await texts.run(padded)).embedding, embedding)
})

/* A tokenizer of SigLIP 2's kind: it has upper-case letters and lowers nothing itself. */
function gemmaTokenizer() {
  const special = ['<pad>', '<eos>', '<bos>', '<unk>'],
    tokens = [...special, ...'\u2581acotdgACOTDG', 'ca', 'cat', '\u2581cat', '\u2581a']
  return {
    added_tokens: special.map((content, id) => ({ id, content, special: true })),
    normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
    pre_tokenizer: {
      type: 'Split',
      pattern: { String: ' ' },
      behavior: 'MergedWithPrevious',
      invert: false
    },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '<eos>', type_id: 0 } }
      ],
      pair: [],
      special_tokens: { '<eos>': { id: '<eos>', ids: [1], tokens: ['<eos>'] } }
    },
    model: {
      type: 'BPE',
      unk_token: '<unk>',
      fuse_unk: true,
      byte_fallback: true,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: ['c a', 'ca t', '\u2581 cat', '\u2581 a']
    }
  }
}

/* vocab: <pad> <eos> <bos> <unk> _ a c o t d g A C O T D G ca cat _cat _a */
const lowered = [5, 19, 1],
  asWritten = [11, 4, 12, 11, 14, 1]
for (const [
  name,
  settings,
  expected,
  says
] of /** @type {[string, object | null, number[], boolean][]} */ ([
  ['do_lower_case', { do_lower_case: true }, lowered, false],
  ['the class of SigLIP 2', { tokenizer_class: 'Siglip2Tokenizer' }, lowered, false],
  ['do_lower_case of false', { do_lower_case: false }, asWritten, false],
  ['no tokenizer_config.json', null, asWritten, true]
]))
  test(`SigLIP 2's texts in lower case: ${name}`, async (t) => {
    const folder = join(scratch, name.replaceAll(/\W/g, '-')),
      write = (/** @type {string} */ file, /** @type {object} */ json) =>
        writeFileSync(join(folder, file), JSON.stringify(json))
    mkdirSync(folder)
    for (const file of ['config.json', 'model.safetensors'])
      copyFileSync(join(siglip, file), join(folder, file))
    write('tokenizer.json', gemmaTokenizer())
    if (settings) write('tokenizer_config.json', settings)
    const texts = await loadTexts(folder, { threads: 1 }),
      model = await runtime.loadModel(folder)
    t.after(() => {
      texts.close()
      model.close()
    })
    const image = await texts.embedImage(model, new Float32Array(3 * 20 * 20).fill(0.5)),
      found = await texts.compare(image, ['a cat', 'A CAT'])
    assert.deepEqual([...found.texts[0].ids], lowered)
    assert.deepEqual([...found.texts[1].ids], expected)
    assert.equal(found.probabilities[0] === found.probabilities[1], expected === lowered)
    assert.equal(/tokenizer_config/.test(texts.info.assumed ?? ''), says, `${texts.info.assumed}`)
  })

/* The tower with positions for 40 tokens, the first again and again. */
async function longTower() {
  const { tensors } = readSafetensors(join(clip, 'model.safetensors')),
    config = JSON.parse(readFileSync(join(clip, 'config.json'), 'utf8')),
    name = 'text_model.embeddings.position_embedding.weight',
    width = 32
  tensors[name] = {
    shape: [40, width],
    data: Float32Array.from({ length: 40 * width }, (_, i) => tensors[name].data[i % (9 * width)])
  }
  config.text_config.max_position_embeddings = 40
  return {
    'model.safetensors': new Uint8Array(
      await new Blob(safetensorsParts(/** @type {any} */ (tensors), {})).arrayBuffer()
    ),
    'config.json': new TextEncoder().encode(JSON.stringify(config))
  }
}

test('texts of any length, in any order: the same numbers, and memory that does not grow', async (t) => {
  const texts = await loadTexts(await longTower(), { threads: 1 }),
    ids = (/** @type {number} */ count) =>
      Int32Array.from({ length: count }, (_, i) => (i === count - 1 ? 29 : 2 + (i % 20)))
  t.after(() => texts.close())
  const { used } = await texts.memory(),
    short = await texts.run(ids(5)),
    one = (await texts.memory()).used
  assert.ok(one > used)
  const long = await texts.run(ids(40)),
    most = (await texts.memory()).used
  assert.ok(most > one)
  for (const count of [5, 16, 17, 33, 40, 1]) {
    const { embedding, attention } = await texts.run(ids(count))
    assert.equal(attention[1].length, 4 * count * count)
    if (count === 5) near('5 again', embedding, short.embedding ?? [], 1e-6)
    if (count === 40) near('40 again', embedding, long.embedding ?? [], 1e-6)
    assert.equal((await texts.memory()).used, most, `${count} tokens`)
  }
  const results = await Promise.all([7, 3, 9].map((count) => texts.run(ids(count))))
  assert.deepEqual(
    results.map((result) => result.ids.length),
    [7, 3, 9]
  )
})

test('memory of the image’s runtime is back after close', async () => {
  const model = await runtime.loadModel(clip),
    { used } = await runtime.memory()
  for (let i = 0; i < 3; i++) {
    const texts = await loadTexts(clip, { threads: 1 }),
      pixels = new Float32Array(3 * 20 * 20)
    await texts.embedImage(model, pixels)
    await texts.embedImage(model, new Float32Array(3 * 8 * 20), { height: 8, width: 20 })
    assert.ok((await runtime.memory()).used > used)
    texts.close()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal((await runtime.memory()).used, used)
    await assert.rejects(texts.memory(), fails('INVALID_ARGUMENT', /^texts: already closed/))
  }
  model.close()
})

test('only the tower is read', async (t) => {
  const { tensors } = readSafetensors(join(clip, 'model.safetensors')),
    bytes = Object.entries(tensors)
      .filter(([name]) => name.startsWith('text_'))
      .reduce((sum, [, { data }]) => sum + data.byteLength, 0)
  /* The image tower's tensors are of a kind that nobody reads. */
  const file = readFileSync(join(clip, 'model.safetensors')),
    size = Number(file.readBigUInt64LE(0)),
    header = file.toString('utf8', 8, 8 + size)
  file.write(header.replace(/("vision_[^{]*\{"dtype":\s*")F32/g, '$1U32'), 8)
  const config = join(clip, 'config.json'),
    whole = await loadTexts(clip),
    alone = await loadTexts({ weights: file, config })
  t.after(() => {
    whole.close()
    alone.close()
  })
  assert.ok(file.includes('U32'))
  await assert.rejects(runtime.loadModel({ weights: file, config }), fails('UNSUPPORTED', /U32/))
  const ids = Int32Array.of(3, 4, 29)
  assert.deepEqual((await alone.run(ids)).embedding, (await whole.run(ids)).embedding)
  assert.equal(whole.info.weightBytes, bytes)
})

test('sources: bytes, an address of a folder, a Map with a tokenizer of two files', async () => {
  const names = ['model.safetensors', 'config.json', 'tokenizer.json'],
    bytes = Object.fromEntries(names.map((name) => [name, readFileSync(join(clip, name))]))
  for (const source of [
    bytes,
    new Map(Object.entries(bytes)),
    pathToFileURL(`${clip}/`),
    join(clip, 'model.safetensors')
  ]) {
    const texts = await loadTexts(source, { threads: 1 })
    assert.deepEqual((await texts.run('a cat')).tokens.slice(1, 3), ['a', 'cat'])
    texts.close()
  }
  const two = new Map(
      ['vocab.json', 'merges.txt'].map((name) => [
        name,
        readFileSync(join(vectors, 'tokenizer/clip', name))
      ])
    ),
    texts = await loadTexts(
      { weights: bytes['model.safetensors'], config: bytes['config.json'] },
      { tokenizer: two, threads: 1 }
    )
  assert.equal(texts.info.tokenizer, 'byte-level BPE')
  texts.close()
})

test('without a tokenizer texts are ids', async (t) => {
  const none = await loadTexts(join(vectors, 'vit/open_clip_text'), { threads: 1 })
  t.after(() => none.close())
  assert.equal(none.info.tokenizer, null)
  assert.equal((await none.run(Int32Array.of(3, 29))).tokens.join(), '3,29')
  await assert.rejects(
    none.run('a cat'),
    fails('INVALID_FILE', /^tokenizer: no file of one beside the model/)
  )
  const unigram = await loadTexts(siglip, {
    tokenizer: { 'spiece.model': new Uint8Array(9) },
    threads: 1
  })
  t.after(() => unigram.close())
  await assert.rejects(
    unigram.run('a cat'),
    fails('UNSUPPORTED', /^spiece\.model: this kind of tokenizer is not supported/)
  )
  await unigram.run(new Int32Array(9).fill(1))
})

test('sentences: what cannot be loaded', async () => {
  await assert.rejects(
    loadTexts(join(vectors, 'vit/timm')),
    fails('UNSUPPORTED', /no text tower \(expected that of CLIP or SigLIP, with token_embedding\)$/)
  )
  await assert.rejects(
    loadTexts(join(vectors, 'vit/hf_vit')),
    fails(
      'UNSUPPORTED',
      'config.json: no text tower (found model_type vit, expected clip or siglip)'
    )
  )
  const trunk = {
    'model.safetensors': readFileSync(join(vectors, 'vit/open_clip_text/model.safetensors')),
    'open_clip_config.json': new TextEncoder().encode(
      '{"model_cfg": {"embed_dim": 7, "text_cfg": {"timm_model_name": "vit_base"}}}'
    )
  }
  await assert.rejects(
    loadTexts(trunk),
    fails('INVALID_FILE', /timm_model_name.*expected none in a text tower/)
  )
  await assert.rejects(
    loadTexts(clip, /** @type {any} */ ({ layers: 1 })),
    fails('INVALID_ARGUMENT', /^loadTexts: the option is not valid \(found "layers"/)
  )
  await assert.rejects(
    loadTexts(clip, { base: 'file:///nowhere/' }),
    fails('IO', /^heed-all(-relaxed)?\.wasm: cannot be loaded \(found ".+heed-all/)
  )
})

test('sentences: texts and ids', async (t) => {
  const folder = join(scratch, 'other')
  mkdirSync(folder)
  for (const name of ['config.json', 'model.safetensors'])
    copyFileSync(join(clip, name), join(folder, name))
  copyFileSync(join(vectors, 'tokenizer/clip/tokenizer.json'), join(folder, 'tokenizer.json'))
  const other = await loadTexts(folder, { threads: 1 }),
    texts = await loadTexts(clip, { threads: 1 })
  t.after(() => {
    other.close()
    texts.close()
  })
  await assert.rejects(
    other.run('a'),
    fails(
      'INVALID_FILE',
      'tokenizer: it does not fit the model (found id 622, expected ids below 30)'
    )
  )
  for (const id of [30, -1])
    await assert.rejects(
      texts.run(Int32Array.of(1, id)),
      fails('INVALID_ARGUMENT', `texts.run: id out of range (found ${id}, expected ids below 30)`)
    )
  for (const wrong of [new Int32Array(0), new Int32Array(10), [1, 2], 5, null, undefined])
    await assert.rejects(
      texts.run(/** @type {any} */ (wrong)),
      fails('INVALID_ARGUMENT', /^texts\.run: the text is not valid \(found .*1 to 9 ids\)$/)
    )
  await assert.rejects(texts.run('a'.repeat(16385)), fails('INVALID_ARGUMENT', /^text: too long/))
})

test('sentences: images and comparisons', async (t) => {
  const texts = await loadTexts(clip, { threads: 1 }),
    model = await runtime.loadModel(clip),
    plain = await runtime.loadModel(join(vectors, 'vit/timm')),
    image = await texts.embedImage(model, new Float32Array(3 * 20 * 20)),
    { embedding } = image
  t.after(() => [texts, model, plain].forEach((one) => one.close()))
  const refused = async (
    /** @type {any} */ promise,
    /** @type {RegExp} */ sentence,
    status = 'INVALID_ARGUMENT'
  ) => assert.rejects(promise, fails(status, sentence))
  for (const wrong of [[], 'a cat', undefined])
    await refused(
      texts.compare(image, /** @type {any} */ (wrong)),
      /^texts\.compare: the texts is not valid .*at least one text\)$/
    )
  for (const wrong of [null, {}, { embedding: embedding.slice(1) }, { ...image, rows: 1 }])
    await refused(
      texts.compare(/** @type {any} */ (wrong), ['a']),
      /^texts\.compare: the image is not valid .*an embedding of 7 numbers\)$/
    )
  const pixels = new Float32Array(3)
  await refused(
    texts.embedImage(/** @type {any} */ ({}), pixels),
    /^texts\.embedImage: the model is not valid/
  )
  await refused(texts.embedImage(model, pixels), /^run: invalid pixel_values/)
  await refused(texts.embedImage(model, pixels, { height: 3 }), /./)
  await refused(
    texts.embedImage(plain, pixels),
    /^texts\.embedImage: this model has no embedding of an image/,
    'UNSUPPORTED'
  )
  model.close()
  await refused(texts.embedImage(model, new Float32Array(3 * 20 * 20)), /closed/)
  texts.close()
  await refused(texts.run('a'), /^texts: already closed/)
  await refused(texts.embedImage(model, pixels), /^texts: already closed/)
})

for (const worker of [false, true])
  test(`cancelling${worker ? ' in a worker' : ''}`, async (t) => {
    const over = AbortSignal.abort()
    await assert.rejects(loadTexts(clip, { worker, signal: over }), fails('CANCELLED', /cancelled/))
    const texts = await loadTexts(clip, { worker, threads: 1 })
    t.after(() => texts.close())
    const { used } = await texts.memory()
    await assert.rejects(texts.run('a', { signal: over }), fails('CANCELLED', /cancelled/))
    assert.equal((await texts.memory()).used, used)
    assert.equal((await texts.run('a')).ids.length, 3)
    if (worker) return // what tells of a layer comes when so small a tower has run
    const stop = new AbortController()
    await assert.rejects(
      texts.run('a', {
        signal: stop.signal,
        onProgress: ({ phase }) => phase === 'run' && stop.abort()
      }),
      fails('CANCELLED', /cancelled/)
    )
    assert.equal((await texts.run('a')).ids.length, 3)
  })

test('the code of the READMEs and of docs/models.md runs as it stands, but for imports and names of files', async (t) => {
  const blocks = ['README.md', 'web/README.md', 'docs/models.md'].flatMap((name) =>
      [...readFileSync(join(repository, name), 'utf8').matchAll(/^```js\n([^]*?)^```/gm)].map(
        ([, block]) => block
      )
    ),
    [, look, ...rest] = blocks, // look: examples.test.js runs it in a page
    own = await createRuntime({ threads: 1 }),
    { image } = await own.scene(159),
    model = await own.loadModel(clip),
    run = async (/** @type {string} */ block) => {
      const lines = block
          .split('\n')
          .filter((line) => !line.startsWith('import '))
          .join('\n')
          .replaceAll("'models/clip/'", 'clip')
          .replace("'vit-base-patch16-224/'", 'demoModel')
          .replace('createRuntime()', 'createRuntime({ threads: 1 })'),
        names = [...lines.matchAll(/^const (?:(\w+)|\{([^}]*)\})/gm)].map(
          ([, one, some]) => one ?? some
        ),
        given = { createRuntime, loadTexts, demoModel, clip, canvas: image, runtime: own, model },
        known = Object.keys(given).filter(
          (name) =>
            !names
              .join()
              .split(/[,\s]+/)
              .includes(name)
        ),
        body = new Function(
          ...known,
          `return (async () => { ${lines}\nreturn { ${names.join(', ')} } })()`
        )
      return body(...known.map((name) => /** @type {any} */ (given)[name]))
    }
  t.after(() => own.close())
  assert.match(look, /await look\(/)
  assert.equal(rest.length, 3)
  const first = await run(blocks[0])
  assert.equal(first.attention.length, 5)
  first.runtime.close()
  const second = await run(rest[0])
  assert.equal(second.row.length, 197)
  for (const block of rest.slice(1)) {
    const { texts, similarity, probabilities } = await run(block)
    assert.equal(probabilities.length, 2)
    assert.equal(similarity.length, 2)
    texts.close()
  }
})
