/* <attention-map>: one map over a picture, for other pages. Attributes: src or image (a picture's
 * address, of another origin where that allows it by CORS) or scene (a drawn one, by its seed), model
 * (a folder's address, likewise; none = the demo), hub (a hub's address, or nothing for Hugging Face's;
 * model is then owner/name), device ("wasm" or "webgpu"; data-device and data-why say
 * where the model ran), software-adapter (for tests: a GPU may be software), view
 * ("overlay", "map" without the picture, "rollout" of all layers), layer, head ("mean" or a
 * number), query ("row,column" or "cls"), colours, end (where the colours end, in times uniform, 1
 * to the number of tokens, so that elements compare; without it at the largest weight, or 4). Events: "drawn", with the row of weights as
 * detail; "pick", with the row and column of the patch that was pressed; "error". Styles:
 * --attention-mark, the colour around the query; --attention-strength, how much the map covers, 0
 * to 1; --attention-ground, what lies behind the map where there is no picture. Elements and look()
 * share runtimes and models. */
import { demoModel } from './demo.js'
import { caption, elsewhere } from '../plot/caption.js'
import { captionWords } from '../plot/caption_words.js'
import { overlay } from '../plot/overlay.js'
import { largestOf } from '../plot/raster.js'
import { makeScale } from '../plot/scale.js'
import { inTurn, openOnce, runtimeOn, type Device, type Opened } from './registry.js'
import type { ColormapName, Region } from 'heed'
import type { PageQuery } from '../pages/shared/types.js'

type MapQuery = Exclude<PageQuery, number>

/** What maps say, in English; a page in another language puts its words here. */
export const words = Object.assign(captionWords, {
  rolloutAll: 'Rollout of all layers',
  layerHead: (layer: number, head: string) => `Layer ${layer}, head ${head}`,
  layerMean: (layer: number) => `Layer ${layer}, mean of the heads`
})

/** What is no device is refused by createRuntime. */
function deviceOf(element: AttentionMap) {
  const device = (element.getAttribute('device') ?? 'wasm') as Device
  return device === 'webgpu' && element.hasAttribute('software-adapter') ? 'software' : device
}

/** The row of a map. */
interface Found {
  row: Float32Array
  region: Region
  token: number
  query: MapQuery
  where: string
}
type Run = [picture: ImageBitmap | HTMLCanvasElement | OffscreenCanvas, found: Found]

/** The model of an element: that of its folder's address, or the demo. */
function open(element: AttentionMap) {
  const name = element.getAttribute('model'),
    hub = element.getAttribute('hub'),
    device = deviceOf(element)
  if (!name) return openOnce(demoModel, {}, device)
  return hub === null
    ? openOnce(new URL(name.replace(/\/?$/, '/'), document.baseURI), {}, device)
    : openOnce(name, { hub: hub || true }, device)
}

async function fetched(address: string) {
  const response = await fetch(address).catch((error) => {
    throw new Error(`${address}: could not be fetched (found "${error.message}")`)
  })
  if (!response.ok)
    throw new Error(`${address}: the server does not have it (found ${response.status})`)
  return response.blob()
}

async function pictureOf(element: AttentionMap) {
  const address = element.getAttribute('src') ?? element.getAttribute('image')
  if (address) {
    const blob = await fetched(address)
    return createImageBitmap(blob, {
      colorSpaceConversion: 'none',
      premultiplyAlpha: 'none'
    }).catch(() => {
      throw new Error(
        `${address}: no picture that this browser decodes (found ${blob.type || 'an unknown type'})`
      )
    })
  }
  const { image } = await (await runtimeOn(deviceOf(element))).scene(
    Number(element.getAttribute('scene') ?? 159)
  )
  return createImageBitmap(
    new ImageData(new Uint8ClampedArray(image.data), image.width, image.height)
  )
}

/* Where there is no page, as on a server that renders one, the import does nothing. */
const Element = globalThis.HTMLElement ?? (class {} as any)

class AttentionMap extends Element {
  static observedAttributes = [
    'scene',
    'src',
    'image',
    'model',
    'hub',
    'device',
    'software-adapter',
    'view',
    'layer',
    'head',
    'query',
    'colours',
    'end'
  ]
  #canvas = document.createElement('canvas')
  #wrong = document.createElement('p')
  #turn = 0
  #grid: [rows: number, columns: number] | null = null

  connectedCallback() {
    this.append(this.#canvas, this.#wrong)
    this.#canvas.setAttribute('role', 'img')
    this.#canvas.ariaLabel ??= 'Attention map, not drawn yet'
    this.#wrong.setAttribute('role', 'alert')
    this.#canvas.style.width = '100%'
    this.#say('')
    this.#canvas.addEventListener('click', (event) => this.#pick(event))
    this.#draw()
  }

  /** What went wrong stands in the map's place: an old map is no answer. */
  #say(wrong: string) {
    this.#wrong.textContent = wrong
    this.#wrong.hidden = !wrong
    this.#canvas.style.display = wrong ? 'none' : 'block'
  }

  attributeChangedCallback() {
    if (this.isConnected) this.#draw()
  }

