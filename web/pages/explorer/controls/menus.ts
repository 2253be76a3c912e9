/* What the menus Open, Model, Display and Save have. Each is made when it is opened for the first time, and
 * follows the state from then on. */
import { html, render } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { element } from '../../shared/elements.js'
import { scaleKinds } from '../../plot/scale.js'
import { keep } from '../../shared/page_settings.js'
import { scoreStages } from '../../shared/scores.js'
import { pickFolder } from '../open/open_files.js'
import { openLibrary } from '../open/library.js'
import { followDevice, runOn, wordsOf } from '../model/run_on.js'
import { actions } from '../save/save_actions.js'
import { say } from '../../languages/say.js'
import type { Device } from '../../shared/device.js'
import type { Of } from '../../shared/types.js'
import type { Page, State } from '../types.js'

const colours = {
  cividis: 'Cividis',
  viridis: 'Viridis',
  magma: 'Magma',
  inferno: 'Inferno',
  grey: say('menus.grey')
}

const styles = {
  colour: say('style.colour'),
  spotlight: say('style.spotlight'),
  contour: say('style.contour'),
  mass: say('style.mass')
}

/** What the scales mean, in one sentence each. */
const scaleWords = {
  uniform: say('menus.1UniformWhatEvery'),
  share: say('menus.shareRowsAttentionAll'),
  log: say('menus.powersTenUniformSo'),
  own: say('menus.eachMapOwnEnd'),
  all: say('menus.endLargestWeightAny')
} as Record<string, string>
const stageSentences = {
  softmax: say('menus.softmaxWeightsAfterNormalisation'),
  masked: say('menus.scoresSoftmaxSaw'),
  scaled: say('menus.qKDBefore'),
  raw: say('menus.qKBeforeScale'),
  value: say('menus.weightLengthValuePassed')
} as Record<string, string>

/** Locks the end where it is, in times uniform, or frees it; this browser remembers it. */
export function lockScale({ drawn, store }: Page, on: boolean = !store.get().end) {
  const { scale, shape } = drawn,
    end =
      on && !scale.numbers && scale.kind !== 'own'
        ? Math.ceil(scale.end * shape.tokens * 100) / 100
        : 0
  store.set({ end })
  keep('end', String(end))
}

/** A button by its id, and what it does. */
const button = (page: Page, id: string, text: string, act: () => unknown) =>
  html`<button type="button" id=${id} @click=${async () => {
    try {
      await act()
    } catch (error) {
      page.showError(error as Error)
    }
  }}>${text}</button>`

export async function open(page: Page, menu: HTMLElement) {
  render(
    html`<div class="even two">${button(page, 'open-picture', say('explorer.pictures'), () => element('picture-file').click())}${button(page, 'camera', say('explorer.camera'), async () => (await import('../open/camera.js')).openCamera(page))}${button(page, 'open-model', say('explorer.modelFiles'), () => element('model-files').click())}${button(page, 'open-folder', say('explorer.folder'), () => pickFolder(page))}${button(page, 'open-address', say('explorer.address'), async () => (await openLibrary(page)).focus())}</div>
  <p class="hint">${say('explorer.dropHint')}</p>`,
    menu
  )
  await openLibrary(page)
}

export function model(page: Page, menu: HTMLElement) {
  const fit = (which: State['fit'], title: string, text: string) =>
    html`<button type="button" data-fit=${which} title=${title} aria-pressed=${page.store.get().fit === which} ?disabled=${page.engine.saved} @click=${() => page.store.set({ fit: which })}>${text}</button>`
  const device = (which: Device, text: string) =>
    html`<button type="button" data-device=${which} aria-pressed=${page.engine.device === which} ?disabled=${page.engine.saved} @click=${() => runOn(page, which).then(show, page.showError)}>${text}</button>`
  const show = () =>
    render(
      html`<div class="even two">${button(page, 'tensors', say('explorer.tensors'), async () => (await import('../open/tensor_report.js')).showTensors(page))}${button(page, 'size', say('explorer.size'), async () => (await import('../open/picture_size.js')).showSizes(page))}</div>
  <div class="even two" id="fit" role="group" aria-label=${say('explorer.imageArea')}>${fit('model', say('explorer.cropped'), say('explorer.asTrained'))}${fit('whole', say('explorer.padded'), say('explorer.wholePicture'))}</div>
  <div class="even two" id="device" role="group" aria-label=${say('runOn.label')}>${device('wasm', 'WebAssembly')}${device('webgpu', say('runOn.gpu'))}</div>
  <p class="hint">${wordsOf(page) || say('runOn.hint')}</p>`,
      menu
    )
  followDevice(page)
  page.store.on(['fit', 'ran'], show)
  show()
}

