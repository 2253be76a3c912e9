/* The logit lens on patches (model/logit_lens.js): how probable the model's class would be if the
 * classifier read a patch after the layer on the stage, and what it would say of the query after
 * each layer. */
import { lensOf } from '../model/logit_lens.js'
import { heat } from '../../plot/heat.js'
import { percent } from '../../plot/caption.js'
import { drawSmallBar, smallBar } from './bar.js'
import { plainScale } from '../../plot/scale.js'
import { put } from './canvas.js'
/** @import {MakeView} from '../../../types/pages.js' */

/** @type {MakeView} */
export function view(page, element) {
  const { store, engine } = page
  element.innerHTML = `<figure class="lens"><figcaption></figcaption><div class="raster"><canvas role="img" aria-label="Probability of the class for each patch"></canvas></div>${smallBar}</figure>
    <table><caption></caption><thead><tr><th scope="col">after</th><th scope="col">class</th><th scope="col">probability</th></tr></thead><tbody></tbody></table><p class="hint" aria-live="polite"></p>`
  const figure = element.querySelector('figure'),
    table = element.querySelector('table'),
    said = element.querySelector('p')

  /** @param {() => boolean} latest */
  async function draw(latest) {
    const lens = await lensOf(page)
    if (!latest()) return
    figure.hidden = table.hidden = !lens
    if (!lens)
      return (said.textContent =
        'This needs a kept run of a model in float whose classifier reads one state after the last norm.')
    const { layers, rows, columns, prefixTokens } = engine.shape,
      { layer } = store.get(),
      after = layer === 'pool' ? layers - 1 : layer,
      token = engine.token(page.query()),
      labels = engine.model.labels,
      shares = (/** @type {ArrayLike<number>} */ state) =>
        engine.explain.softmax(lens.logits(state)),
      own = engine.explain.softmax(/** @type {ArrayLike<number>} */ (engine.result.logits)),
      best = own.indexOf(Math.max(...own)),
      states = /** @type {Float32Array[]} */ (engine.states(after)),
      ofPatches = Float32Array.from(states.slice(prefixTokens), (state) => shares(state)[best])
    figure.querySelector('figcaption').textContent =
      `“${labels[best]}” by each patch after layer ${after}`
    const scale = plainScale('probability', 1)
    put(
      figure.querySelector('canvas'),
      heat({ weights: ofPatches, rows, columns, scale, table: page.table })
    )
    drawSmallBar(figure, scale, page.table)
    table.querySelector('caption').textContent = `${engine.nameOf(token)}, layer by layer`
    table.querySelector('tbody').replaceChildren(
      ...Array.from({ length: layers }, (_, i) => {
        const found = shares(/** @type {Float32Array[]} */ (engine.states(i))[token]),
          first = found.indexOf(Math.max(...found)),
          row = document.createElement('tr')
        row.innerHTML = `<th scope="row">layer ${i}</th><td></td><td>${percent(found[first])}</td>`
        row.querySelector('td').textContent = labels[first]
        return row
      })
    )
    const alike = ofPatches.filter((share) => share > 0.5).length
    said.textContent = `${alike} of ${ofPatches.length} patches would say “${labels[best]}” with more than 50 %. The classifier was trained on ${lens.of} after the last layer: there the lens gives the model’s logits, ${lens.apart === 0 ? 'exactly' : `to ${lens.apart.toExponential(0)} of the largest`}. On other states it is a reading, not an answer.`
  }
  return { keys: ['drawn'], draw }
}
