/* Pictures in Node, by sharp, where the application has installed it: 8 bits a channel, turned as EXIF says, with
 * the numbers of the file's own colours, as heed decodes them elsewhere. */
import type { Picture } from 'heed'

/**
 * The name is given from outside: bundlers for browsers would follow one that they can see, and Next brings sharp along.
 * @param name of the decoder
 */
export async function decodeBySharp(
  blob: Blob,
  HeedError: typeof import('./error.js').HeedError,
  name: string
): Promise<Picture> {
  const found = await import(/* @vite-ignore */ /* webpackIgnore: true */ `${name}`).catch(
    (error) => {
      throw new HeedError(
        'UNSUPPORTED',
        `look: no decoder of pictures here (found ${error.code === 'ERR_MODULE_NOT_FOUND' ? 'none' : `"${error.message}"`}, expected the package sharp (npm install sharp), the option decode, or { data, width, height })`
      )
    }
  )
  try {
    const bytes = new Uint8Array(await blob.arrayBuffer()),
      { orientationOf, turn } = await import('./orientation.js'),
      orientation = await orientationOf(bytes),
      picture = found.default(bytes, { ignoreIcc: true }),
      // sharp does not know all places of it
      { data, info } = await (orientation ? picture : picture.rotate())
        .toColourspace('srgb')
        .raw({ depth: 'uchar' })
        .toBuffer({ resolveWithObject: true })
    return turn({ data, width: info.width, height: info.height }, orientation ?? 1)
  } catch (error) {
    throw new HeedError(
      'INVALID_FILE',
      `look: the picture could not be decoded (found "${(error as Error).message}", expected one that sharp reads)`
    )
  }
}
