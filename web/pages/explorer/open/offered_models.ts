/* The models and pictures that the server of this page offers: models.json beside the pages. docs/web.md has its
 * format; web/list_models.js and serve.js --models write it. */
import { say } from '../../languages/say.js'
import { ask } from './model_cache.js'
import type { ListedModel } from '../types.js'
import type { ModelList, OfferedModel } from '../../shared/types.js'

const listName = 'models.json'

function invalid(where: string, found: unknown, expected: string): never {
  const text = JSON.stringify(found) ?? say('offers.nothing'),
    short = text.length > 60 ? `${text.slice(0, 60)}…` : text
  throw new Error(say('offers.invalid', { list: listName, where, found: short, expected }))
}

/** A plain relative path: no parent folder, no scheme, no query. */
const plainPath = /^(?!\.\.?(\/|$))[^\\/:?#%]+(\/(?!\.\.?(\/|$))[^\\/:?#%]+)*$/

/** Bytes and hash of a file. */
function expectBytes(file: any, where: string): { size: number; sha256: string } {
  const { size, sha256 } = file ?? {}
  if (!Number.isSafeInteger(size) || size < 1) invalid(`${where}.size`, size, say('offers.size'))
  if (!/^[0-9a-f]{64}$/.test(sha256)) invalid(`${where}.sha256`, sha256, say('offers.digits'))
  return { size, sha256 }
}

function expectTexts(offer: any, where: string) {
  for (const key of ['name', 'address', 'licence'])
    if (typeof offer?.[key] !== 'string' || !offer[key] || offer[key].length > 300)
      invalid(`${where}.${key}`, offer?.[key], say('offers.text', { most: 300 }))
}

function fileOf(file: any, where: string, folder: URL): ListedModel['files'][0] {
  const { path } = file ?? {}
  if (typeof path !== 'string' || !plainPath.test(path))
    invalid(`${where}.path`, path, say('offers.path'))
  const name = path.split('/').pop() as string
  return { name, url: new URL(path, folder).href, ...expectBytes(file, where) }
}

export type Offer = Omit<OfferedModel, 'files' | 'address'> & { listed: ListedModel }
function offerOf(model: any, index: number, base: string): Offer {
  const where = `models[${index}]`
  expectTexts(model, where)
  if (model.trained !== undefined && typeof model.trained !== 'string')
    invalid(`${where}.trained`, model.trained, say('offers.anyText'))
  if (!Array.isArray(model.files) || !model.files.length)
    invalid(`${where}.files`, model.files, say('offers.files'))
  if (!URL.canParse(model.address, base) || !model.address.endsWith('/'))
    invalid(`${where}.address`, model.address, say('offers.folder'))
  const folder = new URL(model.address, base),
    files = model.files.map((file: any, i: number) =>
      fileOf(file, `${where}.files[${i}]`, folder)
    ) as ListedModel['files']
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

function pictureOf(picture: any, index: number, base: string): Offer {
  const where = `pictures[${index}]`
  expectTexts(picture, where)
  if (!URL.canParse(picture.address, base) || picture.address.endsWith('/'))
    invalid(`${where}.address`, picture.address, say('offers.picture'))
  const { name, licence, address } = picture,
    { href: url } = new URL(address, base),
    file = { name, url, ...expectBytes(picture, where) }
  return {
    name,
    licence,
    listed: { address: url, kind: 'picture', name, files: [file], size: file.size }
  }
}

/**
 * What a list offers, all of it checked.
 * @param base the list's own address
 */
export function offersIn(text: string, base: string) {
  let list: ModelList
  try {
    list = JSON.parse(text)
  } catch (error) {
    throw new Error(say('offers.noJson', { list: listName, why: (error as Error).message }))
  }
  const { models, pictures = [] } = list ?? {}
  for (const [name, found] of Object.entries({ models, pictures }))
    if (!Array.isArray(found)) invalid(name, found, say('offers.list'))
  return [
    ...models.map((model, i) => offerOf(model, i, base)),
    ...pictures.map((picture, i) => pictureOf(picture, i, base))
  ]
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
