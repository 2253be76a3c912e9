/* Drawn scenes as pictures, and the patch that such a picture is asked about first. */
import { say } from '../../languages/say.js'

/** @import {DrawnScene} from '../../../src/index.js' */
/** @import {Page, PagePicture} from '../../../types/pages.js' */

/**
 * A drawn scene as a picture; drawing: its objects, scene: its seed, or null for one that was
 * changed.
 * @param {string} name
 * @param {number | null} scene
 * @param {DrawnScene} drawn
 * @returns {PagePicture}
 */
export function pictureOf(name, scene, { image, twins, owner, scene: drawing }) {
  const source = new ImageData(image.data, image.width, image.height)
  return { source, width: image.width, height: image.height, name, scene, drawing, twins, owner }
}

/**
 * @param {Pick<Page, 'engine'>} options
 * @param {number[]} seeds
 */
export function scenePictures({ engine }, seeds) {
  return Promise.all(
    seeds.map(async (seed) =>
      pictureOf(say('scenePictures.scene', { seed }), seed, await engine.scene(seed))
    )
  )
}

/**
 * The patch of a twin that lies most inside it: has the most neighbours of the same object.
 * @param {Partial<Pick<DrawnScene, 'twins' | 'owner'>>} scene
 * @returns {[row: number, column: number] | null}
 */
export function twinPatch({ twins, owner }, columns = 14) {
  if (!twins) return null
  /** @param {number} index */
  const mine = (index) => /** @type {Uint8Array} */ (owner)[index] === twins[0]
  /** @param {number} i */
  const score = (i) =>
    mine(i) ? 1 + [i - 1, i + 1, i - columns, i + columns].filter(mine).length : 0
  const best = Array.from(/** @type {Uint8Array} */ (owner).keys()).reduce((a, b) =>
    score(b) > score(a) ? b : a
  )
  return [Math.floor(best / columns), best % columns]
}
