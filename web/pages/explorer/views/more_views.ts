/* Views that are asked for now and then, one at a time behind one tab: they have one row of buttons
 * and the state's `more`. Each is a view as those of view_list.ts, in one file. */
import { html, render } from 'lit-html'
import { say } from '../../languages/say.js'
import type { ListedView, MakeView, MoreView, View } from '../types.js'

export const moreViews: Record<MoreView, ListedView> = {
  classMap: { title: say('moreViews.classMap'), load: () => import('./explain/class_map.js') },
  causes: { title: say('moreViews.causes'), load: () => import('./explain/causes.js') },
  features: { title: say('moreViews.features'), load: () => import('./explain/features.js') },
  patching: { title: say('moreViews.patching'), load: () => import('./explain/patching.js') },
  lines: { title: say('moreViews.lines'), load: () => import('./matrix/lines.js') },
  pair: { title: say('moreViews.queryKey'), load: () => import('./matrix/pair.js') },
  lens: { title: say('moreViews.logitLens'), load: () => import('./tokens/lens.js') },
  occlusion: { title: say('moreViews.occlusion'), load: () => import('./effects/occlusion.js') },
  ablation: { title: say('moreViews.ablation'), load: () => import('./effects/ablation.js') },
  groups: { title: say('moreViews.similarHeads'), load: () => import('./heads/groups.js') },
  region: { title: say('moreViews.findHeads'), load: () => import('./heads/region.js') },
  frames: { title: say('moreViews.cameraFrames'), load: () => import('./pictures/frames.js') }
}

export const view: MakeView = (page, element, { left, redraw }) => {
  const { store } = page
  let shown = '',
    current = null as View | null,
    place = document.createElement('div'),
    inner = new AbortController()
  left.addEventListener('abort', () => inner.abort())

  async function draw(latest: () => boolean) {
    const { more } = store.get()
    const show = () =>
      render(
        html`<div class="row more-views" role="group" aria-label=${say('moreViews.moreViews')}>${Object.entries(
          moreViews
        ).map(
          ([name, { title }]) =>
            html`<button type="button" data-more=${name} aria-pressed=${name === more} @click=${() => store.set({ more: name as MoreView })}>${title}</button>`
        )}</div>${place}`,
        element
      )
    show()
    if (more !== shown) {
      const { view } = await (moreViews[more].load as NonNullable<ListedView['load']>)()
      if (!latest()) return
      inner.abort()
      inner = new AbortController()
      place = document.createElement('div')
      shown = more
      current = view(page, place, { left: inner.signal, redraw })
      show()
    }
    await current?.draw(latest)
  }
  return { keys: ['more', 'drawn', 'ran', 'head', 'layer', 'target', 'other'], draw }
}
