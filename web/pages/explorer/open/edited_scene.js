/* Scenes that were changed, as pictures: their code is in the address. Loaded with the first. */
import { sceneColours, sceneShapes } from '../../heed/index.js'
import { codeOfScene, sceneOfCode } from '../state/scene_code.js'
import { pictureOf, scenePictures } from './scene_pictures.js'
import { say } from '../../languages/say.js'
/** @import {Scene} from '../../../src/index.js' */
/** @import {Page, PagePicture} from '../../../types/pages.js' */

const names = { shapes: sceneShapes, colours: sceneColours }

/** @param {Scene} scene one that was drawn */
export const codeOf = (scene) => codeOfScene(scene, names)

/**
 * @param {Pick<Page, 'engine'>} page
 * @param {Scene} scene
 * @returns {Promise<PagePicture>}
 */
export async function editedPicture({ engine }, scene) {
  const drawn = await engine.scene(scene)
  return { ...pictureOf(say('editedScene.yourScene'), null, drawn), code: codeOf(drawn.scene) }
}

/**
 * The picture of a code in an address, or the scene of a seed with a sentence that blames the code.
 * @param {Page} page
 * @param {string} code
 * @param {number} seed
 * @returns {Promise<PagePicture[]>}
 */
export async function picturesOfCode(page, code, seed) {
  try {
    return [await editedPicture(page, sceneOfCode(code, names))]
  } catch (error) {
    page.showError(
      new Error(say('errors.sceneLink', { why: /** @type {Error} */ (error).message, seed }))
    )
    return scenePictures(page, [seed])
  }
}
