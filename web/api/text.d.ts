/// <reference lib="esnext.disposable" />
/* Texts beside images: the text towers of CLIP and SigLIP, with the probabilities as the model defines
 * them. An entry of its own ('heed/text'), which loads heed-all.wasm for the tokenizer. It
 * reads the tower's weights alone. EXPERIMENTAL.
 *
 *   const model = await runtime.loadModel('models/clip/')
 *   const texts = await loadTexts('models/clip/')
 *   const image = await texts.embedImage(model, canvas)
 *   const { probabilities, similarity } = await texts.compare(image, ['a cat', 'a dog'])
 *
 * Dimensions: L layers, H heads, T tokens of the text, C channels, E numbers of an embedding. Errors
 * and arguments are as in index.d.ts. */
import type {
  CallOptions,
  FileSource,
  ImageInput,
  Memory,
  Model,
  ModelSource,
  Region,
  RuntimeInfo,
  RuntimeOptions
} from './index.js'

export interface TextOptions extends CallOptions, RuntimeOptions {
  /** The tokenizer's files by their names, where the source has none. */
  tokenizer?: Record<string, FileSource> | Map<string, FileSource> | Iterable<File>
}

/** Loads the text tower of a model, and the tokenizer beside it: `tokenizer.json`, or CLIP's
 * `vocab.json` and `merges.txt`. The source is the same as that of `runtime.loadModel`; a Response
 * serves one of the two. Without a tokenizer that heed reads, texts are given as ids.
 *
 * Throws 'UNSUPPORTED' when the files have no text tower; else as `runtime.loadModel`. */
export function loadTexts(source: ModelSource, options?: TextOptions): Promise<Texts>

export interface TextInfo {
  family: string
  /** Channels of a token. */
  width: number
  layers: number
  heads: number
  /** No file tells the number of heads: it is width / 64. */
  headsGuessed: boolean
  mlpWidth: number
  /** The rules that the shapes of tensors do not tell, in one line. */
  rules: string
  /** What was assumed because no file tells it, in one line; null when nothing was. */
  assumed: string | null
  parameters: number
  /** Size of the tower's weights in their files, in bytes. */
  weightBytes: number
  /** Every id is below it. */
  vocabulary: number
  /** Most tokens of a text. A longer text is truncated, its end kept. */
  maxLength: number
  /** E; 0 when the model does not project its texts, which then cannot be compared. */
  projection: number
  /** What compare() makes of the logits: a softmax over the texts (CLIP), or a sigmoid of each
   * (models with a `logit_bias`: SigLIP). */
  probability: 'softmax' | 'sigmoid'
  /** As stored: the logarithm of the factor of cosines, and what is added; 0 without one. */
  logitScale: number
  logitBias: number
  /** The tokenizer's kind, as in heed/tokenizer; null: none that heed reads, see run(). */
  tokenizer: string | null
  /** The module that computes, as `runtime.info`. */
  runtime: RuntimeInfo
}

export interface TextResult {
  /** Of the text itself, with those before and after it, without padding. */
  ids: Int32Array
  /** The ids as the tower takes them: with padding where it attends to that. */
  row: Int32Array
  /** What each id stands for; of a text given as ids, the numbers. */
  tokens: string[]
  /** The number of ids without truncation. */
  whole: number
  /** The text's embedding [E], `text_embeds`, not normalised; null without a projection. */
  embedding: Float32Array | null
  /** `last_hidden_state` of the ids, [T, C]. */
  states: Float32Array
  /** The text's own attention weights of each layer, [H, T, T]. */
  attention: Float32Array[]
  /** Duration of the forward pass alone. */
  milliseconds: number
}

export interface EmbedOptions extends CallOptions {
  /** As in RunOptions. */
  fit?: 'model' | 'whole'
  /** As in SessionOptions. */
  height?: number
  width?: number
}

/** An image for compare(). */
export interface ImageEmbedding {
  /** `image_embeds` [E], not normalised. */
  embedding: Float32Array
  /** The same projection of each patch, [rows * columns, E]; null for models whose patches are not
   * projected one by one (SigLIP). */
  patches: Float32Array | null
  /** The patch grid. */
  rows: number
  columns: number
  /** The part of the image that the model received; null for pixel_values. */
  region?: Region | null
}

/** One number or map for each text, in their order. */
export interface ComparedTexts {
  /** As the model defines them; see `probability` of TextInfo. */
  probabilities: Float64Array
  /** exp(logitScale) times the cosine, plus logitBias. */
  logits: Float32Array
  /** Of the embeddings of image and text. */
  cosines: Float32Array
  /** The similarity of each patch to each text: the cosine of the patch's projected state with the
   * text's embedding, [rows * columns]. It is not attention, and no loss trained it. null where
   * `patches` is. */
  similarity: Float32Array[] | null
  rows: number
  columns: number
  texts: TextResult[]
}

export interface Texts {
  readonly info: TextInfo
  /** Runs the tower on a text, or on ids as they are. The ids of a SigLIP text bring their padding
   * to maxLength. Throws 'INVALID_ARGUMENT' for an invalid text or id. For a string without a
   * tokenizer it throws the reason: 'UNSUPPORTED' or 'INVALID_FILE'. Also 'OUT_OF_MEMORY' and
   * 'CANCELLED'. */
  run(text: string | Int32Array, options?: CallOptions): Promise<TextResult>
  /** Runs the model on one image, for compare(). It keeps a session of the model for the next image.
   * Throws as `session.run`; 'UNSUPPORTED' when the model has no embedding of an image. */
  embedImage(model: Model, image: ImageInput, options?: EmbedOptions): Promise<ImageEmbedding>
  /** Compares an image with one text or more. Throws as run(), and 'INVALID_ARGUMENT' for an
   * embedding of another size. */
  compare(
    image: ImageEmbedding,
    texts: (string | Int32Array)[],
    options?: CallOptions
  ): Promise<ComparedTexts>
  /** Returns the memory in use by the tower. */
  memory(): Promise<Memory>
  /** Frees the tower, its threads and the session of embedImage(). Later calls reject. */
  close(): void
  [Symbol.dispose](): void
}
