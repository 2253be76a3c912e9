/* Writes small tokenizers of three kinds, and what the tokenizer of the npm package
 * @huggingface/transformers makes of some texts with them: cases.json, {folder: [{text, ids}]}.
 *
 *   npm install @huggingface/transformers    (in a folder of its own)
 *   node make.mjs FOLDER                      (that folder)
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const here = import.meta.dirname
const modules = createRequire(pathToFileURL(join(process.argv[2], 'x.js')))
const { PreTrainedTokenizer } = await import(modules.resolve('@huggingface/transformers'))

const corpus = `a photo of a cat, a photo of a dog. two dogs and three cats! it's raining; they're here
the quick brown fox jumps over the lazy dog. a drawing of the sea at night, 1998 and 2024, 50% off
ein Foto eines Hundes; une photo d'un café à Paris, très jolie. a small red house on a hill :-) ...`

/** The code points that stand for the 256 bytes. */
const plain = (b) => (b > 32 && b < 127) || (b > 160 && b < 256 && b !== 173)
let above = 256
const bytePoints = Array.from({ length: 256 }, (_, b) =>
  String.fromCodePoint(plain(b) ? b : above++)
)
const spell = (text) => [...new TextEncoder().encode(text)].map((b) => bytePoints[b])

/** Merges learnt from words: the most frequent pair, the first by name of several. */
function learn(words, count) {
  const merges = []
  while (merges.length < count) {
    const pairs = new Map()
    for (const word of words)
      for (let i = 0; i + 1 < word.length; i++) {
        const pair = `${word[i]} ${word[i + 1]}`
        pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
      }
    const [best, times] = [...pairs].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0] ?? []
    if (!times) break
    merges.push(best)
    const [left, right] = best.split(' ')
    words = words.map((word) => {
      const joined = []
      for (const part of word)
        if (joined.at(-1) === left && part === right) joined.push(joined.pop() + part)
        else joined.push(part)
      return joined
    })
  }
  return merges
}

const vocabularyOf = (tokens) =>
  Object.fromEntries([...new Set(tokens)].map((token, id) => [token, id]))
const special = (id, content, normalized = false) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized,
  special: true
})

const clipPattern =
  "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"
/** CLIP's tokenizer.json, vocab.json and merges.txt of these merges. */
export function clip(merges) {
  const letters = Array.from({ length: 256 }, (_, b) => b)
    .sort((a, b) => !plain(a) - !plain(b) || a - b)
    .map((b) => bytePoints[b])
  const vocab = vocabularyOf([
    ...letters,
    ...letters.map((l) => `${l}</w>`),
    ...merges.map((m) => m.replace(' ', '')),
    '<|startoftext|>',
    '<|endoftext|>'
  ])
  const begin = vocab['<|startoftext|>'],
    end = vocab['<|endoftext|>']
  return {
    json: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [special(begin, '<|startoftext|>', true), special(end, '<|endoftext|>')],
      normalizer: {
        type: 'Sequence',
        normalizers: [
          { type: 'NFC' },
          { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' },
          { type: 'Lowercase' }
        ]
      },
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [
          { type: 'Split', pattern: { Regex: clipPattern }, behavior: 'Removed', invert: true },
          { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true }
        ]
      },
      post_processor: {
        type: 'RobertaProcessing',
        sep: ['<|endoftext|>', end],
        cls: ['<|startoftext|>', begin],
        trim_offsets: false,
        add_prefix_space: false
      },
      decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: '<|endoftext|>',
        continuing_subword_prefix: '',
        end_of_word_suffix: '</w>',
        fuse_unk: false,
        vocab,
        merges
      }
    },
    vocab,
    merges: `#version: 0.2\n${merges.join('\n')}\n`
  }
}

function gpt2(merges) {
  const vocab = vocabularyOf([
    ...bytePoints,
    ...merges.map((m) => m.replace(' ', '')),
    '<|endoftext|>'
  ])
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [special(vocab['<|endoftext|>'], '<|endoftext|>')],
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true },
    post_processor: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: false },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      vocab,
      merges: merges.map((m) => m.split(' '))
    }
  }
}

