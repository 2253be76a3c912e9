/* What the menus Open, Model, Display and Save have. Each is made when it is opened for the first time, and
 * follows the state from then on. */
import { element } from '../../shared/elements.js'
import { scaleKinds } from '../../plot/scale.js'
import { keep } from '../../shared/page_settings.js'
import { scoreStages } from '../../shared/scores.js'
import { pickFolder } from '../open/open_files.js'
import { openLibrary } from '../open/library.js'
import { actions } from '../save/save_actions.js'
import { say } from '../../languages/say.js'
import type { Page, State } from '../types.js'

const colours = {
  cividis: 'Cividis',
  viridis: 'Viridis',
  magma: 'Magma',
  inferno: 'Inferno',
  grey: say('menus.grey')
}

const displayMarkup = `<div class="even two"><button type="button" id="reverse">${say('explorer.received')}</button><button type="button" id="stage-table" aria-label="${say('explorer.stageTable')}">${say('explorer.table')}</button></div>
  <div class="controls">
  <label>${say('menus.scale')} <select id="scale"></select></label>
  <label>${say('menus.stage')} <select id="score"></select></label>
  <label>${say('menus.style')} <select id="style"></select></label>
  <label>${say('menus.colours')} <select id="colours"></select></label>
  <label>${say('menus.strength')} <input type="range" id="strength" min="0" max="1" step="0.05"></label>
  <label class="check"><input type="checkbox" id="lock"> ${say('menus.lockEnd')}</label></div>
  <p class="hint" id="display-said"></p>`

const openMarkup = `<div class="even two"><button type="button" id="open-picture">${say('explorer.pictures')}</button><button type="button" id="camera">${say('explorer.camera')}</button><button type="button" id="open-model">${say('explorer.modelFiles')}</button><button type="button" id="open-folder">${say('explorer.folder')}</button><button type="button" id="open-address">${say('explorer.address')}</button></div>
  <p class="hint">${say('explorer.dropHint')}</p>`

const modelMarkup = `<div class="even two"><button type="button" id="tensors">${say('explorer.tensors')}</button><button type="button" id="size">${say('explorer.size')}</button></div>
  <div class="even two" id="fit" role="group" aria-label="${say('explorer.imageArea')}"><button type="button" data-fit="model" title="${say('explorer.cropped')}">${say('explorer.asTrained')}</button><button type="button" data-fit="whole" title="${say('explorer.padded')}">${say('explorer.wholePicture')}</button></div>`

const saveMarkup = `<div class="even four">
  <span class="joined wide"><button type="button" id="save-png">PNG</button><select id="png-times" aria-label="${say('menus.sizePng')}"><option value="1">1×</option><option value="2" selected>2×</option><option value="3">3×</option><option value="4">4×</option></select></span>
  <button type="button" id="save-svg">SVG</button><button type="button" id="save-csv">CSV</button><button type="button" id="save-json">JSON</button>
  <button type="button" id="save-npy" title="${say('menus.mapsAloneWithoutTheir')}">.npy</button><button type="button" id="save-npz" title="${say('menus.mapsImageGridSource')}">.npz</button><button type="button" id="save-session">${say('menus.session')}</button>
  <button type="button" id="save-safetensors" class="wide">.safetensors</button><button type="button" id="save-figure" class="wide">${say('menus.figure')}</button>
  <button type="button" id="code" class="wide" title="${say('explorer.codeTitle')}">${say('explorer.copyCode')}</button></div>
  <p class="hint">${say('menus.figurePanelsPrintMillimetres')}</p>`

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

const fill = (select: HTMLSelectElement, options: Record<string, string>) =>
  select.replaceChildren(...Object.entries(options).map(([key, text]) => new Option(text, key)))

