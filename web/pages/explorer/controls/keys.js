/* Letter keys, while the stage or the panel has the focus, and unless they are switched off; arrows
 * are the grids' own. The switch and the list of keys are in key_list.js. Loaded with the
 * first key, or with that list. */
import { toggleCls, toggleHead } from './controls.js'
import { showStatus } from './status.js'
import { pin, swap } from '../state/pins.js'
import { views } from '../views/view_list.js'
import { keep, stored } from '../../shared/page_settings.js'
import { say } from '../../languages/say.js'
/** @import {Page, ViewName} from '../../../types/pages.js' */

/**
 * What each key does.
 * @param {Page} page
 */
function actionsOf(page) {
  const { store } = page
  /** @param {string} id */
  const click = (id) => () => /** @type {HTMLElement} */ (document.getElementById(id)).click()
  /**
   * @param {number} value
   * @param {number} end
   */
  const within = (value, end) => Math.min(end - 1, Math.max(0, value))
  /** @param {number} by */
  const layer = (by) => () => {
    const { layer } = store.get(),
      { layers, pool } = page.engine.shape,
      at = layer === 'pool' ? layers : layer
    page.fit({ layer: page.engine.layerAt(within(at + by, layers + (pool ? 1 : 0))) })
  }
  /** @param {number} by */
  const head = (by) => () => {
    const { head } = store.get()
    page.fit({ head: head === 'mean' ? 0 : Math.max(0, head + by) })
  }
  /** @param {number} by */
  const strength = (by) => () =>
    store.set({
      strength: Math.round(Math.min(1, Math.max(0, store.get().strength + by)) * 100) / 100
    })
  /** @type {Record<string, () => unknown>} */
  const actions = {
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
    actions[i + 1] = () => store.set({ view: /** @type {ViewName} */ (view) })
  return actions
}

/** Whether letter keys are on; the switch is in the dialog of help. */
export const letters = { checked: stored('letters') !== 'off' }
/** @param {boolean} on */
export function switchLetters(on) {
  letters.checked = on
  keep('letters', on ? 'on' : 'off')
}

/**
 * What a key does that is pressed in the stage or the panel.
 * @param {Page} page
 * @returns {(event: KeyboardEvent) => void}
 */
export function connectKeys(page) {
  const actions = actionsOf(page)
  return (event) => {
    if (!letters.checked && event.key !== '?') return
    const typed = ['SELECT', 'INPUT'].includes(/** @type {Element} */ (event.target).tagName)
    if (typed || event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return
    event.preventDefault()
    actions[event.key]()
  }
}
