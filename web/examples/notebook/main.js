// Maps of a model that ran in Python: heed/plot draws them, no runtime is loaded.
import { loadExplain } from './heed/explain/index.js'
import { caption, largestOf, makeScale, overlay } from './heed/plot/index.js'

const field = (/** @type {string} */ id) =>
    /** @type {HTMLInputElement} */ (document.querySelector(`#${id}`)),
  layerField = field('layer'),
  headField = field('head'),
  canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('canvas')),
  context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'))
let query = 0 // CLS; a click chooses a patch

/**
 * The shape and numbers of a .npy file of float32 in C order, as numpy writes it.
 * @param {ArrayBuffer} buffer
 */
function readNpy(buffer) {
  const view = new DataView(buffer),
    wide = view.getUint8(6) > 1,
    start = wide ? 12 : 10,
    length = wide ? view.getUint32(8, true) : view.getUint16(8, true),
    header = new TextDecoder().decode(new Uint8Array(buffer, start, length))
  if (!/'descr': '<f4'/.test(header) || !/'fortran_order': False/.test(header))
    throw new Error(`attentions.npy: not float32 in C order (found ${header.trim()})`)
  const shape = (/'shape': \(([^)]*)\)/.exec(header)?.[1] ?? '')
    .split(',')
    .filter(Boolean)
    .map(Number)
  return { shape, data: new Float32Array(buffer.slice(start + length)) }
}

const [saved, picture, explain] = await Promise.all([
  fetch('attentions.npy').then(async (response) => readNpy(await response.arrayBuffer())),
  fetch('picture.png').then(async (response) => createImageBitmap(await response.blob())),
  loadExplain()
])
const [layers, heads, tokens] = saved.shape
const side = Math.floor(Math.sqrt(tokens)),
  prefix = tokens - side * side // 1: CLS; 5: CLS and four registers

async function draw() {
  const layer = Math.min(layers - 1, layerField.valueAsNumber || 0),
    head = Math.min(heads - 1, headField.valueAsNumber || 0),
    at = ((layer * heads + head) * tokens + query) * tokens,
    row = saved.data.subarray(at, at + tokens),
    weights = row.subarray(prefix)
  const scale = makeScale('uniform', { tokens, largest: largestOf(weights) }),
    table = explain.colormap('cividis')
  const { raster } = overlay({ weights, rows: side, columns: side, scale, table })
  const map = await createImageBitmap(new ImageData(raster.data, raster.width, raster.height))
  context.drawImage(picture, 0, 0, 448, 448)
  context.imageSmoothingEnabled = false
  context.drawImage(map, 0, 0, 448, 448)
  canvas.ariaLabel = caption({
    row,
    where: `Layer ${layer}, head ${head}`,
    token: query,
    prefix,
    columns: side
  })
  field('caption').textContent = canvas.ariaLabel
}
canvas.addEventListener('click', ({ offsetX, offsetY }) => {
  const cell = (/** @type {number} */ offset) =>
    Math.min(side - 1, Math.floor((offset / 448) * side))
  query = prefix + cell(offsetY) * side + cell(offsetX)
  draw()
})
for (const input of [layerField, headField]) input.addEventListener('change', draw)
await draw()
