/* Files around an ONNX file: which of a folder's is the model, and where its external data lies;
 * foreign.js opens them. */
import { builtin } from './host.js'
import type { ForeignTools, NamedFile, NamedSource, OpenFile } from '../types/library.js'

/* In the order in which one of several is taken, as heed_onnx_file_rank has it: the exact weights
 * before those that are rounded, the whole model before the part that sees. */
export const names = ['', '_fp16', '_quantized', '_int8', '_uint8', '_q4', '_q4f16'].flatMap(
  (end) => [`model${end}.onnx`, `vision_model${end}.onnx`]
)

/** The place of a name in that order; more than all of them where it has none. */
export const rankOf = (name: string) =>
  (names.indexOf(name) + names.length + 1) % (names.length + 1)

/**
 * The ONNX file of a folder that has no other weights, beside its config files or in onnx/.
 * @param folder its address, with a slash
 */
export async function openIn(folder: string, open: (named: NamedSource[]) => Promise<NamedFile[]>) {
  for (const name of names)
    for (const place of ['', 'onnx/']) {
      const found = await open([[name, folder + place + name]])
      if (found[0]) return found
    }
  return []
}

/**
 * Whether a file of the machine is a link, or lies behind one: a name could otherwise reach any
 * file that the user may read.
 */
async function isLink(url: string, beside: string) {
  const { promises: fs } = await builtin('fs'),
    { fileURLToPath } = await builtin('url'),
    file = fileURLToPath(url),
    folder = fileURLToPath(new URL('.', beside))
  try {
    return (
      (await fs.stat(file)).nlink > 1 ||
      (await fs.realpath(file)) !== (await fs.realpath(folder)) + file.slice(folder.length - 1) // from its separator on
    )
  } catch {
    return false // it is not there
  }
}

/**
 * External data of an ONNX file: given with it by its path or its name, or beneath its folder.
 * location: a relative path of plain names. Nothing where there is no such file, -2 where it is a
 * link.
 */
export async function openData(
  onnx: OpenFile,
  location: string,
  files: OpenFile[],
  bring: ForeignTools['bring']
): Promise<OpenFile | -2 | undefined> {
  const name = location.split('/').pop() as string,
    given =
      files.find((other) => other !== onnx && other.name === location) ??
      files.find((other) => other !== onnx && other.name === name),
    { address } = onnx.file
  if (given || typeof address !== 'string') return given
  const url = new URL(location.split('/').map(encodeURIComponent).join('/'), address).href
  if (url.startsWith('file:') && (await isLink(url, address))) return -2
  return (await bring([[name, url]]))[0]
}

/** By its name, or as heed_onnx_begins says it. */
export function isOnnx(file: NamedFile) {
  const first = new Uint8Array(3)
  file.read(0, first)
  return (
    /\.onnx$/i.test(file.name) ||
    (first[0] === 8 && first[1] > 0 && first[1] < 33 && [18, 26, 34, 50, 58, 66].includes(first[2]))
  )
}
