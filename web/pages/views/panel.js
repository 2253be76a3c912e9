/* The panel beside the stage: one view at a time, chosen by tabs. A view is a function(page, element) that draws itself and says, if
 * it wants to, by which keys of the state it is drawn again and what to undo when it goes: { keys, draw, leave }. */
import { headsView } from './heads.js'

/* The first view comes with the page, the others when they are first looked at. */
const views = {
  heads: () => headsView, matrix: async () => (await import('./matrix.js')).matrixView, rollout: async () => (await import('./rollout.js')).rolloutView,
  statistics: async () => (await import('./statistics.js')).statisticsView, compare: async () => (await import('./compare.js')).compareView,
  intervene: async () => (await import('./intervene.js')).interveneView, tokens: async () => (await import('./tokens.js')).tokensView,
  scene: async () => (await import('./scene.js')).sceneView
}

/* Views whose pictures tables.js has in numbers. */
const withTable = ['heads', 'matrix', 'rollout', 'compare', 'tokens']

export function createPanel(page) {
  const { store } = page, element = document.getElementById('view'), tabs = [...document.querySelectorAll('#tabs [role=tab]')], table = document.getElementById('view-table')
  let current = null, shown = null

  async function show() {
    const { view } = store.get(), name = views[view] ? view : 'heads'
    tabs.forEach((tab) => {
      tab.setAttribute('aria-selected', tab.dataset.view === name)
      tab.tabIndex = tab.dataset.view === name ? 0 : -1
    })
    element.setAttribute('aria-labelledby', `tab-${name}`)
    table.hidden = !withTable.includes(name)
    if (shown === name) return
    shown = name
    const made = await views[name]()
    if (shown !== name) return // another one was chosen meanwhile
    current?.leave?.()
    element.replaceChildren()
    current = made(page, element)
    if (page.drawn) redraw()
  }

  /* A new model that has not run yet has nothing to draw. */
  async function redraw() {
    if (!page.engine.result) return
    try {
      await current.draw()
    } catch (error) {
      if (page.engine.result) page.showError(error)
    }
  }

  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => store.set({ view: tab.dataset.view }))
    tab.addEventListener('keydown', ({ key }) => {
      const by = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
      if (!by) return
      const next = tabs[(i + by + tabs.length) % tabs.length]
      next.focus()
      next.click()
    })
  })
  store.on(null, (state, changed) => {
    if (changed.includes('view')) show().catch(page.showError)
    else if (page.drawn && current?.keys.some((key) => changed.includes(key))) redraw()
  })
  return show()
}
