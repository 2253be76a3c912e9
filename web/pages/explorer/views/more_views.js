/* Views that are asked for now and then, one at a time behind one tab: they have one row of buttons
 * and the state's `more`. Each is a view as those of view_list.js, in one file. */
import { say } from '../../languages/say.js'
/** @import {ListedView, MakeView, MoreView, View} from '../../../types/pages.js' */

/** @type {Record<MoreView, ListedView>} */
export const moreViews = {
  lines: { title: say('moreViews.lines'), load: () => import('./lines.js') },
  pair: { title: say('moreViews.queryKey'), load: () => import('./pair.js') },
  lens: { title: say('moreViews.logitLens'), load: () => import('./lens.js') },
  occlusion: { title: say('moreViews.occlusion'), load: () => import('./occlusion.js') },
  ablation: { title: say('moreViews.ablation'), load: () => import('./ablation.js') },
  groups: { title: say('moreViews.similarHeads'), load: () => import('./groups.js') },
  region: { title: say('moreViews.findHeads'), load: () => import('./region.js') },
  frames: { title: say('moreViews.cameraFrames'), load: () => import('./frames.js') }
}

/** @type {MakeView} */
export function view(page, element, { left, redraw }) {
  const { store } = page,
    names = /** @type {MoreView[]} */ (Object.keys(moreViews))
  element.innerHTML = `<div class="row more-views" role="group" aria-label="${say('moreViews.moreViews')}">${names
    .map((name) => `<button type="button" data-more="${name}">${moreViews[name].title}</button>`)
    .join('')}</div><div></div>`
  const buttons = [...element.querySelectorAll('button')]
  let shown = '',
    current = /** @type {View | null} */ (null),
    inner = new AbortController()
  left.addEventListener('abort', () => inner.abort())
  for (const button of buttons)
    button.addEventListener('click', () =>
      store.set({ more: /** @type {MoreView} */ (button.dataset.more) })
    )

  /** @param {() => boolean} latest */
  async function draw(latest) {
    const name = store.get().more
    for (const button of buttons)
      button.setAttribute('aria-pressed', String(button.dataset.more === name))
    if (name !== shown) {
      const { view } = await /** @type {NonNullable<ListedView['load']>} */ (moreViews[name].load)()
      if (!latest()) return
      inner.abort()
      inner = new AbortController()
      const place = document.createElement('div')
      element.lastElementChild.replaceWith(place)
      shown = name
      current = view(page, place, { left: inner.signal, redraw })
    }
    await current?.draw(latest)
  }
  return { keys: ['more', 'drawn', 'ran', 'head', 'layer'], draw }
}
