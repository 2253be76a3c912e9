/* One call for a picture: look() loads the model, runs it and gives classes and maps. An entry of its own
 * ('heed/look'), which 'heed' loads with the first call; see look.d.ts. Models stay open until
 * release(). */

import { caption, elsewhere } from '../plot/caption.js'
import { overlay } from '../plot/overlay.js'
import { largestOf } from '../plot/raster.js'
import { makeScale } from '../plot/scale.js'
import { asHeed, HeedError, said } from './error.js'
import { builtin, bytesOfData, inNode } from './host.js'
import { argument, checked, tables, tokenOf } from './options.js'
import { isArrayOf, isBlob, isResponse, isURL } from './realm.js'
import { inTurn, openOnce, outOfDate, type Opened } from './registry.js'
import { shaped } from './shapes.js'
import type { ColormapName, ImageInput, Picture, Query, Region, SessionInfo } from 'heed'
import type { DrawOptions, LookImage, LookMap, LookOptions, LookResult, MapChoice } from 'heed/look'

export { release } from './registry.js'

tables.look = `model:Any fit:model|whole decode:Function${tables.loadModel}`
tables.map = 'layer:pool|Count head:Count|mean query:Any'
tables.draw =
  'colours:cividis|viridis|magma|inferno|grey style:colour|spotlight|contour strength:Number'

async function blobOf(name: string, response: Response) {
  if (!response.ok)
    throw new HeedError(
      'IO',
      `look: ${name} could not be fetched (found HTTP ${response.status}, expected 200)`
    )
  return response.blob()
}

/** The bytes of what names or holds an encoded picture; undefined for pictures that are decoded. */
async function encoded(
  image: LookImage,
  signal: AbortSignal | undefined
): Promise<Blob | undefined> {
  if (isBlob(image)) return image
  if (isResponse(image)) return blobOf('the picture', image)
  if (typeof image !== 'string' && !isURL(image)) return undefined
  const text = String(argument('look', 'the image', image, 'Name|URL'))
  try {
    if (inNode && !/^(https?|data|blob):/.test(text))
      return new Blob([
        await (await builtin('fs/promises')).readFile(
          text.startsWith('file:') ? new URL(text) : text
        )
      ])
    const bytes = bytesOfData(text)
    if (bytes) return new Blob([bytes], { type: /^data:([^;,]*)/i.exec(text)?.[1] })
    return await blobOf(text, await fetch(text, { signal }))
  } catch (error) {
    if (error instanceof HeedError || signal?.aborted) throw error
    throw new HeedError(
      'IO',
      `look: ${text} could not be read (found "${(error as Error).message}", expected a picture)`
    )
  }
}

async function pictureOf(
  image: LookImage,
  { decode, signal }: Pick<LookOptions, 'decode' | 'signal'>
): Promise<Exclude<ImageInput, Float32Array>> {
  const blob = await encoded(image, signal)
  if (!blob) {
    if (isArrayOf(image, 'Float32Array'))
      argument('look', 'the image', image, [['a picture; run() takes pixel_values', () => false]])
    return image as Exclude<ImageInput, Float32Array>
  }
  if (decode) return decode(blob)
  if (typeof createImageBitmap !== 'function')
    return (await import('./decode_node.js')).decodeBySharp(blob, HeedError, 'sharp')
  return createImageBitmap(blob, { colorSpaceConversion: 'none', premultiplyAlpha: 'none' }).catch(
    () => {
      throw new HeedError(
        'INVALID_FILE',
        `look: the picture could not be decoded (found ${blob.type ? said(blob.type) : 'an unknown type'}, expected one that this browser decodes)`
      )
    }
  )
}

function topOf(
  logits: Float32Array,
  { labels, eachClass }: { labels: string[]; eachClass: boolean },
  count: number
) {
  if (!logits.every(Number.isFinite))
    throw new HeedError(
      'INVALID_FILE',
      'top: the logits are not numbers (found NaN or an infinity): nothing is ranked'
    )
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity),
    powers = Array.from(logits, (logit) => Math.exp(logit - most)),
    sum = powers.reduce((a, b) => a + b, 0)
  return powers
    .map((power, index) => ({
      label: labels[index],
      index,
      probability: eachClass ? 1 / (1 + Math.exp(-logits[index])) : power / sum,
      logit: logits[index]
    }))
    .sort((a, b) => b.logit - a.logit || a.index - b.index)
    .slice(0, count)
}

