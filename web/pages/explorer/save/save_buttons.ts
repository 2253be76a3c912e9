import { element } from '../../shared/elements.js'
import type { Page } from '../types.js'

/* The button that copies a link; those that save are in menus.ts; a printed page says where it is
 * from. What they do is fetched when it is asked for. */
export function connectSave(page: Page) {
  element('link').addEventListener('click', () =>
    import('./save_actions.js').then(({ actions }) => actions.link(page)).catch(page.showError)
  )
  addEventListener('beforeprint', () => {
    element('from').textContent =
      `heed ${page.engine.info.version}, ${element('model-name').textContent}, ${page.picture?.name ?? ''}. ${location.href}`
  })
}