/** SigLIP 2's, which is Gemma's: characters, bytes for those that have no token. */
function gemma(text, merges) {
  const bytes = Array.from(
    { length: 256 },
    (_, b) => `<0x${b.toString(16).toUpperCase().padStart(2, '0')}>`
  )
  const vocab = vocabularyOf([
    '<pad>',
    '<eos>',
    '<bos>',
    '<unk>',
    '\n\n',
    ...bytes,
    ...new Set(text),
    ...merges.map((m) => m.replace(' ', ''))
  ])
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: ['<pad>', '<eos>', '<bos>', '<unk>']
      .map((t) => special(vocab[t], t))
      .concat({ ...special(vocab['\n\n'], '\n\n'), special: false }),
    normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
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
      special_tokens: { '<eos>': { id: '<eos>', ids: [vocab['<eos>']], tokens: ['<eos>'] } }
    },
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' }
      ]
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: '<unk>',
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      vocab,
      merges
    }
  }
}

export const texts = [
  '',
  'a photo of a cat',
  'A Photo  of\ta\nDOG.',
  "it's they're we've I'm you'll he'd 'tis o'clock",
  '  leading and trailing  ',
  '1998 and 2024, 50% off!!! :-)',
  'café à Paris, très jolie',
  'cafe\u0301 a\u0300 Paris',
  'naïve ÄÖÜ ß İstanbul ΣΊΣΥΦ',
  'Å Å A\u030a Ω K',
  '東京の写真',
  '猫が好き。',
  '한국어 사진',
  '\u1112\u1161\u11ab\u1100\u116e\u11a8',
  'фото кошки',
  'صورة قطة',
  'תמונה של חתול',
  'बिल्ली क\u093c',
  'q\u0307\u0323 q\u0323\u0307 \u1e0b\u0323',
  '🐱 and 🐶',
  '👩‍👩‍👧',
  '½ ² Ⅷ ٣ ①',
  'a<|endoftext|>b',
  '<|STARTOFTEXT|> x',
  "''' '' !!'s ''ve",
  'x\u00a0y\u3000z\u2028w',
  'snake_case-and-dash',
  'a\u200db\ufeffc',
  '\n\nnew\n\n\nlines',
  '<0x41> <pad> <eos>',
  '▁ under',
  'ｆｕｌｌ ＷＩＤＴＨ',
  'ǅ ǆ Ǆ',
  '𝐀𝐁 𝟙',
  'ﬁ ﬂ',
  '\u0958 \u2126 \u212b \u0344',
  'the quick brown fox jumps over the lazy dog '.repeat(3)
]

const encode = (json, config) => {
  const tokenizer = new PreTrainedTokenizer(json, config)
  return texts.map((text) => ({ text, ids: Array.from(tokenizer.encode(text)) }))
}

if (process.argv[1] === import.meta.filename) {
  const words = corpus
    .toLowerCase()
    .match(/'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+/gu)
  const spaced = corpus.match(
    /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu
  )
  const characters = [...corpus.replaceAll(' ', '▁')]
  const ended = words.map((word) => {
    const s = spell(word)
    s.push(`${s.pop()}</w>`)
    return s
  })
  const sets = {
    clip: clip(learn(ended, 120)),
    gpt2: { json: gpt2(learn(spaced.map(spell), 80)) },
    gemma: { json: gemma(characters, learn([characters], 60)) }
  }
  const cases = {}
  for (const [name, { json, vocab, merges }] of Object.entries(sets)) {
    mkdirSync(join(here, name), { recursive: true })
    writeFileSync(join(here, name, 'tokenizer.json'), JSON.stringify(json))
    if (vocab) writeFileSync(join(here, name, 'vocab.json'), JSON.stringify(vocab))
    if (merges) writeFileSync(join(here, name, 'merges.txt'), merges)
    cases[name] = encode(json, {
      tokenizer_class:
        name === 'clip' ? 'CLIPTokenizer' : name === 'gpt2' ? 'GPT2Tokenizer' : 'GemmaTokenizer'
    })
  }
  writeFileSync(
    join(here, 'cases.json'),
    `${JSON.stringify(cases, null, 1).replace(/\n +(?=[-\d\]])/g, ' ')}\n`
  )
}
