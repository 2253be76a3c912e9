/* What run takes, described so that it can be sent to a worker: { input: { values } | { picture },
 * transfer }. */
import { HeedError, said } from './error.js'
/** @import {ImageInput, Picture} from './index.js' */
/** @import {RunInput} from '../types/library.js' */

/**
 * @param {unknown} input
 * @returns {input is Picture}
 */
const isPicture = (input) =>
  /** @type {Picture} */ (input)?.data instanceof Uint8ClampedArray ||
  /** @type {Picture} */ (input)?.data instanceof Uint8Array

/**
 * The size in its own pixels of what a canvas can draw.
 * @param {Record<string, number>} input
 */
function drawnSize(input) {
  const [width, height] = ['Width', 'Height'].map(
    (side) =>
      input[`natural${side}`] ??
      input[`video${side}`] ??
      input[`display${side}`] ??
      input[side.toLowerCase()]
  )
  if (width > 0 && height > 0) return { width, height }
  throw new Error('it has no size')
}

/**
 * @param {number} width
 * @param {number} height
 * @returns {OffscreenCanvas | HTMLCanvasElement}
 */
function canvasOf(width, height) {
  if (typeof OffscreenCanvas !== 'undefined') return new OffscreenCanvas(width, height)
  return Object.assign(document.createElement('canvas'), { width, height })
}

/**
 * @param {ImageInput} input
 * @returns {Promise<{input: RunInput, transfer: Transferable[]}>}
 */
export async function describeInput(input) {
  if (input instanceof Float32Array) return { input: { values: input }, transfer: [] }
  if (isPicture(input))
    return {
      input: { picture: { data: input.data, width: input.width, height: input.height } },
      transfer: []
    }
  try {
    const size = drawnSize(/** @type {any} */ (input)), // one name of its sides after another
      context = /** @type {CanvasRenderingContext2D} */ (
        canvasOf(size.width, size.height).getContext('2d', { willReadFrequently: true })
      )
    context.drawImage(input, 0, 0, size.width, size.height)
    const { data, width, height } = context.getImageData(0, 0, size.width, size.height)
    return { input: { picture: { data, width, height } }, transfer: [data.buffer] }
  } catch (error) {
    throw new HeedError(
      'INVALID_ARGUMENT',
      `run: invalid image (found ${said(input)}, expected pixel_values, RGBA bytes or an image source of a canvas: ${/** @type {Error} */ (error).message})`
    )
  }
}
