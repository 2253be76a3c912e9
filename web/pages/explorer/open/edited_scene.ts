/* Scenes that were changed, as pictures: their code is in the address. Loaded with the first. */
import { sceneColours, sceneShapes } from '../../heed/index.js'
import { codeOfScene, sceneOfCode } from '../state/scene_code.js'
import { pictureOf, scenePictures } from '../../shared/scene_pictures.js'
import { say } from '../../languages/say.js'
import type { Scene } from 'heed'
import type { Page } from '../types.js'
import type { PagePicture } from '../../shared/types.js'

const names = { shapes: sceneShapes, colours: sceneColours }

/** @param scene one that was drawn */
export const codeOf = (scene: Scene) => codeOfScene(scene, names)

export async function editedPicture(
  { engine }: Pick<Page, 'engine'>,
  scene: Scene
): Promise<PagePicture> {
  const drawn = await engine.scene(scene)
  return { ...pictureOf(say('editedScene.yourScene'), null, drawn), code: codeOf(drawn.scene) }
}

/** The picture of a code in an address, or the scene of a seed with a sentence that blames the code. */
export async function picturesOfCode(
  page: Page,
  code: string,
  seed: number
): Promise<PagePicture[]> {
  try {
    return [await editedPicture(page, sceneOfCode(code, names))]
  } catch (error) {
    page.showError(new Error(say('errors.sceneLink', { why: (error as Error).message, seed })))
    return scenePictures(page, [seed])
  }
}
