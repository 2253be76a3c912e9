/* Letter keys, while the stage or the panel has the focus, and unless they are switched off; arrows
 * are the grids' own. The switch and the list of keys are in key_list.ts. Loaded with the
 * first key, or with that list. */
import { element } from '../../shared/elements.js'
import { toggleCls, toggleHead } from './controls.js'
import { showStatus } from './status.js'
import { pin, swap } from '../state/pins.js'
import { views } from '../views/view_list.js'
import { keep, stored } from '../../shared/page_settings.js'
import { say } from '../../languages/say.js'
import type { Page, ViewName } from '../types.js'

/** What each key does. */
function actionsOf(page: Page) {
  const { store } = page
  const click = (id: string) => () => (element(id) as HTMLElement).click()
  const within = (value: number, end: number) => Math.min(end - 1, Math.max(0, value))
  const layer = (by: number) => () => {
    const { layer } = store.get(),
      { layers, pool } = page.engine.shape,
      at = layer === 'pool' ? layers : layer
    page.fit({ layer: page.engine.layerAt(within(at + by, layers + (pool ? 1 : 0))) })
  }
  const head = (by: number) => () => {
    const { head } = store.get()
    page.fit({ head: head === 'mean' ? 0 : Math.max(0, head + by) })
  }
  const strength = (by: number) => () =>
    store.set({
      strength: Math.round(Math.min(1, Math.max(0, store.get().strength + by)) * 100) / 100
    })
  const actions: Record<string, () => unknown> = {
    '[': layer(-1),
    ']': layer(1),
    ',': head(-1),
    '.': head(1),
    m: () => store.set({ head: 'mean' }),
    c: () => toggleCls(page),
    r: () => store.set({ reverse: !store.get().reverse }),
    '+': strength(0.1),
    '=': strength(0.1),
    '-': strength(-0.1),
    s: () =>
      import('../save/save_actions.js')
        .then(({ actions }) => actions['save-png'](page))
        .catch(page.showError),
    l: click('link'),
    h: () => {
      const { head, layer } = store.get()
      if (head === 'mean' || layer === 'pool') showStatus(say('keys.nothingWasAblatedChoose'))
      else toggleHead(page)
    },
    x: () => swap(page).catch(page.showError),
    Escape: () => {
      if (history.state?.depth) history.back() /* to a view of this page, not to another page */
    },
    p: () => pin(page),
    '?': click('help')
  }
  for (const [i, view] of Object.keys(views).entries())
    actions[i + 1] = () => store.set({ view: view as ViewName })
  return actions
}

/** Whether letter keys are on; the switch is in the dialog of help. */
export const letters = { checked: stored('letters') !== 'off' }
export function switchLetters(on: boolean) {
  letters.checked = on
  keep('letters', on ? 'on' : 'off')
}

/** What a key does that is pressed in the stage or the panel. */
export function connectKeys(page: Page): (event: KeyboardEvent) => void {
  const actions = actionsOf(page)
  return (event) => {
    if (!letters.checked && event.key !== '?') return
    const typed = ['SELECT', 'INPUT'].includes((event.target as Element).tagName)
    if (typed || event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return
    event.preventDefault()
    actions[event.key]()
  }
}
