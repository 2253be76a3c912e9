/* Which row the stage shows: what of the state names it, the model or file that it is of, and the
 * part of the picture that the model saw. */
import { keysOfChanges } from './changes.js'
import { cutOut } from '../model/seen_region.js'
/** @import {Page, PageSource, SavedMaps} from '../../../types/pages.js' */

const side = 224 // pixels of a picture that is kept beside a row

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
  ...keysOfChanges
]

export const square = () =>
  Object.assign(document.createElement('canvas'), { width: side, height: side })

/**
 * The stage's picture, square.
 * @param {Page} options
 */
export const pictureNow = ({ picture, engine }) => cutOut(picture, engine.result.region, square())

/**
 * The model, or the maps from a file, that the rows are of.
 * @param {Page} options
 * @returns {PageSource | SavedMaps}
 */
export const sourceOf = ({ engine, source }) => engine.saved ?? source
