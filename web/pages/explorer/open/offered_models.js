/* The models that the server of this page offers: models.json beside the pages. docs/web.md has its
 * format; web/list_models.js and serve.js --models write it. */
import { say } from '../../languages/say.js'
import { ask } from './model_cache.js'
/** @import {ListedModel, ModelList, OfferedModel} from '../../../types/pages.js' */

const listName = 'models.json'

/**
 * @param {string} where
 * @param {unknown} found
 * @param {string} expected
 * @returns {never}
 */
function invalid(where, found, expected) {
  const text = JSON.stringify(found) ?? say('offers.nothing'),
    short = text.length > 60 ? `${text.slice(0, 60)}…` : text
  throw new Error(say('offers.invalid', { list: listName, where, found: short, expected }))
}

/** A plain relative path: no parent folder, no scheme, no query. */
const plainPath = /^(?!\.\.?(\/|$))[^\\/:?#%]+(\/(?!\.\.?(\/|$))[^\\/:?#%]+)*$/

/**
 * @param {any} file
 * @param {string} where
 * @param {URL} folder
 * @returns {ListedModel['files'][0]}
 */
function fileOf(file, where, folder) {
  const { path, size, sha256 } = file ?? {}
  if (typeof path !== 'string' || !plainPath.test(path))
    invalid(`${where}.path`, path, say('offers.path'))
  if (!Number.isSafeInteger(size) || size < 1) invalid(`${where}.size`, size, say('offers.size'))
  if (!/^[0-9a-f]{64}$/.test(sha256)) invalid(`${where}.sha256`, sha256, say('offers.digits'))
  const name = /** @type {string} */ (path.split('/').pop())
  return { name, url: new URL(path, folder).href, size, sha256 }
}

/**
 * @typedef {OfferedModel & {listed: ListedModel}} Offer
 * @param {any} model
 * @param {number} index
 * @param {string} base
 * @returns {Offer}
 */
function offerOf(model, index, base) {
  const where = `models[${index}]`
  for (const key of ['name', 'address', 'licence'])
    if (typeof model?.[key] !== 'string' || !model[key] || model[key].length > 300)
      invalid(`${where}.${key}`, model?.[key], say('offers.text', { most: 300 }))
  if (model.trained !== undefined && typeof model.trained !== 'string')
    invalid(`${where}.trained`, model.trained, say('offers.anyText'))
  if (!Array.isArray(model.files) || !model.files.length)
    invalid(`${where}.files`, model.files, say('offers.files'))
  if (!URL.canParse(model.address, base) || !model.address.endsWith('/'))
    invalid(`${where}.address`, model.address, say('offers.folder'))
  const folder = new URL(model.address, base),
    files = /** @type {ListedModel['files']} */ (
      model.files.map((/** @type {any} */ file, /** @type {number} */ i) =>
        fileOf(file, `${where}.files[${i}]`, folder)
      )
    )
  return {
    ...model,
    listed: {
      address: folder.href,
      name: model.name,
      files,
      size: files.reduce((sum, { size }) => sum + size, 0)
    }
  }
}

/**
 * What a list offers, all of it checked.
 * @param {string} text
 * @param {string} base the list's own address
 */
export function offersIn(text, base) {
  /** @type {ModelList} */
  let list
  try {
    list = JSON.parse(text)
  } catch (error) {
    throw new Error(
      say('offers.noJson', { list: listName, why: /** @type {Error} */ (error).message })
    )
  }
  if (!Array.isArray(list?.models)) invalid('models', list?.models, say('offers.list'))
  return list.models.map((model, i) => offerOf(model, i, base))
}

/** The offers of this server; none where it has no list, or cannot be reached. */
export async function readOffers() {
  const url = new URL(listName, document.baseURI),
    answer = await fetch(url).catch(() => null)
  if (!answer?.ok) return []
  const offers = offersIn(await answer.text(), url.href)
  for (const { listed } of offers) for (const file of listed.files) ask(new URL(file.url))
  return offers
}
