/* Pictures and models of one's own, kept on this machine when someone asks for it. */
import { askToStay, keepPart, keepWhole, remove } from './kept_store.js'
import { decode } from './decode_picture.js'
import { filesOf } from '../model/weight_hashes.js'
/** @import {KeptThing, Page, PagePicture} from '../../../types/pages.js' */

/** Models that were opened from what is kept. @type {WeakSet<object>} */
const fromKept = new WeakSet()

/**
 * The files of the model that is shown, where they are one's own and not kept; nothing else.
 * @param {Page} page
 * @returns {[name: string, file: Blob][]}
 */
export function ownModel({ engine, source }) {
  const files = filesOf(source)
  return engine.saved || fromKept.has(source) || !files.every(([, file]) => file instanceof Blob)
    ? []
    : files
}

/**
 * Whether the picture that is shown is one's own, and not kept.
 * @param {Page} page
 */
export const isOwnPicture = ({ picture }) => Boolean(picture && !picture.drawing && !picture.kept)

/**
 * The file that a picture came from; where it came from none, its pixels as PNG.
 * @param {PagePicture} picture
 * @returns {Promise<Blob>}
 */
async function fileOf({ file, source, width, height }) {
  if (file) return file
  const canvas = new OffscreenCanvas(width, height),
    context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'))
  if (source instanceof ImageData) context.putImageData(source, 0, 0)
  else context.drawImage(source, 0, 0)
  return canvas.convertToBlob({ type: 'image/png' })
}

/**
 * Keeps files under one name, all or none. Resolves to whether the browser promised to remove
 * nothing by itself.
 * @param {'model' | 'picture'} kind
 * @param {string} name
 * @param {[name: string, file: Blob][]} files
 */
async function keepOwn(kind, name, files) {
  const size = files.reduce((sum, [, file]) => sum + file.size, 0),
    key = `own:${kind}/${encodeURIComponent(name)}/${size}`
  await keepWhole(key, name, async () => {
    await remove(key)
    for (const [file, blob] of files) {
      const path = [kind, name, size, file].map(encodeURIComponent).join('/')
      await keepPart(
        { key, kind, name, file, url: new URL(`kept/${path}`, document.baseURI).href },
        blob
      )
    }
  })
  return askToStay()
}

/** @param {Page} page */
export async function keepPicture({ picture }) {
  const stays = await keepOwn('picture', picture.name, [[picture.name, await fileOf(picture)]])
  picture.kept = true
  return stays
}

/**
 * @param {Page} page
 * @param {string} name
 */
export async function keepModel(page, name) {
  const stays = await keepOwn('model', name, ownModel(page))
  fromKept.add(page.source)
  return stays
}

/**
 * @param {Page} page
 * @param {KeptThing} thing
 */
export async function openKept(page, { kind, name, files }) {
  if (kind === 'picture') {
    const [[file, blob]] = Object.entries(files)
    return page.run({ ...(await decode(blob, file)), kept: true })
  }
  fromKept.add(files)
  await page.openModel(files, name)
}