/**
 * What a canvas shows of a picture, kept as it was when the model saw it.
 * @returns nothing where no canvas is
 */
async function keep(picture: Exclude<ImageInput, Float32Array>): Promise<ImageBitmap | undefined> {
  if (typeof createImageBitmap !== 'function') return undefined
  const { data, width, height } = picture as Picture
  if (!data) return createImageBitmap(picture as ImageBitmapSource)
  const channels = data.length / (width * height),
    rgba = new ImageData(width, height)
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++) rgba.data[4 * i + c] = data[channels * i + (channels > 1 ? c : 0)]
    rgba.data[4 * i + 3] = 255
  }
  return createImageBitmap(rgba)
}

const coloursOf = async (name: ColormapName) =>
  (await (await import('./explain/index.js')).loadExplain()).colormap(name)

function contextOf(canvas: HTMLCanvasElement | OffscreenCanvas): CanvasRenderingContext2D {
  const context = canvas?.getContext?.('2d')
  return context ?? argument('draw', 'the canvas', canvas, [['a canvas for 2d', () => false]])
}

/** One map of a result. */
class DrawnMap implements LookMap {
  readonly rows: number
  readonly columns: number
  #opened
  #picture
  #region
  #where
  #token
  #read
  constructor(
    {
      opened,
      picture,
      region
    }: { opened: Opened; picture: ImageBitmap | undefined; region: Region },
    { where, token }: { where: string; token: number },
    read: () => Promise<Float32Array>
  ) {
    this.#opened = opened
    this.#picture = picture
    this.#region = region
    this.#where = where
    this.#token = token
    this.#read = read
    this.rows = opened.shape.rows
    this.columns = opened.shape.columns
  }

  row() {
    return this.#read()
  }

