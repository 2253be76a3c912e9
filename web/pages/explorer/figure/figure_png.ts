/* PNG files: of a raster, and what a figure's PNG says of itself (size in print, texts). */
import { createSum } from '../../shared/array_files.js'
import type { Raster } from 'heed/plot'

const signature = [137, 80, 78, 71, 13, 10, 26, 10]
const encoder = new TextEncoder()

function chunk(type: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(12 + body.length),
    view = new DataView(bytes.buffer),
    sum = createSum()
  view.setUint32(0, body.length)
  bytes.set(encoder.encode(type), 4)
  bytes.set(body, 8)
  sum.add(bytes.subarray(4, 8 + body.length))
  view.setUint32(8 + body.length, sum.end())
  return bytes
}

function joined(...parts: (Uint8Array | number[])[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  parts.reduce((at, part) => {
    bytes.set(part, at)
    return at + part.length
  }, 0)
  return bytes
}

const deflated = async (bytes: Uint8Array<ArrayBuffer>) =>
  new Uint8Array(
    await new Response(
      new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))
    ).arrayBuffer()
  )

/** A raster as PNG, RGBA, each pixel `times` in both directions: so that viewers that smooth
 * pictures keep the patches' edges. */
export async function pngOfRaster({ data, width, height }: Raster, times: number = 1) {
  const head = new DataView(new ArrayBuffer(13)),
    stride = 1 + width * times * 4,
    rows = new Uint8Array(stride * height * times)
  head.setUint32(0, width * times)
  head.setUint32(4, height * times)
  head.setUint32(8, 0x08060000)
  for (let y = 0; y < height; y++) {
    const first = y * times * stride
    for (let x = 0; x < width * times; x++) {
      const from = (y * width + Math.floor(x / times)) * 4
      rows.set(data.subarray(from, from + 4), first + 1 + x * 4)
    }
    for (let i = 1; i < times; i++) rows.copyWithin(first + i * stride, first, first + stride)
  }
  return joined(
    signature,
    chunk('IHDR', new Uint8Array(head.buffer)),
    chunk('IDAT', await deflated(rows)),
    chunk('IEND', new Uint8Array())
  )
}

export function pngUrlOf(bytes: Uint8Array) {
  let text = ''
  for (let i = 0; i < bytes.length; i += 0x8000)
    text += String.fromCharCode(...bytes.subarray(i, i + 0x8000))
  return `data:image/png;base64,${btoa(text)}`
}

/** A PNG with its size in print and texts: tEXt where a text is Latin-1, else iTXt. */
export function withTexts(
  png: Uint8Array,
  { dpi, texts }: { dpi: number; texts: Record<string, string> }
) {
  const size = new DataView(new ArrayBuffer(9)),
    first = 33 // after the signature and IHDR
  size.setUint32(0, Math.round(dpi / 0.0254))
  size.setUint32(4, Math.round(dpi / 0.0254))
  size.setUint8(8, 1) // metres
  const said = Object.entries(texts).map(([name, text]) =>
    /^[\n\x20-\x7e\xa1-\xff]*$/.test(text)
      ? chunk(
          'tEXt',
          joined(
            encoder.encode(`${name}\0`),
            Array.from(text, (sign) => sign.charCodeAt(0))
          )
        )
      : chunk('iTXt', encoder.encode(`${name}\0\0\0\0\0${text}`))
  )
  return joined(
    png.subarray(0, first),
    chunk('pHYs', new Uint8Array(size.buffer)),
    ...said,
    png.subarray(first)
  )
}
