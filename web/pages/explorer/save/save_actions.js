/* What the buttons that save and copy do, by the button's id: each takes the page. */
import { demoModel } from '../../heed/demo.js'
import * as made from './exports.js'
import { download } from './download_file.js'
import { fileName, viewShown } from './file_names.js'
import { showStatus } from '../controls/status.js'
import { say } from '../../languages/say.js'
/** @import {Page} from '../../../types/pages.js' */

/** @param {Page} page */
const shown = (page) => {
  if (!page.engine.result) throw new Error(say('save.notRun'))
}
/**
 * The name of a file of what the page shows.
 * @param {Page} page
 * @param {string} what
 */
const named = ({ picture, drawn, store }, what = viewShown(store.get())) =>
  fileName({
    picture: picture.name,
    what,
    state: { ...store.get(), query: drawn.at.query ?? store.get().query }
  })

/**
 * ending: of the file's name, which says what the page shows; or all of the name.
 * @param {string} ending
 * @param {(page: Page) => BlobPart[] | Promise<BlobPart | BlobPart[]>} make
 */
const file =
  (ending, make, type = '') =>
  async (/** @type {Page} */ page) => {
    shown(page)
    const name = ending.startsWith('.') ? `${named(page)}${ending}` : ending
    showStatus(say('saveActions.saving', { name })) // a picture of many maps takes a second
    download(new Blob([await make(page)].flat(), { type }), name)
    showStatus(say('saveActions.saved', { name }))
  }

/** @param {Page} page */
async function copyCode(page) {
  shown(page)
  await navigator.clipboard.writeText((await import('./code_snippets.js')).code(page))
  showStatus(
    say('saveActions.codeCopiedSameNumbers', {
      saved: page.engine.saved ? '' : say('saveActions.fromJavascript')
    })
  )
}

/** @param {Page} page */
async function copyLink(page) {
  await navigator.clipboard.writeText(location.href)
  const { saved } = page.engine,
    own = [
      saved ? say('saveActions.maps') : page.source !== demoModel && say('saveActions.model'),
      page.store.get().scene === null && !page.store.get().objects && say('saveActions.picture')
    ]
      .filter(Boolean)
      .join(say('saveActions.and'))
  showStatus(own ? say('saveActions.linkCopiedWhatNot', { own }) : say('saveActions.linkCopied'))
}

/** @type {Record<string, (page: Page) => Promise<void>>} */
export const actions = {
  'save-png': file(
    '.png',
    (page) => made.pngOf(page, Number(document.getElementById('png-times').value)),
    'image/png'
  ),
  'save-svg': file('.svg', made.currentFigure, 'image/svg+xml'),
  'save-csv': file('.csv', made.csv, 'text/csv'),
  'save-json': file(
    '.json',
    async (page) => JSON.stringify(await made.numbers(page)),
    'application/json'
  ),
  'save-npy': file('heed.npy', made.npyOf),
  'save-npz': file('heed.npz', made.npzOf),
  'save-safetensors': file('heed.safetensors', made.safetensorsOf),
  'save-session': file(
    'heed-session.json',
    async (page) => (await import('./session_file.js')).writeSession(page),
    'application/json'
  ),
  'save-figure': async (page) =>
    shown(page) ?? (await import('../figure/figure_composer.js')).openComposer(page),
  code: copyCode,
  link: copyLink
}
