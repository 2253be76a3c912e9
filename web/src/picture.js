/* What run takes, described so that it can be sent to a worker: { input: { values } | { picture },
 * transfer }. */
import { HeedError, said } from './error.js'
import { isArrayOf } from './realm.js'
/** @import {ImageInput, Picture} from './index.js' */
/** @import {RunInput} from '../types/library.js' */

/**
 * @param {unknown} input
 * @returns {input is Picture}
 */
const isPicture = (input) =>
  isArrayOf(/** @type {Picture} */ (input)?.data, 'Uint8ClampedArray', 'Uint8Array')

/**
 * @param {ImageInput} input
 * @returns {Promise<{input: RunInput, transfer: Transferable[]}>}
 */
export async function describeInput(input) {
  if (isArrayOf(input, 'Float32Array'))
    return {
      input: { values: /** @type {Float32Array} */ (input) },
      transfer: []
    }
  if (isPicture(input))
    return {
      input: { picture: { data: input.data, width: input.width, height: input.height } },
      transfer: []
    }
  const { pixelsOf } = await import('./drawn_picture.js')
  try {
    const { data, width, height } = pixelsOf(/** @type {any} */ (input))
    return { input: { picture: { data, width, height } }, transfer: [data.buffer] }
  } catch (error) {
    throw new HeedError(
      'INVALID_ARGUMENT',
      `run: invalid image (found ${said(input)}, expected pixel_values, RGBA bytes or an image source of a canvas: ${/** @type {Error} */ (error).message})`
    )
  }
}
