/* What a link says that is not shown: parts that cannot be read, what this model does not have, and what was
 * one's own in an earlier visit.
 * Loaded with a page that was opened by a link. */
import { say } from '../../languages/say.js'
import { fromHash, keys, write } from './address.js'
import { fitted } from './defaults.js'
import type { Page } from '../types.js'
import type { Shape } from '../../shared/types.js'

const longest = 60 // characters of a part that are shown

/** The parts that cannot be read, and those that say more than this shape has. */
export function lostParts(hash: string, shape: Shape) {
  const parts = [...new URLSearchParams(hash.replace(/^#/, ''))],
    lost = ([key, text]: string[]) => {
      const [name, read] = (Object.hasOwn(keys, key) && keys[key]) || []
      if (!name || read?.(text) === undefined) return true
      const alone = fromHash(`#${new URLSearchParams([[key, text]])}`)
      return write(alone[name], name) !== write(fitted(alone, shape)[name], name)
    }
  return parts.filter(lost).map(([key, text]) => `${key}=${text}`.slice(0, longest))
}

/**
 * Says what of a link is not shown, where anything is not.
 * @param gone whether it showed a picture or a model of one's own, which is no longer here
 */
export async function reportLink(page: Page, hash: string, gone: boolean) {
  if (gone) return (await import('../controls/status.js')).showNotice(say('link.gone'))
  const { shape } = page.engine,
    { layers, heads, rows, columns } = shape,
    lost = lostParts(hash, shape),
    found = lost.slice(0, 3).join(', '),
    more = lost.length - 3
  if (!lost.length) return
  page.showError(
    new Error(
      more > 0
        ? say('link.lostMore', { found, more, layers, heads, rows, columns })
        : say('link.lost', { found, layers, heads, rows, columns })
    )
  )
}
