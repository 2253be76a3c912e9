/* Models by address: the files of a folder, and those beside a lone file of weights. */
import { HeedError } from './error.js'
import { builtin } from './host.js'
import { openIn } from './onnx_files.js'
import { indexName, shardsOf } from './shards.js'
import type { NamedFile, OpenNamed, Source } from '../types/library.js'

const openClip = 'open_clip_config.json',
  inOnnx = /\/onnx\/[^/]*\.onnx([?#]|$)/,
  beside = ['config.json', 'preprocessor_config.json', 'processor_config.json', openClip]

/** Of this machine also what its user wrote; a server is not asked for a file that few have. */
const besideOf = (url: string) => (url.startsWith('file:') ? [...beside, 'names.json'] : beside)

export const closeAll = (files: Source[]) => files.forEach((file) => file.close())

export function wholeOf(file: Source) {
  const bytes = new Uint8Array(file.size)
  file.read(0, bytes)
  return bytes
}

/** A folder says in its index which shards it has. */
export async function openFolder(url: string, open: OpenNamed) {
  const folder = url.endsWith('/') ? url : `${url}/`,
    openHere = (names: string[]) =>
      open(names.map((name) => [name, folder + encodeURIComponent(name)]))
  const files = await openHere([...besideOf(folder), indexName]),
    index = files.find(({ name }) => name === indexName)
  try {
    let found = await openHere(
      index ? shardsOf(index.size, () => wholeOf(index), indexName) : ['model.safetensors']
    )
    if (!index && !found[0]) found = await openTorch(openHere)
    if (files.some(({ name }) => name === openClip))
      for (const end of ['model.safetensors', 'pytorch_model.bin'])
        if (!found[0]) found = await openHere([`open_clip_${end}`])
    if (!found[0]) found = await openIn(folder, open)
    if (!found[0] && folder.startsWith('file:')) found = await openUnnamed(folder, open)
    return [...files, ...found]
  } catch (error) {
    closeAll(files)
    throw error
  }
}

const torchIndex = 'pytorch_model.bin.index.json'

/** Files of PyTorch in a folder that has no others. */
async function openTorch(open: (names: string[]) => Promise<NamedFile[]>) {
  const files = await open([torchIndex])
  try {
    const names = files.map((file) => shardsOf(file.size, () => wholeOf(file), torchIndex))
    return [...files, ...(await open(names[0] ?? ['pytorch_model.bin']))]
  } catch (error) {
    closeAll(files)
    throw error
  }
}

/**
 * The one file of a folder of this machine whose first bytes are those of weights, whatever its name.
 * @param folder its address, with a slash
 */
async function openUnnamed(folder: string, open: OpenNamed): Promise<NamedFile[]> {
  const { readdir } = await builtin('fs/promises'),
    entries = await readdir(new URL(folder), { withFileTypes: true }).catch(() => []),
    names = entries
      .filter((entry: import('node:fs').Dirent) => entry.isFile() || entry.isSymbolicLink())
      .map(({ name }: import('node:fs').Dirent) => name)
      .filter(
        (name: string) =>
          !/^\.|\.(json|txt|model|md|png|jpe?g|onnx|incomplete)$/i.test(name) &&
          !/^(optimizer|scheduler|rng_state|training_args|scaler)/.test(name)
      )
      .sort(),
    found = []
  for (const name of names) {
    const [file] = await open([[name, folder + encodeURIComponent(name)]]).catch(() => [])
    if (file && file.size > 8 && begins(file)) found.push(file)
    else file?.close()
  }
  if (found.length < 2) return found
  closeAll(found)
  throw new HeedError(
    'INVALID_FILE',
    `model: several weight files (found ${found.length}, such as ${found[0].name} and ${found[1].name}, expected one; give the file itself)`
  )
}

/** Whether a file begins as one of PyTorch or .safetensors. */
function begins(file: NamedFile) {
  const first = new Uint8Array(9)
  file.read(0, first)
  const [a, b, c, d] = first
  return (
    (a === 0x80 && b > 1 && b < 6) ||
    (a === 0x50 && b === 0x4b && c === 3 && d === 4) ||
    (first[8] === 123 && !first[6] && !first[7])
  )
}

/**
 * The small files beside weights: those that are there. A server may refuse to say that it has
 * none, or not to pages of another origin; what fails otherwise is no answer, and without a file the
 * model could be another. transformers.js has those of onnx/ above it.
 * @param weights their address
 */
export async function openBeside(weights: string, open: OpenNamed): Promise<NamedFile[]> {
  const opened = await Promise.all(
    besideOf(weights).map(async (name) => {
      try {
        return await open([[name, new URL(name, weights).href]])
      } catch (error) {
        if (weights.startsWith('file:') || /HTTP (429|5\d\d)/.test((error as Error).message))
          throw error
        return []
      }
    })
  )
  const found = opened.flat()
  if (found.some(({ name }) => name === beside[0]) || !inOnnx.test(weights)) return found
  closeAll(found)
  return openBeside(new URL('..', weights).href, open)
}
