/* What lies on a patch of a drawn scene, in words: "the teal star", "the background". */
import { sceneColours } from '../../heed/index.js'
import { say } from '../../languages/say.js'
import { className } from '../../shared/names.js'
import type { Scene } from 'heed'
import type { Page } from '../types.js'

/** undefined where the picture is no scene, or is seen in other patches than it was drawn for. */
export function sceneObjects({ picture, engine }: Pick<Page, 'picture' | 'engine'>) {
  const { rows, columns } = engine.shape,
    { owner, drawing } = picture
  if (!owner || !drawing || owner.length !== rows * columns) return undefined
  const colours = say('names.colours').split(' '),
    names = (drawing as Scene).objects.map(({ shape, colour }) =>
      say('caption.object', {
        colour: colours[sceneColours.indexOf(colour)] ?? colour,
        shape: className(shape)
      })
    )
  return (patch: number) => names[owner[patch]] ?? say('tour.ground')
}
