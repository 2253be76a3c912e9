/* One call for a picture, 'heed/look'; `look` and `release` of 'heed' load it with the first call.
 *
 *   const { top, map } = await look('cat.jpg', { model: 'models/vit/' })
 *   const [{ label, probability }] = top(5)
 *   await map({ layer: 11, head: 3, query: [4, 7] }).draw(canvas)
 *
 * Errors are HeedErrors, as in index.d.ts. */
import type {
  CallOptions,
  ColormapName,
  ImageInput,
  LoadModelOptions,
  Model,
  ModelInfo,
  ModelSource,
  PixelValues,
  Query,
  Region,
  Session,
  SessionInfo,
  Shaped
} from './index.js'
import type { Scale } from 'heed/plot'

/** A picture: its address, in Node also a path; its encoded bytes as Blob, File or Response; or what is
 * decoded already: an image, canvas, ImageBitmap, video, VideoFrame or { data, width, height }. */
export type LookImage = string | URL | Blob | Response | Exclude<ImageInput, PixelValues>

export interface LookOptions extends CallOptions {
  /** As loadModel takes it, or a model that is open. A model is loaded with its first picture and stays
   * open until release(). The same address or object names the same model, also for <attention-map>. */
  model: ModelSource | Model
  /** As of loadModel(). */
  hub?: LoadModelOptions['hub']
  /** As of run(). */
  fit?: 'model' | 'whole'
  /** Decodes a picture. Default: createImageBitmap; in Node the package sharp, where it is installed. */
  decode?: (encoded: Blob) => LookDecoded | Promise<LookDecoded>
}
export type LookDecoded = Exclude<ImageInput, PixelValues>

export interface Classified {
  label: string
  /** The class's index. */
  index: number
  /** Softmax over the classes. */
  probability: number
  logit: number
}

export interface MapChoice {
  /** Default: the last layer. */
  layer?: number | 'pool'
  /** Default: 'mean', over heads. */
  head?: number | 'mean'
  /** Default: 'cls', or the patch in the middle where the model has no CLS. */
  query?: Query
}

export interface DrawOptions {
  /** Default 'cividis'. */
  colours?: ColormapName
  /** As of overlay() in heed/plot. Default 'colour': opacity follows the weight. */
  style?: 'colour' | 'spotlight' | 'contour'
  /** Opacity of the map, 0 to 1. Default 0.8. */
  strength?: number
}

export interface LookMap {
  /** The patch grid. */
  readonly rows: number
  readonly columns: number
  /** The whole row of weights [T], prefix tokens first; its sum is 1. A copy. */
  row(): Promise<Float32Array>
  /** The weights of the patches [rows * columns], in raster order. A copy. */
  weights(): Promise<Float32Array>
  /** Draws what the model saw of the picture and the map over it. The canvas keeps its width; its
   * height becomes the grid's. Resolves to the sentence that describes the map, for a label, and to the
   * scale of its colours. Throws 'INVALID_ARGUMENT' for a canvas without 2d. */
  draw(
    canvas: HTMLCanvasElement | OffscreenCanvas,
    options?: DrawOptions
  ): Promise<{ caption: string; scale: Scale }>
}

export interface LookResult {
  /** The `count` most probable classes in descending order; default 5. Throws 'UNSUPPORTED' when the
   * model has no classifier. */
  top(count?: number): Classified[]
  /** A map of this picture. Throws 'INVALID_ARGUMENT' for a choice out of range. Models whose maps of a
   * picture exceed 160 MB compute rows on demand: their maps are read before the model sees another
   * picture. */
  map(choice?: MapChoice): LookMap
  /** As of RunResult. */
  readonly logits: Shaped | null
  readonly attention: Shaped[] | null
  readonly region: Region | null
  readonly milliseconds: number
  /** Features: the states of all tokens after the final norm, [T, C], prefix tokens first. null of a graph
   * that does not give them. */
  readonly hidden: Shaped | null
  /** The state of the whole picture [C], as docs/models.md says for each family; null where the model has
   * none, as one with a classifier that reads CLS. */
  readonly pooler_output: Shaped | null
  readonly info: ModelInfo
  readonly shape: SessionInfo
  /** The session that ran, for statistics, rollout() and explain(): the model is not loaded a second time.
   * look() and <attention-map> share it, so what it says is of the last of their runs. */
  readonly session: Session
}

/** Runs a model on a picture. top and map need no `this`. Throws 'INVALID_ARGUMENT' for an invalid
 * picture or option, 'IO' when the picture or model cannot be read, 'INVALID_FILE' when the picture
 * cannot be decoded, 'UNSUPPORTED' without a decoder, and what loadModel and run throw. */
export function look(image: LookImage, options: LookOptions): Promise<LookResult>
/** Closes the runtimes and the models that look() and elements have opened. */
export function release(): Promise<void>
