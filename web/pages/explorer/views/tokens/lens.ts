/* The logit lens: what the classifier would say of any token after any layer. It is the model's last
 * norm and classifier on that token's state (nostalgebraist 2020, "interpreting GPT: the logit lens";
 * on patches of a ViT: Vilas et al. 2023). They are read from the model's files and applied here in
 * double; it counts only where the same on the last layer gives the model's own logits. The view
 * shows how probable the model's class is for each patch, and what is said of the query. */
import { html, nothing, render } from 'lit-html'
import { probabilitiesOf } from '../../model/probabilities.js'
import { storedTensor } from '../../../shared/stored_tensor.js'
import { heat } from '../../../plot/heat.js'
import { percent } from '../../../plot/caption.js'
import { bar } from '../parts/bar.js'
import { plainScale } from '../../../plot/scale.js'
import { showing } from '../parts/canvas.js'
import { className } from '../../../shared/names.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page } from '../../types.js'
import type { PageSource } from '../../../shared/types.js'
import type { Runner } from '../../../shared/model_runner.js'

export interface Lens {
  /** the largest difference from the model's logits, over the largest of these */
  apart: number
  /** which state of the last layer gives these logits */
  of: string
  /** of a state */
  logits: (state: ArrayLike<number>) => Float64Array
}

const epsilon = 1e-6 // of the norm; next to the variance of a state of any model it is nothing
const agrees = 1e-3

/**
 * The norm, then the classifier, as functions of a state.
 * @param tensors the norm's weight and bias, the classifier's
 */
export function headOf([{ data: scale }, { data: shift }, { data: weight }, { data: bias }]: {
  data: Float32Array
}[]): Lens['logits'] {
  const width = scale.length
  return (state) => {
    let sum = 0,
      squares = 0
    for (let i = 0; i < width; i++) sum += state[i]
    const mean = sum / width
    for (let i = 0; i < width; i++) squares += (state[i] - mean) ** 2
    const factor = 1 / Math.sqrt(squares / width + epsilon),
      normed = Float64Array.from(scale, (value, i) => (state[i] - mean) * factor * value + shift[i])
    return Float64Array.from(bias, (start, row) => {
      let logit = start
      for (let i = 0; i < width; i++) logit += weight[row * width + i] * normed[i]
      return logit
    })
  }
}

/** The mean of states from one on. */
const meanOf = (states: Float32Array[], from: number) =>
  Float64Array.from(
    states[0],
    (_, i) => states.slice(from).reduce((sum, state) => sum + state[i], 0) / (states.length - from)
  )

const roles = ['layernorm.weight', 'layernorm.bias', 'classifier.weight', 'classifier.bias']
const heads: WeakMap<object, Promise<Lens['logits'] | null>> = new WeakMap()

async function readHead(engine: Runner, source: PageSource) {
  const { found } = await engine.tensors(),
    tensors = []
  for (const role of roles) {
    const tensor = await storedTensor(source, found, role)
    if (!tensor) return null
    tensors.push(tensor)
  }
  return tensors[2].shape.at(-1) === tensors[0].data.length ? headOf(tensors) : null
}

/** The lens of the model, checked on the last run; null where the model has no such head, or its
 * classifier reads something else than one state after the norm. */
export async function lensOf({ engine, source }: Page): Promise<Lens | null> {
  const { result, shape, saved } = engine,
    states = engine.states(shape.layers - 1)
  if (saved || !states || !result.logits) return null
  if (!heads.has(source)) heads.set(source, readHead(engine, source))
  const logits = await heads.get(source)
  if (!logits) return null
  const own = Array.from(result.logits),
    most = Math.max(...own.map(Math.abs))
  for (const [of, state] of [
    [engine.nameOf(0), states[0]],
    [say('logitLens.meanPatches'), meanOf(states, shape.prefixTokens)],
    [say('logitLens.meanAllTokens'), meanOf(states, 0)]
  ] as [string, ArrayLike<number>][]) {
    const apart =
      logits(state).reduce((most, value, i) => Math.max(most, Math.abs(value - own[i])), 0) / most
    if (apart <= agrees) return { apart, of, logits }
  }
  return null
}

export const view: MakeView = (page, element) => {
  const { store, engine } = page

  async function draw(latest: () => boolean) {
    const lens = await lensOf(page)
    if (!latest()) return
    const { said, figures } = lens
      ? shownBy(lens)
      : { said: say('lens.needsKeptRunModel'), figures: nothing }
    render(html`${figures}<p class="hint" aria-live="polite">${said}</p>`, element)
  }

  function shownBy(lens: Lens) {
    const { layers, rows, columns, prefixTokens } = engine.shape,
      { layer } = store.get(),
      after = layer === 'pool' ? layers - 1 : layer,
      token = engine.token(page.query()),
      labels = engine.model.labels.map(className),
      shares = (state: ArrayLike<number>) => probabilitiesOf(engine, lens.logits(state)),
      own = probabilitiesOf(engine, engine.result.logits as ArrayLike<number>),
      best = own.indexOf(Math.max(...own)),
      statesAfter = (layer: number) => engine.states(layer) as Float32Array[],
      ofPatches = Float32Array.from(
        statesAfter(after).slice(prefixTokens),
        (state) => shares(state)[best]
      ),
      scale = plainScale('probability', 1)
    const line = (layer: number) => {
      const found = shares(statesAfter(layer)[token]),
        first = found.indexOf(Math.max(...found))
      return html`<tr><th scope="row">${say('lens.layer')} ${layer}</th><td>${labels[first]}</td><td>${percent(found[first])}</td></tr>`
    }
    const figures = html`<figure class="lens"><figcaption>${say('lens.eachPatchAfterLayer', { best: labels[best], after })}</figcaption><div class="raster"><canvas role="img" aria-label=${say('lens.probabilityClassEachPatch')} ${showing(heat({ weights: ofPatches, rows, columns, scale, table: page.table }))}></canvas></div>${bar(scale, page.table)}</figure>
      <table><caption>${say('lens.layerLayer', { token: engine.nameOf(token) })}</caption><thead><tr><th scope="col">${say('lens.after')}</th><th scope="col">${say('intervene.class')}</th><th scope="col">${say('lens.probability')}</th></tr></thead><tbody>${Array.from({ length: layers }, (_, i) => line(i))}</tbody></table>`
    const said = say('lens.patchesWouldSayMore', {
      alike: ofPatches.filter((share) => share > 0.5).length,
      ofPatches: ofPatches.length,
      best: labels[best],
      of: lens.of,
      apart:
        lens.apart === 0
          ? say('lens.exactly')
          : say('lens.largest', { apart: lens.apart.toExponential(0) })
    })
    return { said, figures }
  }
  return { keys: ['drawn'], draw }
}