  async #draw() {
    const mine = ++this.#turn
    await null // attributes that are set together are drawn together
    if (mine !== this.#turn) return
    try {
      const model = await open(this),
        [picture, found] = await inTurn(model, () => this.#run(model))
      if (mine !== this.#turn) return
      this.#show(
        picture,
        found,
        model.shape,
        await (await runtimeOn(deviceOf(this))).colormap(
          (this.getAttribute('colours') ?? 'cividis') as ColormapName
        )
      )
      this.dispatchEvent(new CustomEvent('drawn', { detail: found.row }))
    } catch (error) {
      if (mine === this.#turn) this.#say((error as Error).message)
      this.dispatchEvent(new CustomEvent('error', { detail: error }))
    }
  }

  /** In times uniform; 0: not given. */
  #end(tokens: number) {
    const text = this.getAttribute('end'),
      end = Number(text)
    if (text !== null && !(end >= 1 && end <= tokens))
      throw new Error(`end: out of range (found "${text}", expected 1 to ${tokens} times uniform)`)
    return end
  }

  get #view() {
    return this.getAttribute('view') ?? 'overlay'
  }

  async #run(model: Opened): Promise<Run> {
    const { session, shape } = model,
      picture = await pictureOf(this),
      { region, device, why } = await session.run(picture, { maps: false }),
      at = this.getAttribute('query') ?? 'cls',
      head = this.getAttribute('head') ?? 'mean'
    model.runs++
    Object.assign(this.dataset, { device, why })
    const query = (at === 'cls' ? 'cls' : at.split(',').map(Number)) as MapQuery,
      layer = Number(this.getAttribute('layer') ?? shape.layers - 1)
    const token = query === 'cls' ? 0 : shape.prefixTokens + query[0] * shape.columns + query[1],
      whole = this.#view === 'rollout'
    const row = await (whole
      ? session.rollout({ query: token })
      : session.attention({ layer, head: head === 'mean' ? head : Number(head), query }))
    return [
      picture,
      {
        row,
        region: region as Region,
        token,
        query,
        where: whole
          ? words.rolloutAll
          : head === 'mean'
            ? words.layerMean(layer)
            : words.layerHead(layer, head)
      }
    ]
  }

  /** Which patch was pressed; what follows from it is the page's to say. */
  #pick({ offsetX, offsetY }: PointerEvent) {
    if (!this.#grid) return
    const [rows, columns] = this.#grid,
      at = (offset: number, length: number, count: number) =>
        Math.min(count - 1, Math.max(0, Math.floor((offset / length) * count)))
    this.dispatchEvent(
      new CustomEvent('pick', {
        detail: {
          row: at(offsetY, this.#canvas.clientHeight, rows),
          column: at(offsetX, this.#canvas.clientWidth, columns)
        }
      })
    )
  }

  #style(name: string, usual: string) {
    return getComputedStyle(this).getPropertyValue(name).trim() || usual
  }

  #show(
    picture: ImageBitmap | HTMLCanvasElement | OffscreenCanvas,
    {
      row,
      region,
      token,
      query,
      where
    }: { row: Float32Array; region: Region; token: number; query: MapQuery; where: string },
    {
      prefixTokens: prefix,
      rows,
      columns,
      tokens
    }: { prefixTokens: number; rows: number; columns: number; tokens: number },
    table: Uint8Array
  ) {
    const weights = row.subarray(prefix),
      scale = makeScale('uniform', {
        tokens,
        largest: largestOf(weights),
        locked: this.#end(tokens) / tokens
      })
    const { raster } = overlay({ weights, rows, columns, scale, table }),
      map = Object.assign(document.createElement('canvas'), {
        width: raster.width,
        height: raster.height
      })
    map
      .getContext('2d')
      ?.putImageData(new ImageData(raster.data, raster.width, raster.height), 0, 0)
    Object.assign(this.#canvas, { width: 448, height: Math.round((448 * rows) / columns) })
    this.#grid = [rows, columns]
    const context = this.#canvas.getContext('2d') as CanvasRenderingContext2D
    context.fillStyle = this.#style('--attention-ground', '#000')
    if (this.#view === 'map') context.fillRect(0, 0, this.#canvas.width, this.#canvas.height)
    else
      context.drawImage(
        picture,
        region.x,
        region.y,
        region.width,
        region.height,
        0,
        0,
        this.#canvas.width,
        this.#canvas.height
      )
    context.imageSmoothingEnabled = false
    context.globalAlpha = Math.min(
      1,
      Math.max(0, Number(this.#style('--attention-strength', '1')) || 0)
    )
    context.drawImage(map, 0, 0, this.#canvas.width, this.#canvas.height)
    context.globalAlpha = 1
    if (query !== 'cls') this.#mark(context, query, this.#canvas.width / columns)
    const how = { row, where, token, prefix, columns, rollout: this.#view === 'rollout' },
      said = caption(how)
    this.#note(context, elsewhere(how))
    this.#say('')
    this.#canvas.setAttribute('aria-label', said)
    this.title = said
  }

  /** Where the weight is that no patch shows. */
  #note(context: CanvasRenderingContext2D, text: string) {
    if (!text) return
    context.font = '15px system-ui, sans-serif'
    context.fillStyle = '#000c'
    context.fillRect(8, 8, context.measureText(text).width + 16, 26)
    context.fillStyle = '#fff'
    context.fillText(text, 16, 26)
  }

  /** A frame around the query that is seen on light and dark. */
  #mark(
    context: CanvasRenderingContext2D,
    [row, column]: [row: number, column: number],
    side: number
  ) {
    for (const [colour, width] of [
      ['#000', 4],
      [this.#style('--attention-mark', '#fff'), 2]
    ] as [string, number][]) {
      Object.assign(context, { strokeStyle: colour, lineWidth: width })
      context.strokeRect(column * side, row * side, side, side)
    }
  }
}

if (globalThis.customElements && !customElements.get('attention-map'))
  customElements.define('attention-map', AttentionMap)
