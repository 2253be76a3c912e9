/* The logit lens: what the model's head would say of any token after any layer (nostalgebraist 2020,
 * "interpreting GPT: the logit lens"; on patches of a ViT: Vilas et al. 2023), as session.explain
 * computes it. The view shows the score of each patch after the chosen layer, and of the query that
 * of the most probable classes, layer by layer. */
import { html, nothing, render } from 'lit-html'
import { divergingTable } from '../../../plot/diverging.js'
import { heat } from '../../../plot/heat.js'
import { signedScale } from '../../../plot/scale.js'
import { explainerOf, numbersOf } from '../../model/explainer.js'
import { Targets, labelOf, signed, topClasses, wordsOf } from '../explain/targets.js'
import { bar } from '../parts/bar.js'
import { showing } from '../parts/canvas.js'
import { say } from '../../../languages/say.js'
import type { Seen } from '../../model/explainer.js'
import type { Score } from '../explain/targets.js'
import type { MakeView, Page, View } from '../../types.js'

const diverging = divergingTable(),
  listed = 3 // classes

/** A score by every token after every layer, [layers + 1, tokens]. */
interface Lens {
  name: string
  scores: Float32Array
}

/** The lens of the score, then those of the most probable classes. null: another draw has begun. */
async function lensesOf(
  page: Page,
  { session, result }: Seen,
  score: Score,
  { latest, signal }: { latest: () => boolean; signal: AbortSignal }
) {
  const more = result.logits
      ? topClasses(page, result.logits, listed)
          .filter(({ index }) => String(index) !== score.options.target)
          .map(({ index }) => ({ name: labelOf(page, index), options: { target: index } }))
      : [],
    found: Lens[] = []
  let own = 0
  for (const { name, options } of [score, ...more.slice(0, listed - 1)]) {
    const lens = await session.explain({ methods: ['lens'], ...options, signal })
    if (!latest()) return null
    if (!found.length) own = numbersOf(lens, 'score')[0]
    found.push({ name, scores: numbersOf(lens, 'lens') })
  }
  return { lenses: found, score: own }
}

class LensView implements View {
  keys = ['drawn', 'ran']
  #page
  #element
  #left
  #redraw
  #targets
  #held = ''
  #lenses: Lens[] = []
  #score = 0
  #words = ''

  constructor(page: Page, element: HTMLElement, left: AbortSignal, redraw: () => void) {
    this.#page = page
    this.#element = element
    this.#left = left
    this.#redraw = redraw
    this.#targets = new Targets(page, left)
  }

  async #compute(latest: () => boolean) {
    const seen = await explainerOf(this.#page).own(),
      { logits } = seen.result,
      key = `${this.#page.store.get().ran} ${this.#targets.key(logits)}`
    if (key === this.#held) return
    const wanted = await this.#targets.score(logits),
      found = wanted && (await lensesOf(this.#page, seen, wanted, { latest, signal: this.#left }))
    if (wanted && !found) return
    this.#lenses = found?.lenses ?? []
    this.#score = found?.score ?? 0
    this.#words = found ? '' : say('targets.needsText')
    this.#held = key
  }

  #table(token: number) {
    const { layers, tokens } = this.#page.engine.shape,
      caption = say('lens.layerLayer', { token: this.#page.engine.nameOf(token) })
    const line = (level: number) =>
      html`<tr><th scope="row">${level ? `${say('lens.layer')} ${level - 1}` : say('lens.embeddings')}</th>${this.#lenses.map(({ scores }) => html`<td>${signed(scores[level * tokens + token])}</td>`)}</tr>`
    return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table><caption>${caption}</caption><thead><tr><th scope="col">${say('lens.after')}</th>${this.#lenses.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${Array.from({ length: layers + 1 }, (_, level) => line(level))}</tbody></table></div>`
  }

  #figures([first, second]: Lens[]) {
    const { engine, store } = this.#page,
      { layers, rows, columns, prefixTokens, tokens } = engine.shape,
      { layer } = store.get(),
      after = layer === 'pool' ? layers - 1 : layer,
      from = (after + 1) * tokens + prefixTokens,
      weights = first.scores.subarray(from, from + rows * columns),
      scale = signedScale(
        say('causes.score'),
        weights.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
      ),
      names = { best: first.name, second: second?.name },
      said = second
        ? say('lens.patchesWouldSayMore', {
            ...names,
            alike: weights.filter((x, i) => x > second.scores[from + i]).length,
            ofPatches: weights.length
          })
        : ''
    return html`<figure class="lens"><figcaption>${say('lens.eachPatchAfterLayer', { ...names, after })}</figcaption><div class="raster"><canvas role="img" aria-label=${say('lens.scoreEachPatch')} ${showing(heat({ weights, rows, columns, scale, table: diverging }))}></canvas></div>${bar(scale, diverging)}</figure>
      ${this.#table(engine.token(this.#page.query()))}
      <p class="said" aria-live="polite">${said} ${say('lens.scoreOfModel', { ...names, score: signed(this.#score) })}</p>`
  }

  #show(said: string) {
    render(
      html`<div class="row">${this.#targets.show(this.#page.engine.result.logits, this.#redraw)}</div>${this.#lenses.length ? this.#figures(this.#lenses) : nothing}<p class="hint" role="status">${said}</p><p class="hint">${say('lens.about')}</p>`,
      this.#element
    )
  }

  async draw(latest: () => boolean) {
    try {
      if (!this.#lenses.length) this.#show(say('explainer.running'))
      await this.#compute(latest)
      if (latest()) this.#show(this.#words)
    } catch (error) {
      if (!latest()) return
      this.#held = ''
      this.#lenses = []
      this.#show(wordsOf(error as Error))
    }
  }
}

export const view: MakeView = (page, element, { left, redraw }) =>
  new LensView(page, element, left, redraw)