function showDisplay({ engine, store }: Page) {
  const state = store.get(),
    pooled = state.layer === 'pool'
  for (const id of ['style', 'scale', 'score', 'strength', 'colours'] as const)
    element(id).value = String(state[id])
  element('reverse').setAttribute('aria-pressed', state.reverse)
  element('reverse').disabled = pooled
  element('lock').checked = state.end > 0
  element('score').disabled =
    pooled || state.view === 'rollout' || Boolean(engine.result && !engine.scored())
  element('scale').disabled = state.score !== 'softmax' && !element('score').disabled
  element('lock').disabled = element('scale').disabled || state.scale === 'own'
  element('display-said').textContent = say('menus.lockedScaleKeepsEnd', {
    scale: scaleWords[state.scale],
    score: stageSentences[state.score]
  })
}

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

function connectDisplay(page: Page) {
  const { store } = page
  for (const id of ['style', 'scale', 'score', 'colours'] as const)
    element(id).addEventListener('change', ({ target }) =>
      store.set({ [id]: (target as HTMLSelectElement).value })
    )
  element('reverse').addEventListener('click', () => store.set({ reverse: !store.get().reverse }))
  connect(page, {
    'stage-table': async () =>
      page.drawn && (await import('./number_tables.js')).showTable(page, 'stage')
  })
  element('strength').addEventListener('input', ({ target }) =>
    store.set({ strength: Number(target.value) })
  )
  element('lock').addEventListener('change', ({ target }) =>
    lockScale(page, (target as HTMLInputElement).checked)
  )
}

/** Buttons of a menu by their ids, and what each does. */
function connect(page: Page, acts: Record<string, () => unknown>) {
  for (const [id, act] of Object.entries(acts))
    element(id as 'camera').addEventListener('click', async () => {
      try {
        await act()
      } catch (error) {
        page.showError(error as Error)
      }
    })
}

export async function open(page: Page, menu: HTMLElement) {
  menu.insertAdjacentHTML('beforeend', openMarkup)
  connect(page, {
    'open-picture': () => element('picture-file').click(),
    camera: async () => (await import('../open/camera.js')).openCamera(page),
    'open-model': () => element('model-files').click(),
    'open-folder': () => pickFolder(page),
    'open-address': async () => (await openLibrary(page)).focus()
  })
  await openLibrary(page)
}

export function model(page: Page, menu: HTMLElement) {
  menu.insertAdjacentHTML('beforeend', modelMarkup)
  connect(page, {
    tensors: async () => (await import('../open/tensor_report.js')).showTensors(page),
    size: async () => (await import('../open/picture_size.js')).showSizes(page)
  })
  const fits = menu.querySelectorAll('[data-fit]') as NodeListOf<HTMLButtonElement>,
    show = () => {
      for (const button of fits) {
        button.setAttribute('aria-pressed', button.dataset.fit === page.store.get().fit)
        button.disabled = Boolean(page.engine.saved)
      }
    }
  for (const button of fits)
    button.addEventListener('click', () =>
      page.store.set({ fit: button.dataset.fit as State['fit'] })
    )
  page.store.on(['fit', 'ran'], show)
  show()
}

export function display(page: Page, menu: HTMLElement) {
  menu.insertAdjacentHTML('beforeend', displayMarkup)
  fill(element('style'), {
    colour: say('style.colour'),
    spotlight: say('style.spotlight'),
    contour: say('style.contour'),
    mass: say('style.mass')
  })
  fill(element('scale'), scaleKinds)
  fill(element('score'), scoreStages)
  fill(element('colours'), colours)
  connectDisplay(page)
  page.store.on(
    ['style', 'scale', 'end', 'score', 'strength', 'colours', 'reverse', 'ran', 'view', 'layer'],
    () => showDisplay(page)
  )
  showDisplay(page)
}

export function save(page: Page, menu: HTMLElement) {
  menu.insertAdjacentHTML('beforeend', saveMarkup)
  for (const button of menu.querySelectorAll('button'))
    button.addEventListener('click', () => actions[button.id](page).catch(page.showError))
}
