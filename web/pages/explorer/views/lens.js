/* The logit lens on patches (model/logit_lens.js): how probable the model's class would be if the
 * classifier read a patch after the layer on the stage, and what it would say of the query after
 * each layer. */
import { lensOf } from '../model/logit_lens.js'
import { heat } from '../../plot/heat.js'
import { percent } from '../../plot/caption.js'
import { drawSmallBar, smallBar } from './bar.js'
import { plainScale } from '../../plot/scale.js'
import { put } from './canvas.js'
import { className } from '../../shared/names.js'
import { say } from '../../languages/say.js'
/** @import {MakeView} from '../../../types/pages.js' */

/** @type {MakeView} */
export function view(page, element) {
  const { store, engine } = page
  element.innerHTML = `<figure class="lens"><figcaption></figcaption><div class="raster"><canvas role="img" aria-label="${say('lens.probabilityClassEachPatch')}"></canvas></div>${smallBar}</figure>
    <table><caption></caption><thead><tr><th scope="col">${say('lens.after')}</th><th scope="col">${say('intervene.class')}</th><th scope="col">${say('lens.probability')}</th></tr></thead><tbody></tbody></table><p class="hint" aria-live="polite"></p>`
  const figure = element.querySelector('figure'),
    table = element.querySelector('table'),
    said = element.querySelector('p')

  /** @param {() => boolean} latest */
  async function draw(latest) {
    const lens = await lensOf(page)
    if (!latest()) return
    figure.hidden = table.hidden = !lens
    if (!lens) return (said.textContent = say('lens.needsKeptRunModel'))
    const { layers, rows, columns, prefixTokens } = engine.shape,
      { layer } = store.get(),
      after = layer === 'pool' ? layers - 1 : layer,
      token = engine.token(page.query()),
      labels = engine.model.labels.map(className),
      shares = (/** @type {ArrayLike<number>} */ state) =>
        engine.explain.softmax(lens.logits(state)),
      own = engine.explain.softmax(/** @type {ArrayLike<number>} */ (engine.result.logits)),
      best = own.indexOf(Math.max(...own)),
      states = /** @type {Float32Array[]} */ (engine.states(after)),
      ofPatches = Float32Array.from(states.slice(prefixTokens), (state) => shares(state)[best])
    figure.querySelector('figcaption').textContent = say('lens.eachPatchAfterLayer', {
      best: labels[best],
      after
    })
    const scale = plainScale('probability', 1)
    put(
      figure.querySelector('canvas'),
      heat({ weights: ofPatches, rows, columns, scale, table: page.table })
    )
    drawSmallBar(figure, scale, page.table)
    table.querySelector('caption').textContent = say('lens.layerLayer', {
      token: engine.nameOf(token)
    })
    table.querySelector('tbody').replaceChildren(
      ...Array.from({ length: layers }, (_, i) => {
        const found = shares(/** @type {Float32Array[]} */ (engine.states(i))[token]),
          first = found.indexOf(Math.max(...found)),
          row = document.createElement('tr')
        row.innerHTML = `<th scope="row">${say('lens.layer')} ${i}</th><td></td><td>${percent(found[first])}</td>`
        row.querySelector('td').textContent = labels[first]
        return row
      })
    )
    const alike = ofPatches.filter((share) => share > 0.5).length
    said.textContent = say('lens.patchesWouldSayMore', {
      alike,
      ofPatches: ofPatches.length,
      best: labels[best],
      of: lens.of,
      apart:
        lens.apart === 0
          ? say('lens.exactly')
          : say('lens.largest', { apart: lens.apart.toExponential(0) })
    })
  }
  return { keys: ['drawn'], draw }
}
