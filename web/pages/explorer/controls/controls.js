/* Buttons and lists that change the state, and show it. */
import { overlayStyles } from '../../plot/overlay.js'
import { scaleKinds } from '../../plot/scale.js'
import { connectTheme } from '../../shared/page_settings.js'
import { scoreStages } from '../../shared/scores.js'
/** @import {ColormapName} from '../../../src/index.js' */
/** @import {OverlayStyle} from '../../../plot/index.js' */
/** @import {Page, Runner, State, Store, ViewName} from '../../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)
const fits = () =>
  /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll('#fit button'))
const maps = {
  cividis: 'Cividis',
  viridis: 'Viridis',
  magma: 'Magma',
  inferno: 'Inferno',
  grey: 'Grey'
}

/**
 * @param {Record<string, string>} options
 * @param {string} value
 * @param {HTMLSelectElement} select
 */
function fill(select, options, value) {
  select.replaceChildren(...Object.entries(options).map(([key, text]) => new Option(text, key)))
  select.value = value
}

/** @param {Page} options */
export function showControls({ store, showError }) {
  const state = store.get()
  fill(element('style'), overlayStyles, state.style)
  fill(element('scale'), scaleKinds, state.scale)
  fill(element('score'), scoreStages, state.score)
  fill(element('colours'), maps, state.colours)
  element('strength').value = String(state.strength)
  connectTheme(element('theme'))
  element('help').addEventListener('click', () => {
    element('keys').showModal()
    import('./key_list.js').then(({ showKeys }) => showKeys(element('key-list'))).catch(showError)
  })
}

/** @type {(keyof State)[]} */
const keysOfControls = [
  'fit',
  'style',
  'scale',
  'score',
  'strength',
  'colours',
  'query',
  'reverse',
  'ran',
  'view',
  'layer',
  'head',
  'off'
]

/**
 * What the controls say of the state, and which of them can be used.
 * @param {Page} page
 * @param {Readonly<State>} state
 */
function showState(page, state) {
  const out = state.off.includes(`${state.layer}.${state.head}`),
    pooled = state.layer === 'pool'
  element('ablate').textContent = out ? 'Restore' : 'Ablate'
  element('ablate').disabled = pooled || state.head === 'mean' || !page.engine.canChange
  for (const id of /** @type {const} */ (['style', 'scale', 'score', 'strength', 'colours']))
    element(id).value = String(state[id])
  element('score').disabled =
    pooled || state.view === 'rollout' || (page.engine.result && !page.engine.scored())
  element('scale').disabled = state.score !== 'softmax' && !element('score').disabled
  for (const button of fits()) {
    button.setAttribute('aria-pressed', button.dataset.fit === state.fit)
    button.disabled = Boolean(page.engine.saved)
  }
  element('cls').setAttribute('aria-pressed', state.query === 'cls')
  element('cls').disabled = pooled || !page.engine.shape.prefixTokens
  element('reverse').setAttribute('aria-pressed', state.reverse)
  element('reverse').disabled = pooled
}

/** @param {Page} page */
export function connectControls(page) {
  const { store } = page
  element('style').addEventListener('change', ({ target }) =>
    store.set({ style: /** @type {OverlayStyle} */ (target.value) })
  )
  for (const id of ['scale', 'score'])
    element(id).addEventListener('change', ({ target }) =>
      store.set({ [id]: /** @type {HTMLSelectElement} */ (target).value })
    )
  element('strength').addEventListener('input', ({ target }) =>
    store.set({ strength: Number(target.value) })
  )
  element('colours').addEventListener('change', async ({ target }) =>
    store.set({ colours: /** @type {ColormapName} */ (target.value) })
  )
  element('cls').addEventListener('click', () => toggleCls(page))
  /** @param {'stage' | ViewName} which */
  const table = async (which) => {
    if (page.drawn) await (await import('./number_tables.js')).showTable(page, which)
  }
  element('stage-table').addEventListener('click', () => table('stage').catch(page.showError))
  element('view-table').addEventListener('click', () =>
    table(store.get().view).catch(page.showError)
  )
  element('pin').addEventListener('click', () =>
    import('../state/pins.js').then(({ pin }) => pin(page)).catch(page.showError)
  )
  element('compare').addEventListener('click', () => store.set({ view: 'compare' }))
  element('ablate').addEventListener('click', () => toggleHead(page))
  for (const button of fits())
    button.addEventListener('click', () =>
      store.set({ fit: /** @type {State['fit']} */ (button.dataset.fit) })
    )
  element('reverse').addEventListener('click', () => store.set({ reverse: !store.get().reverse }))
  store.on(keysOfControls, (state) => showState(page, state))
}

/**
 * @param {string} entry
 * @param {string[]} list
 */
export const toggled = (list, entry, on = !list.includes(entry)) =>
  (on ? [...new Set([...list, entry])] : list.filter((other) => other !== entry)).sort()

/**
 * The chosen head out of the model, or back.
 * @param {Pick<Page, 'store'>} options
 */
export function toggleHead({ store }) {
  const { off, layer, head } = store.get()
  if (head !== 'mean' && layer !== 'pool') store.set({ off: toggled(off, `${layer}.${head}`) })
}

/**
 * From a token before the patches, and back to the patch before.
 * @param {{store: Store, engine: Runner}} options
 */
export function toggleCls({ store, engine }, token = 0) {
  const { query, patch } = store.get(),
    wanted = token || 'cls'
  if (query === wanted)
    store.set({ query: patch ?? [engine.shape.rows >> 1, engine.shape.columns >> 1] })
  else if (token < engine.shape.prefixTokens)
    store.set({ query: wanted, patch: Array.isArray(query) ? query : patch })
}
