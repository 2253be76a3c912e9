/** @import {Page} from '../../../types/pages.js' */

/* Buttons that save, and those that copy a link or code; a printed page says where it is from. What
 * they do is fetched when it is asked for. */
/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)

/** @param {Page} page */
export function connectSave(page) {
  for (const id of 'save-png save-svg save-csv save-json save-npy save-npz save-safetensors save-session code link'.split(
    ' '
  ))
    element(id).addEventListener('click', () =>
      import('./save_actions.js').then(({ actions }) => actions[id](page)).catch(page.showError)
    )
  addEventListener('beforeprint', () => {
    element('from').textContent =
      `heed ${page.engine.info.version}, ${element('model-name').textContent}, ${page.picture?.name ?? ''}. ${location.href}`
  })
}
