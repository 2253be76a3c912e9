/* Models by address: the files of a folder, and those beside a lone file of weights. Loaded with the
 * first address. It imports nothing, so that bundlers leave the scripts that a page starts with as
 * they are. */
/** @import {FolderTools, NamedFile} from '../types/library.js' */

const openClip = 'open_clip_config.json',
  beside = ['config.json', 'preprocessor_config.json', openClip]

/**
 * A folder says in its index which shards it has.
 * @param {string} url
 * @param {FolderTools} tools
 */
export async function openFolder(url, { open, closeAll, indexName, shardsOf, wholeOf }) {
  const folder = url.endsWith('/') ? url : `${url}/`,
    openHere = (/** @type {string[]} */ names) =>
      open(names.map((name) => [name, folder + encodeURIComponent(name)]))
  const files = await openHere([...beside, indexName]),
    index = files.find(({ name }) => name === indexName)
  try {
    let found = await openHere(
      index ? shardsOf(index.size, () => wholeOf(index)) : ['model.safetensors']
    )
    if (!index && !found[0])
      found = await (await import('./pickle.js')).openTorch(openHere, { shardsOf, wholeOf })
    if (files.some(({ name }) => name === openClip))
      for (const end of ['model.safetensors', 'pytorch_model.bin'])
        if (!found[0]) found = await openHere([`open_clip_${end}`])
    return [...files, ...found]
  } catch (error) {
    closeAll(files)
    throw error
  }
}

/**
 * The small files beside weights: those that can be had.
 * @param {string} weights their address
 * @param {FolderTools} tools
 * @returns {Promise<NamedFile[]>}
 */
export async function openBeside(weights, { open }) {
  const found = await Promise.all(
    beside.map(async (name) => {
      try {
        return await open([[name, new URL(name, weights).href]])
      } catch {
        return []
      }
    })
  )
  return found.flat()
}
