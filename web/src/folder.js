/* Models by address: the files of a folder, and those beside a lone file of weights. Loaded with the
 * first address. It imports nothing, so that bundlers leave the scripts that a page starts with as
 * they are. */
/** @import {FolderTools, NamedFile} from '../types/library.js' */

const openClip = 'open_clip_config.json',
  inOnnx = /\/onnx\/[^/]*\.onnx([?#]|$)/,
  beside = ['config.json', 'preprocessor_config.json', 'processor_config.json', openClip]

/**
 * A folder says in its index which shards it has.
 * @param {string} url
 * @param {FolderTools} tools
 */
export async function openFolder(url, tools) {
  const { open, closeAll, wholeOf } = tools,
    { indexName, shardsOf } = await import('./shards.js')
  const folder = url.endsWith('/') ? url : `${url}/`,
    openHere = (/** @type {string[]} */ names) =>
      open(names.map((name) => [name, folder + encodeURIComponent(name)]))
  const files = await openHere([...beside, indexName]),
    index = files.find(({ name }) => name === indexName)
  try {
    let found = await openHere(
      index ? shardsOf(index.size, () => wholeOf(index), indexName, tools) : ['model.safetensors']
    )
    if (!index && !found[0])
      found = await (await import('./pickle.js')).openTorch(openHere, shardsOf, tools)
    if (files.some(({ name }) => name === openClip))
      for (const end of ['model.safetensors', 'pytorch_model.bin'])
        if (!found[0]) found = await openHere([`open_clip_${end}`])
    if (!found[0]) found = await (await import('./onnx_files.js')).openIn(folder, open)
    return [...files, ...found]
  } catch (error) {
    closeAll(files)
    throw error
  }
}

/**
 * The small files beside weights: those that are there. A server may refuse to say that it has
 * none, or not to pages of another origin; what fails otherwise is no answer, and without a file the
 * model could be another. transformers.js has those of onnx/ above it.
 * @param {string} weights their address
 * @param {FolderTools} tools
 * @returns {Promise<NamedFile[]>}
 */
export async function openBeside(weights, tools) {
  const { open, closeAll } = tools,
    opened = await Promise.all(
      beside.map(async (name) => {
        try {
          return await open([[name, new URL(name, weights).href]])
        } catch (error) {
          if (
            weights.startsWith('file:') ||
            /HTTP (429|5\d\d)/.test(/** @type {Error} */ (error).message)
          )
            throw error
          return []
        }
      })
    )
  const found = opened.flat()
  if (found.some(({ name }) => name === beside[0]) || !inOnnx.test(weights)) return found
  closeAll(found)
  return openBeside(new URL('..', weights).href, tools)
}
