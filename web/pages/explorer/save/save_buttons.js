/** @import {Page} from '../../../types/pages.js' */

/* Buttons that copy a link or code; those that save are in menus.js; a printed page says where it is from. What
 * they do is fetched when it is asked for. */
/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)

/** @param {Page} page */
export function connectSave(page) {
  for (const id of /** @type {const} */ (['code', 'link']))
    element(id).addEventListener('click', () =>
      import('./save_actions.js').then(({ actions }) => actions[id](page)).catch(page.showError)
    )
  addEventListener('beforeprint', () => {
    element('from').textContent =
      `heed ${page.engine.info.version}, ${element('model-name').textContent}, ${page.picture?.name ?? ''}. ${location.href}`
  })
}
