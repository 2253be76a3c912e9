/* Which row the stage shows: what of the state names it, the model or file that it is of, and the
 * part of the picture that the model saw. */
import { keysOfChanges } from '../../shared/changes.js'
import { cutOut } from '../model/seen_region.js'
import type { Page } from '../types.js'
import type { PageSource, SavedMaps } from '../../shared/types.js'

const side = 224 // width in pixels of a picture that is kept beside a row

/** What of the state says which row it is. */
export const keysOfPlace = [
  'layer',
  'head',
  'query',
  'reverse',
  'score',
  'fusion',
  'first',
  'last',
  'residual',
  'discard',
  'fit',
  'size',
  ...keysOfChanges
]

/** A canvas for the picture of a row. */
export const canvasOf = ({ rows, columns }: { rows: number; columns: number }) =>
  Object.assign(document.createElement('canvas'), {
    width: side,
    height: Math.max(1, Math.round((side * rows) / columns))
  })

/** The stage's picture. */
export const pictureNow = ({ picture, engine }: Page) =>
  cutOut(picture, engine.result.region, canvasOf(engine.shape))

/** The model, or the maps from a file, that the rows are of. */
export const sourceOf = ({ engine, source }: Page): PageSource | SavedMaps => engine.saved ?? source
