/* What run and prepare are given, put where a session reads it. */
import { HeedError, said } from './error.js'
import type { OpenSession, RunInput } from '../types/library.js'
import type { Picture, Region } from 'heed'

/** The numbers of a session's pixel_values. */
export const pixelCount = ({ info, channels, frames }: OpenSession) =>
  info.batch * (frames || 1) * channels * info.height * info.width

/** A session's pixel_values as they lie in the module's memory. */
export const pixelsOf = (of: OpenSession) =>
  new Float32Array(of.module.memory.buffer, of.pixels, pixelCount(of))

/** How many pictures a session takes, in words. */
function countOf({ info: { batch }, frames }: OpenSession) {
  if (!frames) return batch === 1 ? 'one image' : `${batch} images`
  return batch === 1 ? `${frames} frames of a video` : `${batch} videos of ${frames} frames`
}

/** @param first of the same video */
function refuseWrong({ data, width, height }: Picture, own: number, first: Picture) {
  const channels = data.length / (width * height)
  if (
    !Number.isInteger(width) ||
    !Number.isInteger(height) ||
    width < 1 ||
    ![1, 3, 4, own].includes(channels)
  )
    throw new HeedError(
      'INVALID_ARGUMENT',
      `run: invalid image (found ${data.length} bytes for ${said(width)} x ${said(height)}, expected 1, 3 or 4 per pixel)`
    )
  if (width !== first.width || height !== first.height)
    throw new HeedError(
      'INVALID_ARGUMENT',
      `run: frames of different sizes (found ${said(width)} x ${said(height)}, expected ${first.width} x ${first.height})`
    )
}

/** @returns what the model sees of each image, of a video of its last frame; null for pixel_values */
export function writeInput(
  of: OpenSession,
  { values, pictures }: RunInput,
  fit?: 'model' | 'whole'
): Region[] | null {
  const { module, address, channels: own, frames, info } = of,
    each = frames || 1
  if (!pictures) {
    const count = pixelCount(of),
      found = (values as Float32Array).length
    if (found !== count)
      throw new HeedError(
        'INVALID_ARGUMENT',
        `run: invalid pixel_values (found ${found}, expected ${count} numbers)`
      )
    pixelsOf(of).set(values as Float32Array)
    return null
  }
  if (pictures.length !== info.batch * each)
    throw new HeedError(
      'INVALID_ARGUMENT',
      `run: invalid images (found ${pictures.length}, expected ${countOf(of)})`
    )
  return pictures.flatMap((picture, at) => {
    refuseWrong(picture, own, pictures[at - (at % each)])
    const { data, width, height } = picture
    module.lend([data], (from) =>
      module.check(
        module.exports.session_picture(
          ...[address, from, width, height, data.length / (width * height), fit === 'whole', at]
        )
      )
    )
    return at % each === each - 1 ? [module.out('region')] : []
  })
}
