/* Pictures and models of one's own, kept on this machine when someone asks for it. */
import { askToStay, keepPart, keepWhole, remove } from './kept_store.js'
import { decode } from './decode_picture.js'
import { filesOf } from '../../shared/weight_hashes.js'
import type { KeptThing, Page } from '../types.js'
import type { PagePicture } from '../../shared/types.js'

/** Models that were opened from what is kept. */
const fromKept: WeakSet<object> = new WeakSet()

/** The files of the model that is shown, where they are one's own and not kept; nothing else. */
export function ownModel({ engine, source }: Page): [name: string, file: Blob][] {
  const files = filesOf(source)
  return engine.saved || fromKept.has(source) || !files.every(([, file]) => file instanceof Blob)
    ? []
    : files
}

/** Whether the picture that is shown is one's own, and not kept. */
export const isOwnPicture = ({ picture }: Page) =>
  Boolean(picture && !picture.drawing && !picture.kept)

/** The file that a picture came from; where it came from none, its pixels as PNG. */
async function fileOf({ file, source, width, height }: PagePicture): Promise<Blob> {
  if (file) return file
  const canvas = new OffscreenCanvas(width, height),
    context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
  if (source instanceof ImageData) context.putImageData(source, 0, 0)
  else context.drawImage(source, 0, 0)
  return canvas.convertToBlob({ type: 'image/png' })
}

/** Keeps files under one name, all or none. Resolves to whether the browser promised to remove
 * nothing by itself. */
async function keepOwn(
  kind: 'model' | 'picture',
  name: string,
  files: [name: string, file: Blob][]
) {
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

export async function keepPicture({ picture }: Page) {
  const stays = await keepOwn('picture', picture.name, [[picture.name, await fileOf(picture)]])
  picture.kept = true
  return stays
}

export async function keepModel(page: Page, name: string) {
  const stays = await keepOwn('model', name, ownModel(page))
  fromKept.add(page.source)
  return stays
}

export async function openKept(page: Page, { kind, name, files }: KeptThing) {
  if (kind === 'picture') {
    const [[file, blob]] = Object.entries(files)
    return page.run({ ...(await decode(blob, file)), kept: true })
  }
  fromKept.add(files)
  await page.openModel(files, name, { anew: true })
}
