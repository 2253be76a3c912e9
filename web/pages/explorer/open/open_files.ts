/* Files that were opened or dropped: a folder of a model or one file of weights, maps saved elsewhere,
 * a session, a survey. They are read in place and go nowhere. Loaded with the first of them. */
import { element } from '../../shared/elements.js'
import '../controls/opened_advice.js'
import { provenanceIn, readArrays, readSafetensorsHeader } from '../../shared/array_files.js'
import { unchanged } from '../../shared/changes.js'
import { decode } from './decode_picture.js'
import { checkWeights, holdsMaps, pictureOfPixels, savedMaps, wantedArrays } from './saved_maps.js'
import { openNumbers, openSession, readNumbers, readSession } from '../save/session_file.js'
import { modelFiles } from '../../heed/weight_files.js'
import { say } from '../../languages/say.js'
import type { NamedArray, SavedMaps } from '../../shared/types.js'
import type { Page } from '../types.js'

/** Maps that were saved, where one of the files holds some. What cannot be read as safetensors is
 * left to the runtime, which says why. */
async function mapsIn(files: File[]) {
  for (const file of files) {
    if (/\.np[yz]$/.test(file.name)) return file
    if (!file.name.endsWith('.safetensors')) continue
    const { header } = await readSafetensorsHeader(file).catch(() => ({ header: {} }))
    if (holdsMaps(header)) return file
  }
  return null
}

/** What a model is called: its folder, what its config calls it, or its file of weights. */
async function nameOf(files: File[], weights: File) {
  const folder = /^([^/]+)\//.exec(weights.webkitRelativePath ?? '')?.[1]
  if (folder) return folder
  try {
    const config = files.find(({ name }) => name === 'config.json'),
      { _name_or_path: name } = JSON.parse((await config?.text()) ?? '{}')
    if (typeof name === 'string' && name) return name.slice(0, 60)
  } catch {
    /* the runtime says what is wrong with it */
  }
  return weights.name
}

/* Sessions, figures and surveys are read whole. A browser's longest text has about 512 million characters. */
const mostJsonMegabytes = 256

function refuseLarge({ name, size }: File) {
  const found = Math.ceil(size / 1e6)
  if (found > mostJsonMegabytes)
    throw new Error(say('errors.jsonLarge', { name, found, most: mostJsonMegabytes }))
}

export async function openFiles(page: Page, files: File[]) {
  try {
    const json = files.length === 1 && files[0].name.endsWith('.json')
    if (json) refuseLarge(files[0])
    const session = json ? await readSession(files[0]) : null
    if (json && /^\s*\{\s*"heed_figure"/.test(await files[0].slice(0, 200).text()))
      return await (await import('../figure/figure_composer.js')).openFigure(page, files[0])
    if (session) return await openSession(page, session)
    const numbers = json && (await readNumbers(files[0]))
    if (numbers) return await openNumbers(page, numbers, files[0].name)
    if (json && /"quantile_error":/.test(await files[0].slice(0, 4000).text())) {
      const { showSurvey, surveyIn } = await import('./survey_file.js'),
        survey = surveyIn(JSON.parse(await files[0].text()))
      if (!survey) throw new Error(say('errors.noSurvey', { name: files[0].name }))
      return await showSurvey(page, survey, files[0].name)
    }
    const maps = await mapsIn(files)
    if (maps)
      return await openMaps(
        page,
        maps,
        files.find(({ type }) => type.startsWith('image/'))
      )
    const { weights, files: ofModel } = modelFiles(files)
    if (!weights) throw new Error(say('errors.unknownFile', { name: files[0].name }))
    await page.openModel(ofModel, await nameOf(files, weights), { anew: true })
  } catch (error) {
    page.showError(error)
  }
}

/** What the page saved beside the maps: RGB [height, width, 3]. */
function pictureOfBytes({ shape: [height, width], data }: NamedArray) {
  const image = new ImageData(width, height)
  for (let i = 0; i < image.data.length; i++)
    image.data[i] = i % 4 === 3 ? 255 : data[(i >> 2) * 3 + (i % 4)]
  return { source: image, width, height, name: 'picture' }
}

/* The picture that maps are of: one opened with them, or one in their file; null where there is
 * none. */
function pictureOf(
  arrays: Record<string, NamedArray>,
  pixels: NamedArray | null,
  opened: File | undefined
) {
  if (opened) return decode(opened, opened.name)
  if (arrays.picture) return pictureOfBytes(arrays.picture)
  return pixels && pictureOfPixels(pixels)
}

/** What a .safetensors file says of its tokens: the names of those before the patches, and where in
 * the maps each of heed's lies. */
async function tokensIn(file: File): Promise<{ names?: string[]; order?: unknown }> {
  if (!file.name.endsWith('.safetensors')) return {}
  const { header } = await readSafetensorsHeader(file)
  const { prefix, tokens } = (header as Record<string, any>).__metadata__ ?? {}
  return { names: prefix && String(prefix).split(', '), order: tokens }
}

/** All that can fail comes before the page changes. */
async function openMaps(page: Page, file: File, opened: File | undefined) {
  const arrays = await readArrays(file, (parts) => wantedArrays(parts as any, file.name)),
    { names, order } = await tokensIn(file),
    saved = {
      ...savedMaps(arrays, file.name, order),
      name: file.name,
      from: await provenanceIn(file)
    },
    { prefixTokens } = saved.shape
  if (names?.length === prefixTokens) saved.shape.tokenNames = names
  await checkWeights(saved, file.name)
  const picture = await pictureOf(arrays, saved.pixels, opened)
  await showMaps(page, { ...saved, picture: picture ?? null })
}

/** Maps that were read and checked, on their picture, or on the one that is here. */
export async function showMaps(page: Page, saved: SavedMaps) {
  const { picture, name } = saved,
    { layers, heads, tokens, rows, columns, prefixTokens } = saved.shape
  page.engine.openMaps(saved)
  page.store.set(unchanged)
  element('model-name').textContent = String(name)
  element('model-facts').textContent =
    say('savedMaps.facts', {
      layers,
      heads,
      tokens,
      rows,
      columns,
      prefix: prefixTokens,
      assumed: saved.assumed ? say('savedMaps.assumed') : ''
    }) +
    (picture ? '' : say('savedMaps.otherPicture')) +
    (saved.from?.changes ? say('savedMaps.changed', { changes: saved.from.changes }) : '')
  element('demo-model').hidden = false
  await page.run(picture ?? page.picture)
}

/** The files that lie in a folder, and in a folder onnx/ in it. */
export function pickFolder(page: Page) {
  const input = Object.assign(document.createElement('input'), {
    type: 'file',
    webkitdirectory: true
  })
  input.addEventListener(
    'change',
    () =>
      (input.files as FileList).length &&
      openFiles(
        page,
        [...(input.files as FileList)].filter(({ webkitRelativePath: path }) =>
          /^[^/]*(\/onnx)?(\/[^/]*)?$/.test(path)
        )
      )
  )
  input.click()
}
