/* Attention rollout: the stage shows the query's row of the product over a range of layers. A
 * button walks the last layer; where less motion is asked for, each press takes it one layer on. */
import { createLayers } from './rollout_layers.js'
import { say } from '../../languages/say.js'

import type { Field, Fusion, MakeView, Page, State } from '../../../types/pages.js'

const markup = `<p class="hint">${say('rollout.rolloutAbnarZuidema2020')}</p>
    <p><label class="range">${say('rollout.firstLayer')} <input type="range" name="first" min="0" step="1"> <output></output></label></p>
    <p><label class="range">${say('rollout.lastLayer')} <input type="range" name="last" min="0" step="1"> <output></output></label></p>
    <p><label class="range">${say('rollout.identityWeightR')} <input type="range" name="residual" min="0.05" max="0.95" step="0.05"> <output></output></label></p>
    <p><label class="range">${say('rollout.discardedD')} <input type="range" name="discard" min="0" max="0.95" step="0.05"> <output></output></label></p>
    <p class="row after"><label>${say('rollout.headsFused')} <select name="fusion"><option value="mean">${say('modelDifference.mean')}</option><option>min</option><option>max</option></select></label> <button type="button" name="play" >${say('rollout.playLayers')}</button></p><p class="hint"></p><div></div>`

/** The button that walks the last layer from the first on, to the end and to where it was; where
 * less motion is asked for, each press takes it one layer on. */
function connectPlay(
  { store, engine }: Pick<Page, 'store' | 'engine'>,
  button: Field,
  left: AbortSignal
) {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches
  if (still) button.textContent = say('rollout.oneLayer')
  let timer: ReturnType<typeof setInterval> | undefined

  const next = ({ first, last }: State) => ({
    last: last < 0 || last >= engine.shape.layers - 1 ? first : last + 1
  })

  function play() {
    const { first, last } = store.get(),
      end = engine.shape.layers - 1
    let layer = first
    const step = () => {
      store.set({ last: layer > end ? last : layer })
      if (layer++ > end) stop()
    }
    timer = setInterval(step, 700)
    step()
    button.textContent = say('frames.stop')
  }
  function stop() {
    clearInterval(timer)
    timer = undefined
    if (!still) button.textContent = say('rollout.playLayers')
  }
  left.addEventListener('abort', stop)
  button.addEventListener('click', () =>
    still ? store.set(next(store.get())) : timer ? stop() : play()
  )
}

export const view: MakeView = (page, element, { left }) => {
  const { store, engine } = page
  element.innerHTML = markup
  const field = (name: string) => element.querySelector(`[name=${name}]`) as Field
  for (const name of ['first', 'last', 'residual', 'discard'])
    field(name).addEventListener('input', ({ target }) => change(name, Number(target.value)))
  field('fusion').addEventListener('change', ({ target }) =>
    store.set({ fusion: target.value as Fusion })
  )

  function change(name: string, value: number) {
    const { first, last } = store.get(),
      end = last < 0 ? engine.shape.layers - 1 : last
    if (name === 'first') store.set({ first: value, last: Math.max(value, end) })
    else if (name === 'last') store.set({ last: value, first: Math.min(first, value) })
    else store.set({ [name]: value })
  }

  connectPlay(page, field('play'), left)
  const hint = element.querySelector('.row + .hint') as HTMLElement,
    drawLayers = createLayers(page, element.lastElementChild as HTMLElement)

  async function draw(latest: () => boolean) {
    const state = store.get(),
      layers = engine.shape.layers
    const shown = {
      first: state.first,
      last: state.last < 0 ? layers - 1 : state.last,
      residual: state.residual,
      discard: state.discard
    }
    for (const [name, value] of Object.entries(shown)) {
      if (name === 'first' || name === 'last') field(name).max = String(layers - 1)
      field(name).value = String(value)
      field(name).nextElementSibling.textContent = String(value)
    }
    field('fusion').value = state.fusion
    const { kept, light } = engine.result
    field('play').disabled = !kept && !light
    hint.textContent =
      kept || light ? say('rollout.rolloutUsesWeightsAfter') : say('rollout.mapsMadeAgain')
    await drawLayers(latest)
  }
  return {
    keys: ['ran', 'drawn', 'measured', 'fusion', 'first', 'last', 'residual', 'discard'],
    draw
  }
}
