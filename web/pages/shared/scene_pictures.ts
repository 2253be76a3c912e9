/* Drawn scenes as pictures, and the patch that such a picture is asked about first. */
import { say } from '../languages/say.js'

import type { DrawnScene } from 'heed'
import type { Page } from '../explorer/types.js'
import type { PagePicture } from './types.js'

/** A drawn scene as a picture; drawing: its objects, scene: its seed, or null for one that was
 * changed. */
export function pictureOf(
  name: string,
  scene: number | null,
  { image, twins, owner, scene: drawing }: DrawnScene
): PagePicture {
  const source = new ImageData(image.data, image.width, image.height)
  return { source, width: image.width, height: image.height, name, scene, drawing, twins, owner }
}

export function scenePictures({ engine }: Pick<Page, 'engine'>, seeds: number[]) {
  return Promise.all(
    seeds.map(async (seed) =>
      pictureOf(say('scenePictures.scene', { seed }), seed, await engine.scene(seed))
    )
  )
}

/** The patch of a twin that lies most inside it: has the most neighbours of the same object. */
export function twinPatch(
  { twins, owner }: Partial<Pick<DrawnScene, 'twins' | 'owner'>>,
  columns = 14
): [row: number, column: number] | null {
  if (!twins) return null
  const mine = (index: number) => (owner as Uint8Array)[index] === twins[0]
  const score = (i: number) =>
    mine(i) ? 1 + [i - 1, i + 1, i - columns, i + columns].filter(mine).length : 0
  const best = Array.from((owner as Uint8Array).keys()).reduce((a, b) =>
    score(b) > score(a) ? b : a
  )
  return [Math.floor(best / columns), best % columns]
}
