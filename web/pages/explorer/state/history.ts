/* The address follows the state, and the state the address: back and forward lead through views,
 * pictures, models, layers, heads and queries. What follows a choice within `pause` is of the same entry of
 * the browser's history: a walk by arrow keys, a stroke, the query that comes with a picture. An
 * entry keeps { own, model, depth }: which of one's own pictures and models it shows, which no address
 * names (0: none, the demo model), and how many entries of this page are before it. */
import { addressOf, stateOf } from './address.js'
import { defaults } from './defaults.js'
import { ownModels } from './own_models.js'
import type { Page, State } from '../types.js'
import type { PagePicture } from '../../shared/types.js'

const choices = ['scene', 'objects', 'layer', 'head', 'query'],
  pause = 600, // ms
  picturesKept = 16

/**
 * The picture of an entry: the scene that its address names, or one's own. An address that was
 * typed names none: then one's own stays.
 * @param again whatever is shown: another entry was being opened
 */
async function showPicture(
  page: Page,
  own: PagePicture | undefined,
  { scene, objects }: State,
  again: boolean
) {
  if (own) return again || page.picture !== own ? page.run(own) : undefined
  const shown = page.store.get()
  if (again || objects !== shown.objects || (!objects && scene !== shown.scene))
    await page.openScene(scene as number, objects)
}

/** One's own pictures that entries show, the last ones. Their numbers are of this visit alone, as those of models. */
function ownPictures(page: Page) {
  const pictures: Map<number, PagePicture> = new Map()
  let last = 0,
    count = 0
  const isOwn = () => page.store.get().scene === null && !page.store.get().objects
  return {
    of: (number: number) => pictures.get(number),
    now: () => (isOwn() ? last : 0),
    /** Whether another one is shown than before. */
    keep() {
      const { picture } = page
      if (!isOwn() || pictures.get(last) === picture) return false
      const [number] = [...pictures].find(([, one]) => one === picture) ?? []
      last = number ?? performance.timeOrigin + ++count
      pictures.set(last, picture)
      for (const old of [...pictures.keys()].slice(0, -picturesKept)) pictures.delete(old)
      return true
    }
  }
}

/** Whether an entry is of an earlier visit, and showed what was one's own: it is no longer here. */
const isGone = (entry: { own?: number; model?: number } | null) =>
  [entry?.own, entry?.model].some((number = 0) => number > 0 && number < performance.timeOrigin)

/** When an entry begins: with a picture, or with another choice after a pause. */
function createPauses() {
  let last = 0,
    isPicture = false // whose query is known after its numbers
  return {
    end: () => (last = 0),
    /** @param other another picture of one's own */
    begins(changed: string[], other: boolean) {
      const has = (key: string) => changed.includes(key),
        isChoice = other || choices.some(has),
        later = Date.now() - last > pause
      if (isChoice) isPicture = other || choices.slice(0, 2).some(has)
      if (isChoice || (isPicture && has('measured'))) last = Date.now()
      return isChoice && (isPicture || later)
    }
  }
}

/** Whether the browser's entry is another one. */
const isOther = (hash: string, { own, model }: { own: number; model: number }) =>
  hash !== location.hash || history.state?.own !== own || (history.state.model ?? 0) !== model

/** From a link on, from what was changed on, or from an address that was typed: another entry of the history.
 * `views`: the state at each change of the view since; the last one may have changed further. */
export function followAddress(
  page: Page,
  {
    changed = [],
    views = [],
    typed = false
  }: { changed?: string[]; views?: Readonly<State>[]; typed?: boolean } = {}
) {
  const { store } = page,
    own = ownPictures(page),
    models = ownModels(page),
    pauses = createPauses()
  let waiting = false,
    push = false,
    depth = history.state?.depth ?? 0,
    opening = 0

  /** What of it is not shown. */
  const report = async (link: string, gone: boolean) =>
    (link || gone) && (await import('./link_report.js')).reportLink(page, link, gone)

  function write(state = store.get()) {
    waiting = false
    if (opening || models.isOpening()) return // the state is between two entries: neither is to be written over
    const hash = addressOf(state),
      entry = { own: own.now(), model: models.now(), depth }
    if (isOther(hash, entry)) {
      if (push) entry.depth = ++depth
      const address = hash || location.pathname + location.search
      history[push ? 'pushState' : 'replaceState'](entry, '', address)
    }
    push = false
  }

  async function follow() {
    const wanted = stateOf(location.hash),
      { scene, objects, ...state } = wanted,
      entry = history.state ?? { depth: depth + 1 }
    depth = entry.depth
    opening++
    try {
      if (history.state) await models.show(entry.model ?? 0)
      page.fit(state)
      const shown = entry.own ?? (/\b(s|objects)=/.test(location.hash) ? 0 : own.now())
      await showPicture(page, own.of(shown), wanted, opening > 1)
      const gone = isGone(history.state)
      if (!history.state || gone) await report(location.hash, gone)
    } catch (error) {
      page.showError(error)
    }
    opening--
    push = false
    pauses.end()
    write()
  }

  const heed = (changed: string[]) => {
    const other = changed.includes('ran') && [models.keep(), own.keep()].includes(true)
    if (pauses.begins(changed, other) && !store.get().zoom) push = true // of the zoom, stops alone are entries
    if (!other && !changed.some((key) => key in defaults)) return
    if (['view', 'tour', 'zoom'].some((key) => changed.includes(key))) {
      push = true
      return write() // an entry of its own for each view and stop
    }
    if (!waiting) setTimeout(write, 30) // history is slow: after what it tells of has been painted; hidden pages paint no frames to wait for
    waiting = true
  }
  store.on(null, (_, changed) => heed(changed))
  addEventListener('popstate', follow)
  if (typed) return follow()
  report(location.hash, isGone(history.state)).catch(page.showError)
  if (!changed.length) return write()
  for (const state of views.slice(0, -1)) {
    push = true
    write(state)
  }
  heed(changed)
}
