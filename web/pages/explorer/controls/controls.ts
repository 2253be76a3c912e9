/* Buttons and lists that change the state, and show it. */
import { element } from '../../shared/elements.js'
import { laterStyles } from '../later_styles.js'
import { connectTheme } from '../../shared/page_settings.js'
import { showError } from './status.js'
import { say } from '../../languages/say.js'
import type { Page, State, Store } from '../types.js'
import type { Runner } from '../../shared/model_runner.js'

const menus = ['open', 'model', 'display', 'save'] as const
type Menu = (typeof menus)[number]

/** What a menu has is fetched when it is opened for the first time. */
function connectMenu(page: Page, id: Menu) {
  if (element(id).matches(':popover-open')) openMenu(page, id)
  else element(id).addEventListener('toggle', () => openMenu(page, id), { once: true })
}

const openMenu = (page: Page, id: Menu) =>
  Promise.all([import('./menus.js'), laterStyles()])
    .then(([menus]) => menus[id](page, id === 'open' ? element('open-buttons') : element(id)))
    .catch(page.showError)

/** Beside its button: below it, or above where there is more room. */
function placeMenu(menu: HTMLElement) {
  const button = document.querySelector(`[popovertarget="${menu.id}"]`) as HTMLElement,
    { left, top, bottom, width } = button.getBoundingClientRect(),
    wide = Math.min(Math.max(width, 280), innerWidth - 16),
    isBelow = innerHeight - bottom > top,
    away = Math.max(8, 4 + (isBelow ? bottom : innerHeight - top)) // from the window's edge, also beside a button that is not in it
  Object.assign(menu.style, {
    left: `${Math.max(8, Math.min(left, innerWidth - 8 - wide))}px`,
    width: `${wide}px`,
    top: isBelow ? `${away}px` : 'auto',
    bottom: isBelow ? 'auto' : `${away}px`,
    maxHeight: `${innerHeight - away - 8}px`
  })
}

/** Esc and a press outside close menus by themselves; a command in one does, too. */
function connectMenus() {
  const open = () => document.querySelector('.menu:popover-open') as HTMLElement | null
  for (const menu of document.querySelectorAll('.menu[popover]') as NodeListOf<HTMLElement>) {
    menu.addEventListener('beforetoggle', (event) => {
      if ((event as ToggleEvent).newState === 'open') placeMenu(menu)
    })
    menu.addEventListener('click', ({ target }) => {
      const button = (target as Element).closest('button')
      if (button && !button.matches('[aria-pressed], #open-address, #library *')) menu.hidePopover()
    })
  }
  for (const type of ['scroll', 'resize'])
    addEventListener(type, () => {
      const menu = open()
      if (menu) placeMenu(menu)
    })
}

/* A press, the pointer or the focus on a term explains it. A button that does something is explained to who points
 * at it or comes by key: after a tap the words would lie over what the tap has changed. */
function connectTerms() {
  for (const type of ['click', 'pointerover', 'focusin'])
    addEventListener(type, (event) => {
      const term = (event.target as Element).closest?.('.term, #cls')
      if (!term) return
      const asked =
        type === 'focusin'
          ? term.matches(':focus-visible')
          : (event as PointerEvent).pointerType === 'mouse'
      if (asked || term.id !== 'cls') import('./terms.js').then(({ explain }) => explain(term))
    })
}

export function showControls() {
  connectTheme(element('theme'))
  element('skip').addEventListener('click', () =>
    (document.documentElement.classList.contains('zooming')
      ? element('zoom-title')
      : element('patches').querySelector('[tabindex="0"]')
    )?.focus()
  )
  element('help').addEventListener('click', () =>
    import('./key_list.js').then(({ showKeys }) => showKeys()).catch(showError)
  )
}

const keysOfControls: (keyof State)[] = ['query', 'ran', 'view', 'layer', 'head', 'off']

/** What the controls say of the state, and which of them can be used. */
function showState(page: Page, state: Readonly<State>) {
  const out = state.off.includes(`${state.layer}.${state.head}`),
    pooled = state.layer === 'pool'
  element('ablate').textContent = out ? say('controls.restore') : say('controls.ablate')
  element('ablate').disabled = pooled || state.head === 'mean' || !page.engine.canChange
  element('cls').setAttribute('aria-pressed', state.query === 'cls')
  element('cls').disabled = pooled || !page.engine.shape.prefixTokens
}

export function connectControls(page: Page) {
  const { store } = page
  connectMenus()
  for (const id of menus) connectMenu(page, id)
  connectTerms()
  element('cls').addEventListener('click', () => toggleCls(page))
  element('view-table').addEventListener('click', () =>
    import('./number_tables.js')
      .then(({ showTable }) => page.drawn && showTable(page, store.get().view))
      .catch(page.showError)
  )
  element('more-facts').addEventListener('click', () => {
    element('more-facts').ariaExpanded = String(element('facts').classList.toggle('whole'))
  })
  element('pin').addEventListener('click', () =>
    import('../state/pins.js').then(({ pin }) => pin(page)).catch(page.showError)
  )
  element('compare').addEventListener('click', () => store.set({ view: 'compare' }))
  element('ablate').addEventListener('click', () => toggleHead(page))
  store.on(keysOfControls, (state) => showState(page, state))
}

export const toggled = (list: string[], entry: string, on = !list.includes(entry)) =>
  (on ? [...new Set([...list, entry])] : list.filter((other) => other !== entry)).sort()

/** The chosen head out of the model, or back. */
export function toggleHead({ store }: Pick<Page, 'store'>) {
  const { off, layer, head } = store.get()
  if (head !== 'mean' && layer !== 'pool') store.set({ off: toggled(off, `${layer}.${head}`) })
}

/** From a token before the patches, and back to the patch before. */
export function toggleCls({ store, engine }: { store: Store; engine: Runner }, token = 0) {
  const { query, patch } = store.get(),
    wanted = token || 'cls'
  if (query === wanted)
    store.set({ query: patch ?? [engine.shape.rows >> 1, engine.shape.columns >> 1] })
  else if (token < engine.shape.prefixTokens)
    store.set({ query: wanted, patch: Array.isArray(query) ? query : patch })
}