export function display(page: Page, menu: HTMLElement) {
  const { store, engine } = page
  const select = (
    id: 'style' | 'scale' | 'score' | 'colours',
    options: Record<string, string>,
    disabled = false
  ) =>
    html`<select id=${id} ?disabled=${disabled} @change=${({ target }: Of<HTMLSelectElement>) => store.set({ [id]: target.value })}>${Object.entries(options).map(([key, text]) => html`<option value=${key} .selected=${live(key === store.get()[id])}>${text}</option>`)}</select>`
  const table = async () =>
    page.drawn && (await import('./number_tables.js')).showTable(page, 'stage')

  function show() {
    const { reverse, layer, view, score, scale, end, strength } = store.get(),
      pooled = layer === 'pool',
      unscored = pooled || view === 'rollout' || Boolean(engine.result && !engine.scored()),
      unscaled = score !== 'softmax' && !unscored
    render(
      html`<div class="even two"><button type="button" id="reverse" aria-pressed=${reverse} ?disabled=${pooled} @click=${() => store.set({ reverse: !store.get().reverse })}>${say('explorer.received')}</button><button type="button" id="stage-table" aria-label=${say('explorer.stageTable')} @click=${() => table().catch(page.showError)}>${say('explorer.table')}</button></div>
  <div class="controls">
  <label>${say('menus.scale')} ${select('scale', scaleKinds, unscaled)}</label>
  <label>${say('menus.stage')} ${select('score', scoreStages, unscored)}</label>
  <label>${say('menus.style')} ${select('style', styles)}</label>
  <label>${say('menus.colours')} ${select('colours', colours)}</label>
  <label>${say('menus.strength')} <input type="range" id="strength" min="0" max="1" step="0.05" .value=${live(String(strength))} @input=${({ target }: Of<HTMLInputElement>) => store.set({ strength: Number(target.value) })}></label>
  <label class="check"><input type="checkbox" id="lock" ?disabled=${unscaled || scale === 'own'} .checked=${live(end > 0)} @change=${({ target }: Of<HTMLInputElement>) => lockScale(page, target.checked)}> ${say('menus.lockEnd')}</label></div>
  <p class="hint" id="display-said">${say('menus.lockedScaleKeepsEnd', { scale: scaleWords[scale], score: stageSentences[score] })}</p>`,
      menu
    )
  }
  store.on(
    ['style', 'scale', 'end', 'score', 'strength', 'colours', 'reverse', 'ran', 'view', 'layer'],
    show
  )
  show()
}

export function save(page: Page, menu: HTMLElement) {
  const act = ({ target }: Of<HTMLElement>) => actions[target.id]?.(page).catch(page.showError)
  render(
    html`<div class="even four" @click=${act}>
  <span class="joined wide"><button type="button" id="save-png">PNG</button><select id="png-times" aria-label=${say('menus.sizePng')}><option value="1">1×</option><option value="2" selected>2×</option><option value="3">3×</option><option value="4">4×</option></select></span>
  <button type="button" id="save-svg">SVG</button><button type="button" id="save-csv">CSV</button><button type="button" id="save-json">JSON</button>
  <button type="button" id="save-npy" title=${say('menus.mapsAloneWithoutTheir')}>.npy</button><button type="button" id="save-npz" title=${say('menus.mapsImageGridSource')}>.npz</button><button type="button" id="save-session">${say('menus.session')}</button>
  <button type="button" id="save-safetensors" class="wide">.safetensors</button><button type="button" id="save-figure" class="wide">${say('menus.figure')}</button>
  <button type="button" id="code" class="wide" title=${say('explorer.codeTitle')}>${say('explorer.copyCode')}</button></div>
  <p class="hint">${say('menus.figurePanelsPrintMillimetres')}</p>`,
    menu
  )
}
