/* What the buttons that save and copy do, by the button's id: each takes the page. */
import { element } from '../../shared/elements.js'
import { demoModel } from '../../heed/demo.js'
import * as made from './exports.js'
import { download } from './download_file.js'
import { fileName, modelFileName, viewShown } from './file_names.js'
import { provenanceOf } from './provenance.js'
import { showStatus, showStop } from '../controls/status.js'
import { say } from '../../languages/say.js'
import type { Page } from '../types.js'

/** The page as it is once it shows what is chosen: all that is saved or copied is of one row, one
 * run and one picture, whatever is chosen while it is on its way. What takes long comes first. */
async function shown(page: Page): Promise<Page> {
  if (!page.engine.result) throw new Error(say('save.notRun'))
  await provenanceOf(page)
  await page.settled()
  const state = page.store.get()
  return Object.assign(Object.create(page), {
    drawn: page.drawn,
    picture: page.picture,
    store: { ...page.store, get: () => state }
  })
}

/** Numbers that were asked of the model must be of the run that is shown. */
function sameRun({ engine, drawn }: Page) {
  if (engine.result !== drawn.of) throw new Error(say('save.notDrawn'))
}
/** The name of a file of what the page shows. */
const named = ({ picture, drawn, store }: Page, what: string = viewShown(store.get())) =>
  fileName({
    picture: picture.name,
    what,
    at: drawn.at
  })

/** The name of a file of all that the model gives for the picture. */
const namedOfModel = ({ picture, source }: Page, what: string) =>
  modelFileName(
    source === demoModel ? 'demo' : (element('model-name').textContent ?? ''),
    picture.name,
    what
  )

/** ending: of the file's name, which says what the page shows; or what of the model, and the ending. */
const file =
  (ending: string, make: (page: Page) => BlobPart[] | Promise<BlobPart | BlobPart[]>, type = '') =>
  async (page: Page) => {
    const held = await shown(page),
      name = ending.startsWith('.') ? `${named(held)}${ending}` : namedOfModel(held, ending)
    showStatus(say('saveActions.saving', { name })) // a picture of many maps takes a second
    const made = new Blob([await make(held)].flat(), { type })
    if (!type.startsWith('image')) sameRun(held)
    download(made, name)
    showStatus(say('saveActions.saved', { name }))
  }

/** The numbers as JSON: which layer they are at stands in the header, beside a button that stops them. */
async function jsonOf(page: Page) {
  const stop = new AbortController()
  showStop(stop)
  try {
    return JSON.stringify(
      await made.numbers(page, {
        told: (layer, layers) =>
          showStatus(say('explorer.measuringLayer', { done: layer + 1, total: layers })),
        signal: stop.signal
      })
    )
  } catch (error) {
    showStatus(say('saveActions.notSaved'))
    throw error
  } finally {
    showStop(null)
  }
}

async function copyCode(page: Page) {
  const held = await shown(page)
  await navigator.clipboard.writeText((await import('./code_snippets.js')).code(held))
  showStatus(
    say('saveActions.codeCopiedSameNumbers', {
      saved: page.engine.only ? '' : say('saveActions.fromJavascript')
    })
  )
}

async function copyLink(page: Page) {
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

export const actions: Record<string, (page: Page) => Promise<void>> = {
  'save-png': file(
    '.png',
    (page) => made.pngOf(page, Number(element('png-times').value)),
    'image/png'
  ),
  'save-svg': file('.svg', made.currentFigure, 'image/svg+xml'),
  'save-csv': file('.csv', made.csv, 'text/csv'),
  'save-json': file('.json', jsonOf, 'application/json'),
  'save-npy': file('maps.npy', made.npyOf),
  'save-npz': file('maps.npz', made.npzOf),
  'save-safetensors': file('maps.safetensors', made.safetensorsOf),
  'save-session': file(
    'session.json',
    async (page) => (await import('./session_file.js')).writeSession(page),
    'application/json'
  ),
  'save-figure': async (page) => {
    const held = await shown(page)
    await (await import('../figure/figure_composer.js')).openComposer(held)
  },
  code: copyCode,
  link: copyLink
}
