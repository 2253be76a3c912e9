/* The panel beside the stage: one view at a time, chosen by tabs. A view is a function(page,
 * element, { left, redraw }) that fills an element of its own and returns { keys, draw }: by which
 * keys of the state it is drawn again, and how. What ends after the view was left must not be seen:
 * draw(latest) asks latest() after what it awaits, which is false once it was left or another draw
 * has begun; left is an AbortSignal. */
import { view as first } from './heads/heads.js'
import { laterStyles } from '../later_styles.js'
import { views } from './view_list.js'
import type { ListedView, Page, Store, View, ViewName } from '../types.js'

/** A press or the arrow keys choose a view. */
function connectTabs(tabs: HTMLElement[], store: Store) {
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => store.set({ view: Object.keys(views)[i] as ViewName }))
    tab.addEventListener('keydown', ({ key }) => {
      const by = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
      if (!by) return
      const next = tabs[(i + by + tabs.length) % tabs.length]
      next.focus()
      next.click()
    })
  })
}

export function createPanel(page: Page) {
  const { store } = page,
    tabs = [...document.querySelectorAll('#tabs [role=tab]')],
    table = document.getElementById('view-table')
  let element = document.getElementById('view') as HTMLElement,
    current = null as View | null,
    shown = null as string | null,
    left = new AbortController(),
    showing = Promise.resolve() as Promise<void>,
    drawing = Promise.resolve() as Promise<void>,
    turn = 0
  page.viewSettled = async () => {
    await showing
    await drawing
  }

  async function show() {
    const { view: name } = store.get(),
      listed: ListedView = views[name]
    const id = `tab-${name}`
    tabs.forEach((tab) => {
      tab.setAttribute('aria-selected', tab.id === id)
      tab.tabIndex = tab.id === id ? 0 : -1
    })
    element.setAttribute('aria-labelledby', id)
    table.hidden = !listed.table
    if (shown === name) return
    shown = name
    const [{ view }] = await Promise.all(
      listed.load ? [listed.load(), laterStyles()] : [{ view: first }]
    )
    if (shown !== name) return // another one was chosen meanwhile
    left.abort()
    left = new AbortController()
    const before = element
    element = before.cloneNode() as HTMLDivElement
    element.removeAttribute('style')
    before.replaceWith(element)
    current = view(page, element, { left: left.signal, redraw })
    redraw()
  }

  const redraw = () => (drawing = drawAgain())

  /* A new model that has not run yet has nothing to draw. */
  async function drawAgain() {
    if (!page.engine.result || !page.drawn) return
    const { signal } = left,
      mine = ++turn,
      latest = () => mine === turn && !signal.aborted
    try {
      await current?.draw(latest)
    } catch (error) {
      if (latest() && page.engine.result) page.showError(error)
    }
  }

  connectTabs(tabs, store)
  store.on(null, (state, changed) => {
    if (changed.includes('view')) showing = show().catch(page.showError)
    else if (current?.keys.some((key) => changed.includes(key))) redraw()
  })
  return (showing = show())
}
