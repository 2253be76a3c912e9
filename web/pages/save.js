/* Buttons that save, and those that copy a link or code; a printed page says where it is from. What makes the files is fetched when it is asked for. */
import { demoModel } from './heed/demo.js'
import { showStatus } from './status.js'

const element = (id) => document.getElementById(id)
const exports = () => import('./exports.js')

export function download(blob, name) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

export function connectSave(page) {
  const on = (id, action) => element(id).addEventListener('click', () => Promise.resolve(action()).catch(page.showError))
  const shown = () => { if (!page.engine.result) throw new Error('This model has not run yet. Choose a picture.') }
  const file = (id, name, make, type = '') => on(id, async () => shown() ?? download(new Blob([await make(await exports())].flat(), { type }), name))
  on('save-png', async () => shown() ?? download(await (await exports()).pngOf(page, Number(element('png-times').value)), 'heed.png'))
  file('save-svg', 'heed.svg', ({ currentFigure }) => currentFigure(page), 'image/svg+xml')
  file('save-csv', 'heed.csv', ({ csv }) => csv(page), 'text/csv')
  file('save-json', 'heed.json', async ({ numbers }) => JSON.stringify(await numbers(page)), 'application/json')
  file('save-npy', 'heed.npy', ({ npyOf }) => npyOf(page))
  file('save-npz', 'heed.npz', ({ npzOf }) => npzOf(page))
  file('save-safetensors', 'heed.safetensors', ({ safetensorsOf }) => safetensorsOf(page))
  file('save-session', 'heed-session.json', async () => (await import('./session.js')).writeSession(page), 'application/json')
  on('code', async () => {
    shown()
    await navigator.clipboard.writeText((await import('./code.js')).code(page))
    showStatus(`Code copied: the same numbers from the command line${page.engine.saved ? '' : ' and from JavaScript'}.`)
  })
  addEventListener('beforeprint', () => { element('from').textContent = `heed ${page.engine.info.version}, ${element('model-name').textContent}, ${page.picture?.name ?? ''}. ${location.href}` })
  on('link', async () => {
    await navigator.clipboard.writeText(location.href)
    const { saved } = page.engine, own = [saved ? 'maps' : page.source !== demoModel && 'model', page.store.get().scene === null && 'picture'].filter(Boolean).join(' and ')
    showStatus(own ? `Link copied. What is not in it, as it stays on this machine: your own ${own}.` : 'Link copied.')
  })
}
