/* The panel beside the stage: one view at a time, chosen by tabs. A view is a function(page, element) that draws itself and says, if
 * it wants to, by which keys of the state it is drawn again and what to undo when it goes: { keys, draw, leave }. */
import { compareView } from './compare.js'
import { headsView } from './heads.js'
import { interveneView } from './intervene.js'
import { matrixView } from './matrix.js'
import { rolloutView } from './rollout.js'
import { sceneView } from './scene.js'
import { statisticsView } from './statistics.js'
import { tokensView } from './tokens.js'

const views = { heads: headsView, matrix: matrixView, rollout: rolloutView, statistics: statisticsView, compare: compareView, intervene: interveneView, tokens: tokensView, scene: sceneView }

export function createPanel(page) {
  const { store } = page, element = document.getElementById('view'), tabs = [...document.querySelectorAll('#tabs [role=tab]')]
  let current = null, shown = null

  function show() {
    const { view } = store.get(), name = views[view] ? view : 'heads'
    tabs.forEach((tab) => {
      tab.setAttribute('aria-selected', tab.dataset.view === name)
      tab.tabIndex = tab.dataset.view === name ? 0 : -1
    })
    element.setAttribute('aria-labelledby', `tab-${name}`)
    if (shown === name) return
    shown = name
    current?.leave?.()
    element.replaceChildren()
    current = views[name](page, element)
    if (page.drawn) redraw()
  }

  const redraw = () => Promise.resolve(current.draw()).catch(page.showError)

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
    if (changed.includes('view')) show()
    else if (page.drawn && current.keys.some((key) => changed.includes(key))) redraw()
  })
  show()
}
