/* Tokenizers in the package: the ids of the vectors, truncation, the texts of ids, sentences. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { packageFolder, vectors } from '../package.js'

const { createTokenizer } = await import(pathToFileURL(join(packageFolder, 'tokenizer.js')).href),
  folder = join(vectors, 'tokenizer'),
  cases = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8'))

/**
 * @param {string} kind
 * @param {string[]} names
 */
const open = (kind, ...names) =>
  createTokenizer(
    Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, kind, name))]))
  )

for (const [kind, ...names] of [
  ['clip', 'tokenizer.json'],
  ['clip', 'vocab.json', 'merges.txt'],
  ['gpt2', 'tokenizer.json'],
  ['gemma', 'tokenizer.json']
])
  test(`${kind}, ${names}: the ids of the vectors`, async () => {
    const tokenizer = await open(kind, ...names)
    assert.ok(cases[kind].length > 30)
    for (const { text, ids } of cases[kind])
      assert.deepEqual([...tokenizer.encode(text).ids], ids, text)
  })

test('what a tokenizer says of itself and of a text', async () => {
  const tokenizer = await open('clip', 'tokenizer.json'),
    { kind, vocabulary, begin, end, padding } = tokenizer.info
  assert.equal(kind, 'byte-level BPE')
  assert.deepEqual([begin, end, padding], [vocabulary - 2, vocabulary - 1, vocabulary - 1])
  const all = tokenizer.encode('A photo of'),
    some = tokenizer.encode('A photo of', { length: 3 })
  assert.deepEqual(all.tokens, ['<|startoftext|>', 'a', 'photo', 'of', '<|endoftext|>'])
  assert.equal(all.whole, 5)
  assert.deepEqual([...some.ids], [begin, all.ids[1], end])
  assert.equal(some.whole, 5)
})

test('sentences', async () => {
  await assert.rejects(createTokenizer({ 'spiece.model': new Uint8Array(9) }), {
    status: 'UNSUPPORTED',
    message: /^spiece\.model: this kind of tokenizer is not supported/
  })
  await assert.rejects(createTokenizer({}), {
    status: 'INVALID_FILE',
    message: /^tokenizer: no file of one beside the model/
  })
  await assert.rejects(createTokenizer({}, { base: 'file:///nowhere/' }), {
    status: 'IO',
    message: /^heed-all(-relaxed)?\.wasm: cannot be loaded/
  })
  const tokenizer = await open('gemma', 'tokenizer.json')
  assert.throws(() => tokenizer.encode('a'.repeat(16385)), {
    status: 'INVALID_ARGUMENT',
    message: 'text: too long (found 16385 bytes, expected at most 16384)'
  })
  assert.equal(tokenizer.encode('a'.repeat(16384)).whole > 1, true)
  assert.throws(() => tokenizer.encode('a', { length: 1 }), {
    message: 'text: no room for its ids (found 1, expected at least 2)'
  })
  // Nothing is converted: neither what is no text, nor what UTF-8 has no bytes for.
  for (const [text, found] of /** @type {[any, string][]} */ ([
    [undefined, 'undefined'],
    [7, 'number'],
    ['a\ud800b', 'half of a surrogate pair'],
    ['\udc00', 'half of a surrogate pair']
  ]))
    assert.throws(() => tokenizer.encode(text), {
      status: 'INVALID_ARGUMENT',
      message: new RegExp(`^text: invalid text \\(found ${found},`)
    })
  assert.equal(tokenizer.encode('\u{1f600}').whole > 1, true)
  for (const length of /** @type {any[]} */ ([0, -1, 2.5, NaN, '77', 2n]))
    assert.throws(() => tokenizer.encode('a', { length }), {
      status: 'INVALID_ARGUMENT',
      message: `text: invalid length (found ${length}, expected a whole number of ids)`
    })
})
