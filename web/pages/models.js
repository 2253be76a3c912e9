/* Files of one's own: a Hugging Face folder or one timm file, maps saved elsewhere, a session. They are read in place and go nowhere. */
import { decode } from './decode.js'
import { demoModel } from './heed/demo.js'

const element = (id) => document.getElementById(id)

/* Maps that were saved, where one of the files holds some. What cannot be read as safetensors is left to the runtime, which says why. */
async function mapsIn(files) {
  const [{ readSafetensorsHeader }, { holdsMaps }] = await Promise.all([import('./arrays.js'), import('./saved.js')])
  for (const file of files) {
    if (/\.np[yz]$/.test(file.name)) return file
    if (!file.name.endsWith('.safetensors')) continue
    const { header } = await readSafetensorsHeader(file).catch(() => ({ header: {} }))
    if (holdsMaps(header)) return file
  }
  return null
}

export async function openFiles(page, files) {
  try {
    const { openSession, readSession } = await import('./session.js')
    const session = files.length === 1 && files[0].name.endsWith('.json') ? await readSession(files[0]) : null
    if (session) return await openSession(page, session)
    const maps = await mapsIn(files)
    if (maps) return await openMaps(page, maps, files.find(({ type }) => type.startsWith('image/')))
    const weights = files.find(({ name }) => name.endsWith('.safetensors'))
    if (!weights) throw new Error(`${files[0].name}: neither a picture, a model nor maps. Take a picture, a .safetensors file with its config.json, or maps as .npy, .npz or .safetensors.`)
    if (await page.openModel(files, weights.name)) element('demo-model').hidden = false
  } catch (error) {
    page.showError(error)
  }
}

/* What the page saved beside the maps: RGB [height, width, 3]. */
function pictureOfBytes({ shape: [height, width], data }) {
  const image = new ImageData(width, height)
  for (let i = 0; i < image.data.length; i++) image.data[i] = i % 4 === 3 ? 255 : data[(i >> 2) * 3 + (i % 4)]
  return { source: image, width, height, name: 'picture' }
}

async function openMaps(page, file, picture) {
  const [{ provenanceIn, readArrays }, { pictureOfPixels, savedMaps }] = await Promise.all([import('./arrays.js'), import('./saved.js')])
  const arrays = await readArrays(file), saved = { ...savedMaps(arrays, file.name), from: await provenanceIn(file) }, { layers, heads, tokens, rows, columns, prefixTokens } = saved.shape
  page.engine.openMaps(saved)
  element('model-name').textContent = file.name
  element('model-facts').textContent = `Saved maps: ${layers} layers, ${heads} heads, ${tokens} tokens = ${rows} × ${columns} patches and ${prefixTokens} before them, on the picture’s centre.${saved.from?.changes ? ` Changed: ${saved.from.changes}.` : ''}`
  element('demo-model').hidden = false
  await page.run(picture ? await decode(picture, picture.name) : arrays.picture?.shape.at(-1) === 3 ? pictureOfBytes(arrays.picture) : saved.pixels ? pictureOfPixels(saved.pixels) : page.picture)
}

let library = null

/* Where to type an address, and what is kept. */
async function openLibrary(page) {
  library ??= (await import('./library.js')).createLibrary(element('library'), {
    showError: page.showError, open: async (files, name) => { if (await page.openModel(files, name)) element('demo-model').hidden = false }
  })
  return library
}

function pickFolder(page) {
  const input = Object.assign(document.createElement('input'), { type: 'file', webkitdirectory: true })
  input.addEventListener('change', () => input.files.length && openFiles(page, [...input.files].filter(({ webkitRelativePath: path }) => path.split('/').length <= 2)))
  input.click()
}

export function connectModels(page) {
  const on = (id, act) => element(id).addEventListener('click', () => Promise.resolve(act()).catch(page.showError))
  on('open-folder', () => pickFolder(page))
  on('open-address', async () => (await openLibrary(page)).focus())
  on('tensors', async () => {
    const [{ showReport }, report] = await Promise.all([import('./tensor_report.js'), page.engine.tensors()])
    showReport(element('model-name').textContent, report)
  })
  globalThis.caches?.has('heed-models').then((kept) => kept && openLibrary(page)).catch(() => {})
  element('open-model').addEventListener('click', () => element('model-files').click())
  element('model-files').addEventListener('change', ({ target }) => {
    if (target.files.length) openFiles(page, [...target.files])
    target.value = ''
  })
  element('demo-model').addEventListener('click', async () => {
    if (await page.openModel(demoModel, 'Demo model: which shape occurs twice?')) element('demo-model').hidden = true
  })
}
