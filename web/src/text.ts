/* Texts beside images: the text tower of a model of both, with its tokenizer; see text.d.ts. An entry
 * of its own, so that what needs no text does not load it. The tokenizer and definitions over arrays
 * are in the calling thread, by heed-all.wasm. */
import { abortable, openChannel } from './channel.js'
import { closed, HeedError } from './error.js'
import { describeFiles } from './files.js'
import { dispose, inNode, readOwn } from './host.js'
import { startHere } from './module.js'
import { ModuleTokenizer } from './module_tokenizer.js'
import { argument, call, checked, tables } from './options.js'
import { baseOf } from './place.js'
import { isArrayOf, isBlob } from './realm.js'
import { isWeights } from './weights.js'
import type { Channel, NamedSource, SendableFile, TowerInfo } from '../types/library.js'
import type { CallOptions, ImageInput, Model, ModelSource, Session } from 'heed'
import type {
  ComparedTexts,
  EmbedOptions,
  ImageEmbedding,
  TextInfo,
  TextOptions,
  TextResult,
  Texts
} from 'heed/text'
import type { ModuleMemory } from './module_memory.js'

tables['texts.run'] = tables['texts.compare'] = call
tables['texts.embedImage'] = `fit:model|whole height:Size width:Size${call}`
tables.loadTexts = `threads:auto|Size simd:auto|simd worker:Boolean base:Any tokenizer:Any${call}`

/* Files that a tokenizer may be of; heed/tokenizer has a sentence for those that it does not read. */
const ofTokenizer =
  /^(tokenizer\.json|tokenizer_config\.json|vocab\.json|merges\.txt|spiece\.model|tokenizer\.model|vocab\.txt|sentencepiece\.bpe\.model)$/

/** All bytes of a file; nothing where an address of a folder has none. */
async function bytesOf(name: string, file: SendableFile) {
  try {
    if (ArrayBuffer.isView(file)) return file
    const read =
      typeof file === 'string'
        ? await readOwn(new URL(file))
        : isBlob(file)
          ? file
          : new Response(file.stream)
    return ArrayBuffer.isView(read) ? read : new Uint8Array(await read.arrayBuffer())
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new HeedError('IO', `${name}: reading failed (found "${message}")`)
  }
}

async function readAll(files: NamedSource[]): Promise<Record<string, Uint8Array>> {
  const found = await Promise.all(
    files.map(async ([name, file]) => [name, await bytesOf(name, file)])
  )
  return Object.fromEntries(found.filter(([, bytes]) => bytes))
}

/**
 * A tokenizer's files beside the model: those of a list, or at the address of a folder or of weights.
 */
