/* Views that are asked for now and then, one at a time behind one tab: they have one row of buttons
 * and the state's `more`. Each is a view as those of view_list.ts, in one file. */
import { say } from '../../languages/say.js'
import type { ListedView, MakeView, MoreView, View } from '../../../types/pages.js'

export const moreViews: Record<MoreView, ListedView> = {
  lines: { title: say('moreViews.lines'), load: () => import('./lines.js') },
  pair: { title: say('moreViews.queryKey'), load: () => import('./pair.js') },
  lens: { title: say('moreViews.logitLens'), load: () => import('./lens.js') },
  occlusion: { title: say('moreViews.occlusion'), load: () => import('./occlusion.js') },
  ablation: { title: say('moreViews.ablation'), load: () => import('./ablation.js') },
  groups: { title: say('moreViews.similarHeads'), load: () => import('./groups.js') },
  region: { title: say('moreViews.findHeads'), load: () => import('./region.js') },
  frames: { title: say('moreViews.cameraFrames'), load: () => import('./frames.js') }
}

export const view: MakeView = (page, element, { left, redraw }) => {
  const { store } = page,
    names = Object.keys(moreViews) as MoreView[]
  element.innerHTML = `<div class="row more-views" role="group" aria-label="${say('moreViews.moreViews')}">${names
    .map((name) => `<button type="button" data-more="${name}">${moreViews[name].title}</button>`)
    .join('')}</div><div></div>`
  const buttons = [...element.querySelectorAll('button')]
  let shown = '',
    current = null as View | null,
    inner = new AbortController()
  left.addEventListener('abort', () => inner.abort())
  for (const button of buttons)
    button.addEventListener('click', () => store.set({ more: button.dataset.more as MoreView }))

  async function draw(latest: () => boolean) {
    const name = store.get().more
    for (const button of buttons)
      button.setAttribute('aria-pressed', String(button.dataset.more === name))
    if (name !== shown) {
      const { view } = await (moreViews[name].load as NonNullable<ListedView['load']>)()
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
