/* Attention rollout: the stage shows the query's row of the product over a range of layers. A
 * button walks the last layer; where less motion is asked for, each press takes it one layer on. */
import { html, render } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { createLayers } from './rollout_layers.js'
import { say } from '../../../languages/say.js'

import type { Fusion, Of } from '../../../shared/types.js'
import type { MakeView, Page } from '../../types.js'

const fusions: [value: Fusion, text: string][] = [
  ['mean', say('modelDifference.mean')],
  ['min', 'min'],
  ['max', 'max']
]

/** The walk of the last layer from the first on, to the end and to where it was; where less motion is
 * asked for, each press takes it one layer on. */
class Walk {
  page
  redraw
  #still = matchMedia('(prefers-reduced-motion: reduce)').matches
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(page: Page, redraw: () => void) {
    this.page = page
    this.redraw = redraw
  }

  get label() {
    if (this.#still) return say('rollout.oneLayer')
    return this.#timer ? say('frames.stop') : say('rollout.playLayers')
  }

  #play() {
    const { store, engine } = this.page,
      { first, last } = store.get(),
      end = engine.shape.layers - 1
    let layer = first
    const step = () => {
      store.set({ last: layer > end ? last : layer })
      if (layer++ > end) this.stop()
    }
    this.#timer = setInterval(step, 700)
    step()
  }
  stop() {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.redraw()
  }
  press() {
    const { store, engine } = this.page,
      { first, last } = store.get()
    if (this.#still)
      store.set({ last: last < 0 || last >= engine.shape.layers - 1 ? first : last + 1 })
    else if (this.#timer) this.stop()
    else this.#play()
    this.redraw()
  }
}

export const view: MakeView = (page, element, { left, redraw }) => {
  const { store, engine } = page,
    walk = new Walk(page, redraw),
    layers = createLayers(page)
  left.addEventListener('abort', () => walk.stop())

  function change(name: string, value: number) {
    const { first, last } = store.get(),
      end = last < 0 ? engine.shape.layers - 1 : last
    if (name === 'first') store.set({ first: value, last: Math.max(value, end) })
    else if (name === 'last') store.set({ last: value, first: Math.min(first, value) })
    else store.set({ [name]: value })
  }
  const range = (name: string, text: string, [min, max, step]: number[], value: number) =>
    html`<p><label class="range">${text} <input type="range" name=${name} min=${min} max=${max} step=${step} .value=${live(String(value))} @input=${({ target }: Of<HTMLInputElement>) => change(name, Number(target.value))}> <output>${value}</output></label></p>`

  async function draw(latest: () => boolean) {
    const { first, last, residual, discard, fusion } = store.get(),
      end = engine.shape.layers - 1,
      { kept, light } = engine.result,
      quick = kept || light
    render(
      html`<p class="hint">${say('rollout.rolloutAbnarZuidema2020')}</p>
      ${range('first', say('rollout.firstLayer'), [0, end, 1], first)}
      ${range('last', say('rollout.lastLayer'), [0, end, 1], last < 0 ? end : last)}
      ${range('residual', say('rollout.identityWeightR'), [0.05, 0.95, 0.05], residual)}
      ${range('discard', say('rollout.discardedD'), [0, 0.95, 0.05], discard)}
      <p class="row after"><label>${say('rollout.headsFused')} <select name="fusion" @change=${({ target }: Of<HTMLSelectElement>) => store.set({ fusion: target.value as Fusion })}>${fusions.map(([value, text]) => html`<option value=${value} .selected=${live(value === fusion)}>${text}</option>`)}</select></label> <button type="button" name="play" ?disabled=${Boolean(engine.parts)} @click=${() => walk.press()}>${walk.label}</button></p><p class="hint">${quick ? say('rollout.rolloutUsesWeightsAfter') : say('rollout.mapsMadeAgain')}</p>${layers.element}`,
      element
    )
    await layers.draw(latest)
  }
  return {
    keys: ['ran', 'drawn', 'measured', 'fusion', 'first', 'last', 'residual', 'discard'],
    draw
  }
}
