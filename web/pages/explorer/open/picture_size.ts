/* Another size of pictures than the model's own: what it will cost, a dialog that asks for it, and
 * what the page does once the state has another. Loaded when asked for. */
import '../controls/opened_advice.js'
import { fixed } from '../../plot/parts/numbers.js'
import { showProgress, showStatus, showStop } from '../controls/status.js'
import { laterStyles } from '../later_styles.js'
import { keepsAll } from '../../shared/model_runner.js'
import { showFacts } from './model_buttons.js'
import { say } from '../../languages/say.js'
import type { ModelInfo } from 'heed'
import type { Field, Shape } from '../../shared/types.js'
import type { Page, SizeCost } from '../types.js'

const patchesMost = 1e4, // each has a cell in the page
  bytesMost = 4e9 // of a WebAssembly module

const megabytes = (bytes: number) =>
  bytes < 1e9 ? `${fixed(Math.ceil(bytes / 1e6), 0)} MB` : `${fixed(bytes / 1e9, 1)} GB`

/**
 * What a size costs, from the memory that the runtime predicted for the session that is open: its
 * values grow with the tokens, and kept maps and tables of relative positions with their square.
 * @param shape of the open session
 * @param tables of relative positions
 */
export function costOf(
  model: ModelInfo,
  shape: Shape,
  tables: number,
  [height, width]: [height: number, width: number]
): SizeCost {
  const { layers, heads, patch, prefixTokens, width: channels } = model,
    { weights, arena, taps, workspace } = (shape as Required<Shape>).memory,
    tokens = prefixTokens + (height / patch) * (width / patch),
    keeps = keepsAll(model, tokens),
    maps = 4 * layers * heads * tokens ** 2
  const kept = keeps ? maps + 20 * layers * tokens * channels : 12 * layers * tokens * channels
  return {
    tokens,
    keeps,
    maps,
    runtime:
      weights +
      4 * tables * heads * (tokens ** 2 - shape.tokens ** 2) +
      ((arena - taps + workspace) * tokens) / shape.tokens +
      kept,
    page: keeps ? kept : 0
  }
}

const wordsOfCost = ({ tokens, keeps, maps, runtime, page }: SizeCost) =>
  say('pictureSize.tokensAboutRuntime', {
    tokens: fixed(tokens, 0),
    runtime: megabytes(runtime),
    keeps: keeps
      ? say('pictureSize.pagesCopyMaps', { megabytes: megabytes(page) })
      : say('pictureSize.onDemand', { megabytes: megabytes(maps) })
  })

/** Why a model of this patch cannot take a size here; '' where it may. */
function refusal(patch: number, [height, width]: number[]) {
  for (const [name, value] of [
    [say('pictureSize.height'), height],
    [say('pictureSize.width'), width]
  ] as [string, number][]) {
    if (Number.isInteger(value / patch) && value > 0) continue
    const below = Math.max(1, Math.floor(value / patch) || 1) * patch
    return say('pictureSize.noMultiple', {
      name,
      found: value || say('offers.nothing'),
      below,
      above: below + patch
    })
  }
  const patches = (height / patch) * (width / patch)
  return patches > patchesMost
    ? say('pictureSize.manyPatches', { found: fixed(patches, 0), most: fixed(patchesMost, 0) })
    : ''
}

/** About as many patches as the model's own size has, in the shape of the picture. */
export function shapedAs(
  { runHeight, runWidth, patch }: ModelInfo,
  { width, height }: { width: number; height: number }
): [height: number, width: number] {
  const side = Math.sqrt(runHeight * runWidth) / patch,
    root = Math.sqrt(width / height)
  return [
    patch * Math.max(1, Math.round(side / root)),
    patch * Math.max(1, Math.round(side * root))
  ]
}

