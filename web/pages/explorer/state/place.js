/* Which row the stage shows: what of the state names it, the model or file that it is of, and the
 * part of the picture that the model saw. */
import { keysOfChanges } from './changes.js'
import { cutOut } from '../model/seen_region.js'
/** @import {Page, PageSource, SavedMaps} from '../../../types/pages.js' */

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

/**
 * A canvas for the picture of a row.
 * @param {{rows: number, columns: number}} shape
 */
export const canvasOf = ({ rows, columns }) =>
  Object.assign(document.createElement('canvas'), {
    width: side,
    height: Math.max(1, Math.round((side * rows) / columns))
  })

/**
 * The stage's picture.
 * @param {Page} options
 */
export const pictureNow = ({ picture, engine }) =>
  cutOut(picture, engine.result.region, canvasOf(engine.shape))

/**
 * The model, or the maps from a file, that the rows are of.
 * @param {Page} options
 * @returns {PageSource | SavedMaps}
 */
export const sourceOf = ({ engine, source }) => engine.saved ?? source