async function findTokenizer(files: NamedSource[]) {
  const [[, source]] = files
  if (files.length > 1 || typeof source !== 'string')
    return readAll(files.filter(([name]) => ofTokenizer.test(name)))
  const folder = isWeights(source.split(/[?#]/)[0]) ? source : source.replace(/\/?$/, '/'),
    at = (...names: string[]) => readAll(names.map((name) => [name, new URL(name, folder).href])),
    json = await at('tokenizer.json', 'tokenizer_config.json')
  return json['tokenizer.json'] ? json : { ...json, ...(await at('vocab.json', 'merges.txt')) }
}

/** The tokenizer, or the error that says why there is none: ids need none. */
function openTokenizer(module: ModuleMemory, files: Record<string, Uint8Array>) {
  try {
    return new ModuleTokenizer(module, files)
  } catch (error) {
    return error as HeedError
  }
}

export async function loadTexts(source: ModelSource, options?: TextOptions) {
  const {
      threads,
      simd,
      worker = !inNode && typeof window !== 'undefined',
      base: folder,
      tokenizer: words,
      ...call
    } = checked('loadTexts', options),
    base = baseOf('loadTexts', folder),
    { files, transfer } = await describeFiles(source),
    [module, found] = await Promise.all([
      startHere({ base, simd }, true),
      words ? describeFiles(words).then(({ files }) => readAll(files)) : findTokenizer(files)
    ]),
    tokenizer = openTokenizer(module, found),
    wanted = { threads, simd, base },
    channel = abortable(await openChannel('loadTexts', wanted, worker, options?.worker))
  try {
    const ofModel = files.filter(([name]) => !ofTokenizer.test(name))
    return new TextTower(
      channel,
      (await channel.call('loadModel', { files: ofModel, text: true }, call, transfer)) as Tower,
      { module, tokenizer },
      worker
    )
  } catch (error) {
    channel.close()
    throw error
  }
}

/* Texts of a tower in which no token attends to a later one are run in rows of a multiple of this:
 * what follows a text changes nothing, and a session serves many lengths. */
const rowStep = 16

/** A text tower in the engine. */
interface Tower {
  id: number
  info: TowerInfo
}

class TextTower implements Texts {
  readonly info: TextInfo
  #channel: Channel | undefined
  #id
  #rules
  #causal
  #module
  #tokenizer
  /** The session, and the tokens of its row. */
  #made: { id: number; length: number } | undefined
  /** The image tower's session for embeddings. */
  #vision: { model: Model; size: string; session: Session; patches: boolean } | undefined
  #tail: Promise<unknown> = Promise.resolve()

  constructor(
    channel: Channel,
    { id, info }: Tower,
    { module, tokenizer }: { module: ModuleMemory; tokenizer: ModuleTokenizer | HeedError },
    worker: boolean
  ) {
    const { family, width, layers, heads, headsGuessed, mlpWidth, rules, assumed } = info,
      { parameters, weightBytes, maxLength, projection, logitScale, logitBias } = info
    this.#channel = channel
    this.#id = id
    this.#rules = info
    this.#causal = / causal,/.test(rules)
    this.#module = module
    this.#tokenizer = tokenizer
    this.info = Object.freeze({
      family,
      width,
      layers,
      heads,
      headsGuessed,
      mlpWidth,
      rules,
      assumed:
        [assumed, tokenizer instanceof HeedError ? null : tokenizer.info.assumed]
          .filter(Boolean)
          .join('; ') || null,
      parameters,
      weightBytes,
      vocabulary: info.sourceVocabulary,
      maxLength,
      projection,
      probability: info.biased ? 'sigmoid' : 'softmax',
      logitScale,
      logitBias,
      tokenizer: tokenizer instanceof HeedError ? null : tokenizer.info.kind,
      runtime: Object.freeze({ worker, ...channel.info })
    })
  }

  get #open() {
    if (!this.#channel) throw closed('texts')
    return this.#channel
  }

  /** The ids of a text, whole in a tower that is given texts of one length; or ids as they are. */
  #encode(text: string | Int32Array) {
    const { maxLength, vocabulary } = this.info,
      tokenizer = this.#tokenizer,
      beyond = (ids: Int32Array) => ids.find((id) => !(id >= 0 && id < vocabulary)),
      expected = `expected ids below ${vocabulary})`
    if (typeof text !== 'string') {
      const ids = argument('texts.run', 'the text', text, [
          ['a string', () => false],
          [`Int32Array of 1 to ${maxLength} ids`, (value) => fitsIds(value, maxLength)]
        ]),
        found = beyond(ids)
      if (found !== undefined)
        throw new HeedError(
          'INVALID_ARGUMENT',
          `texts.run: id out of range (found ${found}, ${expected}`
        )
      return {
        ids: Int32Array.from(ids),
        row: ids,
        tokens: Array.from(ids, String),
        whole: ids.length
      }
    }
    if (tokenizer instanceof HeedError) throw new HeedError(tokenizer.status, tokenizer.message)
    const length = Math.min(maxLength, tokenizer.info.most || maxLength),
      { ids, tokens, whole } = tokenizer.encode(text, { length }),
      row = this.#causal ? ids : new Int32Array(length).fill(tokenizer.info.padding),
      found = beyond(ids) ?? beyond(row)
    if (found !== undefined)
      throw new HeedError(
        'INVALID_FILE',
        `tokenizer: it does not fit the model (found id ${found}, ${expected}`
      )
    row.set(ids)
    return { ids, row, tokens, whole }
  }

  /** @param length tokens of a text */
  async #session(length: number, options: CallOptions) {
    const causal = this.#causal,
      { layers, maxLength, projection } = this.info,
      row = causal ? Math.min(maxLength, rowStep * Math.ceil(length / rowStep)) : length,
      fits = this.#made && (causal ? this.#made.length >= row : this.#made.length === row)
    if (this.#made && !fits) {
      await this.#open.call('closeSession', { id: this.#made.id })
      this.#made = undefined
    }
    if (!this.#made) {
      const taps = Array.from({ length: layers }, (_, i) => `layer.${i}.attention.weights`),
        { id } = await this.#open.call(
          'createSession',
          {
            model: this.#id,
            taps: [...taps, 'last_hidden_state', ...(projection ? ['token_embeds'] : [])],
            width: row
          },
          options
        )
      this.#made = { id, length: row }
    }
    return this.#made
  }

  async #runOne(text: string | Int32Array, options: CallOptions): Promise<TextResult> {
    const { ids, row, tokens, whole } = this.#encode(text),
      { id, length } = await this.#session(row.length, options),
      input = new Int32Array(length)
    input.set(row)
    await this.#open.call('write', { id, name: 'input_ids', data: new Uint8Array(input.buffer) })
    const { values, milliseconds } = await this.#open.call(
        'run',
        { id, input: { values: new Float32Array(0) } },
        options
      ),
      { layers, heads, width, projection } = this.info,
      at = this.#row(row),
      maps = (layer: number) => values[`layer.${layer}.attention.weights`].data as Float32Array
    return {
      ids,
      row: Int32Array.from(row),
      tokens,
      whole,
      embedding: projection
        ? (values.token_embeds.data as Float32Array).slice(at * projection, (at + 1) * projection)
        : null,
      states: (values.last_hidden_state.data as Float32Array).slice(0, ids.length * width),
      attention: Array.from({ length: layers }, (_, layer) =>
        corners(maps(layer), heads, length, ids.length)
      ),
      milliseconds
    }
  }

  /** The row whose state is the text's. */
  #row(ids: Int32Array): number {
    const { end, textPadded } = this.#rules
    return this.#module.lend([ids], (at) =>
      this.#module.exports.text_row(at, ids.length, end, textPadded)
    )
  }

  /** One call after the other: a text's ids and its run belong together. */
  #next<Result>(run: () => Promise<Result>) {
    const result = this.#tail.then(run)
    this.#tail = result.catch(() => {})
    return result
  }

  async run(text: string | Int32Array, options?: CallOptions) {
    const call = checked('texts.run', options)
    return this.#next(() => this.#runOne(text, call))
  }

  /**
   * The session of the model that gives its embeddings of images and, where it has them, of patches.
   */
  async #seeing(
    model: Model,
    { height, width }: { height?: number; width?: number },
    call: CallOptions
  ) {
    const size = `${height} ${width}`
    if (this.#vision?.model === model && this.#vision.size === size) return this.#vision
    this.#vision?.session.close()
    this.#vision = undefined
    for (const taps of [['image_embeds', 'token_embeds'], ['image_embeds']]) {
      const session = model.createSession({ taps, height, width, ...call })
      try {
        await session.ready
        return (this.#vision = { model, size, session, patches: taps.length > 1 })
      } catch (error) {
        if (!/^taps: /.test((error as Error).message)) throw error
      }
    }
    throw new HeedError(
      'UNSUPPORTED',
      `texts.embedImage: this model has no embedding of an image (found family ${model.info.family})`
    )
  }

  async embedImage(model: Model, image: ImageInput, options?: EmbedOptions) {
    const { fit, height, width, ...call } = checked('texts.embedImage', options)
    argument('texts.embedImage', 'the model', model, [
      ['a Model', (value) => typeof (value as Model)?.createSession === 'function']
    ])
    return this.#next(async () => {
      this.#open
      const { session, patches } = await this.#seeing(model, { height, width }, call),
        { rows, columns, prefixTokens } = await session.ready
      try {
        const { values, region } = await session.run(image, { fit, ...call }),
          embedding = values.image_embeds.data as Float32Array,
          states = values.token_embeds?.data as Float32Array
        return {
          embedding,
          patches: patches ? states.slice(prefixTokens * embedding.length) : null,
          rows,
          columns,
          region
        }
      } catch (error) {
        this.#vision = undefined // the model may have been closed
        session.close()
        throw error
      }
    })
  }

  async compare(
    image: ImageEmbedding,
    texts: (string | Int32Array)[],
    options?: CallOptions
  ): Promise<ComparedTexts> {
    const call = checked('texts.compare', options),
      { projection } = this.info
    if (!projection)
      throw new HeedError('UNSUPPORTED', 'texts.compare: this model has no embedding of a text')
    argument('texts.compare', 'the texts', texts, [
      ['at least one text', (value) => Array.isArray(value) && value.length > 0]
    ])
    const { embedding, patches, rows, columns } = argument('texts.compare', 'the image', image, [
      [`an embedding of ${projection} numbers`, (value) => fitsEmbedding(value, projection)]
    ])
    return this.#next(async () => {
      const results: TextResult[] = []
      for (const text of texts) results.push(await this.#runOne(text, call))
      const all = new Float32Array(texts.length * projection)
      results.forEach(({ embedding }, i) => all.set(embedding as Float32Array, i * projection))
      return {
        ...this.#compare(embedding, all),
        cosines: this.#similarity(all, embedding),
        similarity:
          patches &&
          results.map(({ embedding }) => this.#similarity(patches, embedding as Float32Array)),
        rows,
        columns,
        texts: results
      }
    })
  }

  /** heed_compare */
  #compare(image: Float32Array, texts: Float32Array) {
    const module = this.#module,
      { projection, logitScale, logitBias } = this.info,
      count = texts.length / projection,
      logits = new Float32Array(count),
      probabilities = new Float64Array(count)
    module.lend([image, texts, logits, probabilities], (imageAt, textsAt, logitsAt, to) => {
      module.exports.text_compare(
        imageAt,
        textsAt,
        count,
        projection,
        logitScale,
        logitBias,
        this.#rules.biased,
        logitsAt,
        to
      )
      new Uint8Array(logits.buffer).set(module.bytes(logitsAt, 4 * count))
      new Uint8Array(probabilities.buffer).set(module.bytes(to, 8 * count))
    })
    return { logits, probabilities }
  }

  /** The cosine of each of several embeddings with one. */
  #similarity(states: Float32Array, one: Float32Array) {
    const module = this.#module,
      cosines = new Float32Array(states.length / one.length)
    module.lend([states, one, cosines], (statesAt, at, to) => {
      module.exports.text_similarity(statesAt, at, cosines.length, one.length, to)
      new Uint8Array(cosines.buffer).set(module.bytes(to, cosines.byteLength))
    })
    return cosines
  }

  async memory() {
    return this.#open.call('memory', {})
  }

  close() {
    this.#vision?.session.close()
    this.#channel?.close()
    this.#vision = this.#channel = undefined
  }
  [dispose]() {
    this.close()
  }
}

const fitsIds = (value: unknown, most: number) =>
  isArrayOf(value, 'Int32Array') &&
  (value as Int32Array).length > 0 &&
  (value as Int32Array).length <= most

const fitsEmbedding = (value: unknown, size: number) => {
  const { embedding, patches, rows, columns } = (value ?? {}) as ImageEmbedding
  return (
    isArrayOf(embedding, 'Float32Array') &&
    embedding.length === size &&
    (!patches || (isArrayOf(patches, 'Float32Array') && patches.length === rows * columns * size))
  )
}

/** Of matrices [heads, size, size] the first `count` rows and columns. */
function corners(matrices: Float32Array, heads: number, size: number, count: number) {
  const found = new Float32Array(heads * count * count)
  for (let row = 0; row < heads * count; row++) {
    const from = (Math.floor(row / count) * size + (row % count)) * size
    found.set(matrices.subarray(from, from + count), row * count)
  }
  return found
}