/** @param trained the side that the files tell, where it is another than the model's own; 0: it is not */
const markup = (
  patch: number,
  trained: number
) => `<h2 id="size-title">${say('pictureSize.sizePicture')}</h2>
    <p>${say('pictureSize.multiplesPatchPixelsPicture', { patch })}</p>
    <form><div class="fields"><label>${say('pictureSize.height')} <input name="height" type="number" min="${patch}" step="${patch}" required></label>
    <label>${say('pictureSize.width')} <input name="width" type="number" min="${patch}" step="${patch}" required></label></div>
    <p class="row after"><button type="button" name="own">${say('pictureSize.modelsOwn')}</button>${trained ? ` <button type="button" name="trained">${say('pictureSize.trained', { size: trained })}</button>` : ''} <button type="button" name="shaped">${say('pictureSize.shapePicture')}</button></p>
    <p class="hint" aria-live="polite"></p>
    <p class="row after"><button name="take">${say('pictureSize.runAtSize')}</button> <button type="button" name="close">${say('dialog.close')}</button></p></form>`

export async function showSizes(page: Page) {
  const { engine, store } = page
  if (engine.saved) throw new Error(say('errors.mapsSize'))
  const { model, shape } = engine,
    { patch, imageSize, runHeight, runWidth } = model,
    own = [runHeight, runWidth] as [height: number, width: number],
    trained = own.every((side) => side === imageSize) ? 0 : imageSize,
    { found } = await engine.tensors(),
    tables = found.filter(({ role }) => role?.includes('relative_position_bias')).length
  await laterStyles()
  const dialog = document.body.appendChild(
      Object.assign(document.createElement('dialog'), { innerHTML: markup(patch, trained) })
    ),
    field = (name: string) => dialog.querySelector(`[name=${name}]`) as Field
  dialog.setAttribute('aria-labelledby', 'size-title')
  const chosen = (): [height: number, width: number] => [
    field('height').valueAsNumber,
    field('width').valueAsNumber
  ]

  function show() {
    const refused = refusal(patch, chosen()),
      cost = refused ? null : costOf(model, shape, tables, chosen()),
      large = cost && cost.runtime > bytesMost
    dialog.querySelector('.hint').textContent = cost
      ? say('pictureSize.patches', {
          rows: chosen()[0] / patch,
          columns: chosen()[1] / patch,
          cost: wordsOfCost(cost),
          large: large ? say('pictureSize.webassemblyModuleAtMost') : ''
        })
      : refused
    field('take').disabled = !cost || Boolean(large)
  }
  function put(size: [height: number, width: number]) {
    for (const [i, name] of ['height', 'width'].entries()) field(name).value = String(size[i])
    show()
  }
  put(engine.size ?? own)
  for (const name of ['height', 'width']) field(name).addEventListener('input', show)
  field('own').addEventListener('click', () => put(own))
  dialog.querySelector('[name=trained]')?.addEventListener('click', () => put([trained, trained]))
  field('shaped').addEventListener('click', () => put(shapedAs(model, page.picture)))
  field('close').addEventListener('click', () => dialog.close())
  dialog.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault()
    const size = chosen()
    dialog.close()
    store.set({ size: String(size) === String(own) ? null : size })
  })
  dialog.addEventListener('close', () => dialog.remove())
  dialog.showModal()
}

/** The model runs at the size that the state has. One that it cannot take gets its sentence, and the
 * size before stays. */
export async function applySize(page: Page) {
  const { engine, store } = page,
    { size } = store.get(),
    before = engine.size,
    stop = new AbortController()
  if (engine.saved || String(size) === String(before)) return
  const refused = size && refusal(engine.model.patch, size)
  if (refused) {
    page.showError(new Error(refused))
    return store.set({ size: before })
  }
  showStop(stop)
  document.body.classList.add('dim')
  showStatus(say('pictureSize.preparingModelSize'))
  try {
    await engine.resize(size, { onProgress: showProgress, signal: stop.signal })
  } catch (error) {
    page.showError(error)
    store.set({ size: before })
  } finally {
    showProgress(null)
    showStop(null)
  }
  showFacts(engine)
  page.fit()
  await page.run(page.picture)
}
