/* The orientation of a PNG or JPEG, in the places where native/image finds it (png_text.c, jpeg_read.c), for decoders
 * that know some of them alone. Loaded with the first picture in Node. It imports nothing. */
import type { Picture } from 'heed'

const most = 2 ** 20, // bytes of a text that is unpacked
  latin = new TextDecoder('latin1')

/** The tag of an EXIF block; undefined: it has none. */
function ofExif(block: Uint8Array) {
  if (latin.decode(block.subarray(0, 6)) === 'Exif\0\0') block = block.subarray(6)
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength),
    head = latin.decode(block.subarray(0, 4)),
    little = head === 'II*\0'
  if (!little && head !== 'MM\0*') return undefined
  try {
    const directory = view.getUint32(4, little),
      entries = view.getUint16(directory, little)
    for (let at = directory + 2; at < directory + 2 + 12 * entries; at += 12) {
      if (view.getUint16(at, little) !== 0x0112) continue
      const type = view.getUint16(at + 2, little)
      if (view.getUint32(at + 4, little) !== 1 || (type !== 3 && type !== 4)) return 1
      return type === 3 ? view.getUint16(at + 8, little) : view.getUint32(at + 8, little)
    }
  } catch {
    // an offset outside
  }
  return undefined
}

const ofXmp = (text: string | undefined) => {
  const found = text && /tiff:Orientation(?:="|>)([0-9])/.exec(text)
  return found ? Number(found[1]) : undefined
}

/** ImageMagick's hexadecimal digits behind three line breaks. */
function ofProfile(text: string) {
  const digits = text.split('\n').slice(3).join('').replace(/\s/g, '')
  if (digits.length % 2 || /[^0-9a-f]/i.test(digits)) return undefined
  return ofExif(Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)))
}

/** What a stream unpacks to, as far as it goes; undefined: nothing, or too much. */
async function unpack(bytes: Uint8Array) {
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>])
      .stream()
      .pipeThrough(new DecompressionStream('deflate'))
      .getReader(),
    parts: Uint8Array[] = []
  let size = 0
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value)
      size += part.value.length
      if (size > most) {
        void reader.cancel()
        return undefined
      }
    }
  } catch {
    if (!size) return undefined
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/**
 * A text chunk's keyword and bytes.
 * @param kind the first letter of its name
 */
async function textOf(kind: string, data: Uint8Array): Promise<[string, Uint8Array] | undefined> {
  const end = data.indexOf(0),
    key = latin.decode(data.subarray(0, end < 0 ? 0 : end))
  if (!/^(exif|Raw profile type exif|XML:com\.adobe\.xmp)$/.test(key)) return undefined
  let text = data.subarray(end + 1)
  if (kind === 't') return [key, text]
  const packed = kind === 'z' || text[0] !== 0,
    method = text[kind === 'z' ? 0 : 1]
  if (packed && method !== 0) return undefined
  if (kind === 'i') {
    const language = text.indexOf(0, 2),
      translated = text.indexOf(0, language + 1)
    if (language < 0 || translated < 0) return undefined
    text = text.subarray(translated + 1)
  } else text = text.subarray(1)
  const whole = packed ? await unpack(text) : text
  if (!whole) return kind === 'z' ? [key, new Uint8Array()] : undefined
  try {
    if (kind === 'i') new TextDecoder('utf-8', { fatal: true }).decode(whole)
  } catch {
    return undefined
  }
  return [key, whole]
}

async function ofPng(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    texts = new Map<string, Uint8Array>()
  let left = 64 // texts of these keywords
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = view.getUint32(at),
      name = latin.decode(bytes.subarray(at + 4, at + 8)),
      data = bytes.subarray(at + 8, at + 8 + length)
    if (name === 'IEND' || at + 12 + length > bytes.length) break
    if (name === 'eXIf') texts.set('exif', data)
    const found = /^(tEXt|zTXt|iTXt)$/.test(name) && left > 0 && (await textOf(name[0], data))
    if (found) {
      texts.set(...found)
      left--
    }
    at += 12 + length
  }
  const exif = texts.get('exif'),
    profile = texts.get('Raw profile type exif'),
    xmp = texts.get('XML:com.adobe.xmp')
  return (
    (exif ? ofExif(exif) : profile && ofProfile(latin.decode(profile))) ??
    ofXmp(xmp && latin.decode(xmp))
  )
}

function ofJpeg(bytes: Uint8Array) {
  const packet = 'http://ns.adobe.com/xap/1.0/\0'
  let exif = undefined as Uint8Array | undefined,
    xmp = undefined as string | undefined
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1],
      size = bytes[at + 2] * 256 + bytes[at + 3],
      data = bytes.subarray(at + 4, at + 2 + size)
    if (marker === 0xda) break
    if (marker === 0xff) {
      at++
      continue
    }
    if (marker === 0xe1 && !exif && latin.decode(data.subarray(0, 6)) === 'Exif\0\0') exif = data
    else if (marker === 0xe1 && latin.decode(data.subarray(0, packet.length)) === packet)
      xmp = latin.decode(data.subarray(packet.length))
    at += 2 + size
  }
  return (exif && ofExif(exif)) ?? ofXmp(xmp)
}

/** 1 to 8 of a PNG or JPEG; undefined: of another kind of file. */
export async function orientationOf(bytes: Uint8Array) {
  const png = bytes[0] === 0x89 && latin.decode(bytes.subarray(1, 8)) === 'PNG\r\n\x1a\n'
  if (!png && (bytes[0] !== 0xff || bytes[1] !== 0xd8)) return undefined
  const found = (png ? await ofPng(bytes) : ofJpeg(bytes)) ?? 1
  return found >= 1 && found <= 8 ? found : 1
}

/** The picture as an orientation of 1 to 8 turns it. */
export function turn({ data, width, height }: Picture, orientation: number): Picture {
  if (orientation === 1) return { data, width, height }
  const channels = data.length / (width * height),
    swapped = orientation >= 5,
    [columns, rows] = swapped ? [height, width] : [width, height],
    turned = new Uint8Array(data.length)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      let [x, y] = swapped ? [row, column] : [column, row]
      if ([2, 3, 7, 8].includes(orientation)) x = width - 1 - x
      if ([3, 4, 6, 7].includes(orientation)) y = height - 1 - y
      for (let c = 0, to = (row * columns + column) * channels; c < channels; c++)
        turned[to + c] = data[(y * width + x) * channels + c]
    }
  return { data: turned, width: columns, height: rows }
}