  async weights() {
    return (await this.#read()).slice(this.#opened.shape.prefixTokens)
  }

  async draw(canvas: HTMLCanvasElement | OffscreenCanvas, options?: DrawOptions) {
    const { colours = 'cividis', style = 'colour', strength = 0.8 } = checked('draw', options),
      context = contextOf(canvas),
      { tokens, prefixTokens: prefix, tokenNames: names, rows, columns } = this.#opened.shape,
      row = await this.#read(),
      weights = row.subarray(prefix),
      table = await coloursOf(colours),
      scale = makeScale('uniform', { tokens, largest: largestOf(weights) }),
      { raster, path } = overlay({ weights, rows, columns, scale, table, style, strength }),
      map = await createImageBitmap(new ImageData(raster.data, raster.width, raster.height)),
      { x, y, width, height } = this.#region
    canvas.height = Math.max(1, Math.round((canvas.width * rows) / columns))
    const place = [0, 0, canvas.width, canvas.height] as const
    context.imageSmoothingEnabled = true
    if (this.#picture) context.drawImage(this.#picture, x, y, width, height, ...place)
    context.imageSmoothingEnabled = false
    context.drawImage(map, ...place)
    if (path) this.#outline(context, path, canvas.width / columns)
    const how = { row, where: this.#where, token: this.#token, prefix, columns, names }
    this.#note(context, elsewhere(how))
    return { caption: caption(how), scale }
  }

  /** @param path in units of a patch */
  #outline(context: CanvasRenderingContext2D, path: string, side: number) {
    const scaled = new Path2D()
    scaled.addPath(new Path2D(path), { a: side, d: side })
    Object.assign(context, { strokeStyle: '#fff', lineWidth: 2 })
    context.stroke(scaled)
  }

  /** Where the weight is that no patch shows. */
  #note(context: CanvasRenderingContext2D, text: string) {
    if (!text) return
    context.font = '13px system-ui, sans-serif'
    context.fillStyle = '#000c'
    context.fillRect(4, 4, context.measureText(text).width + 12, 22)
    context.fillStyle = '#fff'
    context.fillText(text, 10, 19)
  }
}

function chosen({ shape }: Opened, choice: MapChoice | undefined) {
  const { layer = shape.layers - 1, head = 'mean', query } = checked('map', choice),
    below = (what: string, value: unknown, end: number) =>
      typeof value === 'number' &&
      argument('map', what, value, [[`less than ${end}`, () => value < end]])
  below('layer', layer, shape.layers)
  below('head', head, shape.heads)
  return {
    layer,
    head,
    token: queryOf(shape, query),
    where: `Layer ${layer}, ${head === 'mean' ? 'mean of the heads' : `head ${head}`}`
  }
}

/** Without one: CLS, or the patch in the middle where a model has none. */
function queryOf(shape: SessionInfo, query: Query | undefined) {
  const { tokenNames, rows, columns } = shape,
    middle = [Math.floor(rows / 2), Math.floor(columns / 2)] as Query
  return tokenOf(query ?? (tokenNames[0] === 'CLS' ? 'cls' : middle), shape)
}

/** What the model makes of the picture besides classes and maps: its tokens, and what it pools of them. */
async function featuresOf({ session, shape: { tokens } }: Opened) {
  const hidden = await session.value('last_hidden_state').catch(none),
    pooled = await session.value('pooler_output').catch(none)
  return {
    hidden: hidden && shaped(hidden, tokens, hidden.length / tokens),
    pooler_output: pooled && shaped(pooled, pooled.length)
  }
}

/** A value that a model has not is none. */
function none(error: unknown) {
  if ((error as HeedError).status === 'INVALID_ARGUMENT') return null
  throw error
}

/** @param call of session.run */
async function runOne(opened: Opened, image: Exclude<ImageInput, Float32Array>, call: object) {
  const picture = await keep(image).catch((error) => {
      throw new HeedError(
        'INVALID_ARGUMENT',
        `look: the image is not valid (found ${said(image)}, expected a picture: ${error.message})`
      )
    }),
    { logits, attention, region, milliseconds } = await opened.session.run(image, call),
    mine = ++opened.runs,
    { shape, session, model } = opened,
    of = { opened, picture, region: region as Region }
  const rowOf = async ({
    layer,
    head,
    token
  }: {
    layer: number | 'pool'
    head: number | 'mean'
    token: number
  }) => {
    const { tokens, heads } = shape,
      maps = typeof layer === 'number' && head !== 'mean' ? attention?.[layer] : undefined
    if (maps && typeof head === 'number' && head < heads)
      return maps.slice((head * tokens + token) * tokens, (head * tokens + token + 1) * tokens)
    if (attention && typeof layer === 'number') return meanOf(attention[layer], token, shape)
    if (opened.runs !== mine) throw outOfDate()
    return session.attention({ layer, head, ...(layer === 'pool' ? {} : { query: token }) })
  }
  return {
    logits,
    attention,
    ...(await featuresOf(opened)),
    region,
    milliseconds,
    info: model.info,
    shape,
    session,
    top(count = 5) {
      argument('top', 'the count', count, 'Size')
      if (logits) return topOf(logits, model.info, count)
      throw new HeedError('UNSUPPORTED', 'top: this model has no classifier')
    },
    map(choice?: MapChoice) {
      const which = chosen(opened, choice)
      return new DrawnMap(of, which, () => rowOf(which))
    }
  }
}

/** The mean over heads of one row of [H, T, T]. */
function meanOf(maps: Float32Array, token: number, { heads, tokens }: SessionInfo) {
  const sum = new Float64Array(tokens)
  for (let head = 0; head < heads; head++)
    for (let key = 0; key < tokens; key++)
      sum[key] += maps[(head * tokens + token) * tokens + key] / heads
  return Float32Array.from(sum)
}

export async function look(image: LookImage, options: LookOptions): Promise<LookResult> {
  const { model, fit, decode, onProgress, signal, ...load } = checked('look', options, 'model'),
    call = { onProgress, signal }
  if (model === undefined)
    argument('look', 'model', model, [['an address, files, bytes or a Model', () => false]])
  try {
    const [opened, picture] = await Promise.all([
      openOnce(model, { ...load, ...call }),
      pictureOf(image, { decode, signal: call.signal })
    ])
    return await inTurn(opened, () => runOne(opened, picture, { fit, ...call }))
  } catch (error) {
    if (!call.signal?.aborted || error instanceof HeedError) throw asHeed('look', error)
    throw Object.assign(new HeedError('CANCELLED', 'look: cancelled by the caller'), {
      name: 'AbortError',
      cause: call.signal.reason
    })
  }
}
