/* What run takes, described so that it can be sent to a worker: { input: { values } | { pictures },
 * transfer }. */
import { HeedError, said } from './error.js'
import { isArrayOf } from './realm.js'
import type { ImageInput, Picture } from 'heed'
import type { RunInput } from '../types/library.js'

const isPicture = (input: unknown): input is Picture =>
  isArrayOf((input as Picture)?.data, 'Uint8ClampedArray', 'Uint8Array')

function noFrame(index: number): never {
  throw new HeedError(
    'INVALID_ARGUMENT',
    `run: invalid frame (found pixel_values as frame ${index}, expected images)`
  )
}

export function noPictures(): never {
  throw new HeedError(
    'INVALID_ARGUMENT',
    'prepare: nothing to prepare (found pixel_values, expected images)'
  )
}

export async function describeInput(
  input: ImageInput | ImageInput[]
): Promise<{ input: RunInput; transfer: Transferable[] }> {
  if (Array.isArray(input)) {
    const all = await Promise.all(input.map(describeInput))
    return {
      input: { pictures: all.flatMap(({ input }, i) => input.pictures ?? noFrame(i)) },
      transfer: [...new Set(all.flatMap(({ transfer }) => transfer))]
    }
  }
  if (isArrayOf(input, 'Float32Array'))
    return {
      input: { values: input as Float32Array },
      transfer: []
    }
  if (isPicture(input))
    return {
      input: { pictures: [{ data: input.data, width: input.width, height: input.height }] },
      transfer: []
    }
  const { pixelsOf } = await import('./drawn_picture.js')
  try {
    const { data, width, height } = pixelsOf(input as CanvasImageSource)
    return { input: { pictures: [{ data, width, height }] }, transfer: [data.buffer] }
  } catch (error) {
    throw new HeedError(
      'INVALID_ARGUMENT',
      `run: invalid image (found ${said(input)}, expected pixel_values, RGBA bytes or an image source of a canvas: ${(error as Error).message})`
    )
  }
}
