/* Another size of pictures than the model's own: what it will cost, a dialog that asks for it, and
 * what the page does once the state has another. Loaded when asked for. */
import { html, nothing, render } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import '../controls/opened_advice.js'
import { fixed } from '../../plot/parts/numbers.js'
import { showProgress, showStatus, showStop } from '../controls/status.js'
import { laterStyles } from '../later_styles.js'
import { keepsAll } from '../../shared/model_runner.js'
import { showFacts } from './model_buttons.js'
import { say } from '../../languages/say.js'
import type { ModelInfo } from 'heed'
import type { Of, PictureSize, Shape } from '../../shared/types.js'
import type { Page, SizeCost } from '../types.js'

type Size = NonNullable<PictureSize>

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
  [height, width]: Size
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
): Size {
  const side = Math.sqrt(runHeight * runWidth) / patch,
    root = Math.sqrt(width / height)
  return [
    patch * Math.max(1, Math.round(side / root)),
    patch * Math.max(1, Math.round(side * root))
  ]
}

/** What a size costs, or why it cannot be had. */
function judge({ model, shape }: Page['engine'], tables: number, size: Size) {
  const { patch } = model,
    refused = refusal(patch, size)
  if (refused) return { words: refused, can: false }
  const cost = costOf(model, shape, tables, size),
    large = cost.runtime > bytesMost
  return {
    words: say('pictureSize.patches', {
      rows: size[0] / patch,
      columns: size[1] / patch,
      cost: wordsOfCost(cost),
      large: large ? say('pictureSize.webassemblyModuleAtMost') : ''
    }),
    can: !large
  }
}

export async function showSizes(page: Page) {
  const { engine, store } = page
  if (engine.saved) throw new Error(say('errors.mapsSize'))
  if (engine.parts) throw new Error(say('parts.only'))
  const { model } = engine,
    { patch, imageSize, runHeight, runWidth } = model,
    own: Size = [runHeight, runWidth],
    trained = own.every((side) => side === imageSize) ? 0 : imageSize, // the files tell another side
    { found } = await engine.tensors(),
    tables = found.filter(({ role }) => role?.includes('relative_position_bias')).length
  await laterStyles()
  const dialog = document.body.appendChild(document.createElement('dialog'))
  dialog.setAttribute('aria-labelledby', 'size-title')
  let typed = [] as (string | number)[]
  const size = () => typed.map(Number) as Size

  const side = (i: number, name: string, text: string) =>
    html`<label>${text} <input name=${name} type="number" min=${patch} step=${patch} required .value=${live(String(typed[i]))} @input=${({ target }: Of<HTMLInputElement>) => show(typed.map((side, j) => (j === i ? target.value : side)))}></label>`
  const button = (name: string, text: string, size: Size) =>
    html`<button type="button" name=${name} @click=${() => show(size)}>${text}</button>`
  function take(event: Event) {
    event.preventDefault()
    dialog.close()
    store.set({ size: String(size()) === String(own) ? null : size() })
  }
  function show(sides: (string | number)[]) {
    typed = sides
    const { words, can } = judge(engine, tables, size())
    render(
      html`<h2 id="size-title">${say('pictureSize.sizePicture')}</h2>
    <p>${say('pictureSize.multiplesPatchPixelsPicture', { patch })}</p>
    <form @submit=${take}><div class="fields">${side(0, 'height', say('pictureSize.height'))}
    ${side(1, 'width', say('pictureSize.width'))}</div>
    <p class="row after">${button('own', say('pictureSize.modelsOwn'), own)}${trained ? html` ${button('trained', say('pictureSize.trained', { size: trained }), [trained, trained])}` : nothing} ${button('shaped', say('pictureSize.shapePicture'), shapedAs(model, page.picture))}</p>
    <p class="hint" aria-live="polite">${words}</p>
    <p class="row after"><button name="take" ?disabled=${!can}>${say('pictureSize.runAtSize')}</button> <button type="button" name="close" @click=${() => dialog.close()}>${say('dialog.close')}</button></p></form>`,
      dialog
    )
  }
  show(engine.size ?? own)
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
  if (engine.only || String(size) === String(before)) return
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
