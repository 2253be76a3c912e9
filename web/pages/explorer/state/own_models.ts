/* The models and saved maps that entries of the browser's history show, which no address names. */
import { element } from '../../shared/elements.js'
import { demoModel } from '../../heed/demo.js'
import { say } from '../../languages/say.js'
import { sourceOf } from './place.js'
import type { Page } from '../types.js'
import type { PageSource, SavedMaps } from '../../shared/types.js'

const modelsKept = 4 // files as they were chosen, which are not in memory; saved maps are

/** One's own models and maps that entries show, the last ones. Their numbers are of this visit alone: a page that
 * was loaded again has none of them. */
export function ownModels(page: Page) {
  type Opened = { source: PageSource | SavedMaps; name: string }
  const name = element('model-name'),
    opened: Map<number, Opened> = new Map(),
    demo = { source: demoModel, name: say('modelButtons.demoModelWhichShape') }
  let now = 0,
    count = 0
  const known = (number: number) => (number ? opened.get(number) : demo),
    isSame = () => known(now)?.source === sourceOf(page)
  return {
    now: () => now,
    /** Whether another model was opened and has not run yet: what the state says is of neither. */
    isOpening: () => !isSame(),
    /** Whether another one is shown than before. */
    keep() {
      if (isSame()) return false
      const source = sourceOf(page),
        [number] = [...opened].find(([, one]) => one.source === source) ?? []
      now = source === demoModel ? 0 : (number ?? performance.timeOrigin + ++count)
      opened.delete(now) // the last one is the last in the list
      if (now) opened.set(now, { source, name: String(name.textContent) })
      for (const old of [...opened.keys()].slice(0, -modelsKept)) opened.delete(old)
      return true
    },
    /** Opens the model of an entry; one that is no longer here leaves the page as it is. */
    async show(number: number) {
      const wanted = known(number)
      if (number === now || !wanted) return
      if ((wanted.source as SavedMaps).attention)
        return (await import('../open/open_files.js')).showMaps(page, wanted.source as any)
      await page.openModel(wanted.source as PageSource, wanted.name)
    }
  }
}
