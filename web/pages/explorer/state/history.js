/* The address follows the state, and the state the address: back and forward lead through the views
 * that were looked at. An entry of the browser's history keeps { own, depth }: whether its picture
 * was one's own, which no address names, and how many entries of this page are before it. */
import { fromHash, toHash } from './address.js'
/** @import {Page, PagePicture, State} from '../../../types/pages.js' */

const internal = [
  'pinned',
  'pins',
  'hover',
  'ran',
  'measured',
  'drawn',
  'coloured',
  'patch',
  'shown'
]

/**
 * The picture of an entry: the scene that its address names, or the last picture of one's own. An
 * address that was typed names none: then one's own stays.
 * @param {Page} page
 * @param {boolean} own
 * @param {PagePicture | null} ownPicture
 * @param {State} state
 * @param {boolean} again whatever is shown: another entry was being opened
 */
async function showPicture(page, own, ownPicture, { scene, objects }, again) {
  if (own && ownPicture)
    return again || page.picture !== ownPicture ? page.run(ownPicture) : undefined
  const shown = page.store.get()
  if (again || objects !== shown.objects || (!objects && scene !== shown.scene))
    await page.openScene(/** @type {number} */ (scene), objects)
}

/** @param {Page} page */
export function followAddress(page) {
  const { store } = page
  let waiting = false,
    push = false,
    depth = history.state?.depth ?? 0,
    opening = 0,
    ownPicture = /** @type {PagePicture | null} */ (null)
  const isOwn = () => store.get().scene === null && !store.get().objects

  function write() {
    waiting = false
    if (opening) return // the state is between two entries: neither is to be written over
    const hash = toHash(store.get()),
      own = isOwn(),
      next = push && hash !== location.hash
    if (next) depth++
    if (next || hash !== location.hash || history.state?.own !== own)
      history[next ? 'pushState' : 'replaceState'](
        { own, depth },
        '',
        hash || location.pathname + location.search
      )
    push = false
  }

  async function follow() {
    const wanted = fromHash(location.hash),
      { scene, objects, ...state } = wanted,
      entry = history.state ?? { depth: depth + 1 }
    depth = entry.depth
    const typed = history.state ? '' : location.hash
    opening++
    try {
      page.fit(state)
      const { own = isOwn() && !/\b(s|objects)=/.test(location.hash) } = entry
      await showPicture(page, own, ownPicture, wanted, opening > 1)
      if (typed) (await import('./link_report.js')).reportLink(page, typed)
    } catch (error) {
      page.showError(error)
    }
    opening--
    push = false
    write()
  }

  store.on(null, (state, changed) => {
    if (changed.includes('ran') && isOwn()) ownPicture = page.picture
    if (changed.every((key) => internal.includes(key))) return
    push = changed.includes('view') || changed.includes('tour')
    if (push) return write() // an entry of its own for each view
    if (!waiting) setTimeout(write, 30) // history is slow: after what it tells of has been painted; hidden pages paint no frames to wait for
    waiting = true
  })
  addEventListener('popstate', follow)
  write()
}
