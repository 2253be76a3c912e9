/* What a link says that is not shown: parts that cannot be read, and what this model does not have.
 * Loaded with a page that was opened by a link. */
import { fromHash, keys, write } from './address.js'
import { fitted } from './defaults.js'
/** @import {Page, Shape, State} from '../../../types/pages.js' */

const longest = 60 // characters of a part that are shown

/**
 * The parts that cannot be read, and those that say more than this shape has.
 * @param {string} hash
 * @param {Shape} shape
 */
export function lostParts(hash, shape) {
  const parts = [...new URLSearchParams(hash.replace(/^#/, ''))],
    lost = (/** @type {string[]} */ [key, text]) => {
      const [name, read] = (Object.hasOwn(keys, key) && keys[key]) || []
      if (!name || read?.(text) === undefined) return true
      const alone = fromHash(`#${new URLSearchParams([[key, text]])}`)
      return write(alone[name], name) !== write(fitted(alone, shape)[name], name)
    }
  return parts.filter(lost).map(([key, text]) => `${key}=${text}`.slice(0, longest))
}

/**
 * Says what of a link is not shown, where anything is not.
 * @param {Page} page
 * @param {string} hash
 */
export function reportLink(page, hash) {
  const { shape } = page.engine,
    lost = lostParts(hash, shape)
  if (!lost.length) return
  page.showError(
    new Error(
      `Parts of the link are not shown (found ${lost.slice(0, 3).join(', ')}${lost.length > 3 ? ` and ${lost.length - 3} more` : ''}; this model has ${shape.layers} layers of ${shape.heads} heads and ${shape.rows} × ${shape.columns} patches). The rest is.`
    )
  )
}
