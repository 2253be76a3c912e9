/* Causes: the ledger of a score (direct logit attribution; Elhage et al. 2021, Gandelsman et al.
 * 2024): what each head, MLP and layer's biases add to it, as lanes, and from which patches heads
 * took it, as maps. */
import { html, nothing, render } from 'lit-html'
import { divergingTable } from '../../../plot/diverging.js'
import { signedScale } from '../../../plot/scale.js'
import { pictureNow } from '../../state/place.js'
import { isChanged } from '../../../shared/changes.js'
import { explainerOf, numbersOf } from '../../model/explainer.js'
import { say } from '../../../languages/say.js'
import { drawing } from '../parts/canvas.js'
import { drawRow } from '../parts/row_picture.js'
import { bar } from '../parts/bar.js'
import { Lanes } from './lanes.js'
import { signed, Targets, wordsOf } from './targets.js'
import type { Explanation } from 'heed'
import type { MakeView, Page, View } from '../../types.js'

const diverging = divergingTable()

/** The sum over tokens of each head, [layers * heads]. */
export function headSums(heads: Float32Array, count: number) {
  const tokens = heads.length / count
  return Array.from({ length: count }, (_, i) => {
    let sum = 0
    for (let t = 0; t < tokens; t++) sum += heads[i * tokens + t]
    return sum
  })
}

/** What some heads add by the token that they read, [tokens]. */
export function byToken(heads: Float32Array, tokens: number, which: number[]) {
  const sums = new Float64Array(tokens)
  for (const i of which) for (let t = 0; t < tokens; t++) sums[t] += heads[i * tokens + t]
  return Float32Array.from(sums)
}

const total = (numbers: ArrayLike<number>) => Array.from(numbers).reduce((sum, x) => sum + x, 0)

/** A ledger with its sums. */
class Ledger {
  heads
  sums: number[]
  mlps
  bias
  parts
  score

  constructor(found: Explanation, layers: number, heads: number) {
    this.heads = numbersOf(found, 'ledger.heads')
    this.sums = headSums(this.heads, layers * heads)
    this.mlps = numbersOf(found, 'ledger.mlps')
    this.bias = numbersOf(found, 'ledger.bias')
    this.score = numbersOf(found, 'score')[0]
    this.parts = {
      heads: total(this.sums),
      mlps: total(this.mlps),
      embeddings: total(numbersOf(found, 'ledger.embeddings')),
      biases: total(this.bias),
      pool: numbersOf(found, 'ledger.pool')?.[0] ?? 0
    }
  }

  /** [layers, heads + 2]: heads, MLP, biases. */
  lanes(layers: number, heads: number) {
    return Array.from({ length: layers }, (_, layer) => [
      ...this.sums.slice(layer * heads, (layer + 1) * heads),
      this.mlps[layer],
      this.bias[layer]
    ]).flat()
  }
}

class Causes implements View {
  keys = ['drawn', 'ran']
  #page
  #element
  #left
  #redraw
  #targets
  #lanes
  #held = '' // of which run and score the ledger is
  #ledger: Ledger | null = null
  #name = ''
  #words = ''

  constructor(page: Page, element: HTMLElement, left: AbortSignal, redraw: () => void) {
    const { store, engine } = page
    this.#page = page
    this.#element = element
    this.#left = left
    this.#redraw = redraw
    this.#targets = new Targets(page, left)
    this.#lanes = new Lanes({
      label: say('causes.contributions'),
      name: (layer, column) => this.#cellName(layer, column),
      onPick: (layer, column) =>
        store.set({ layer, head: column < engine.shape.heads ? column : 'mean' })
    })
  }

  #cellName(layer: number, column: number) {
    const { layers, heads } = this.#page.engine.shape,
      value = this.#ledger?.lanes(layers, heads)[layer * (heads + 2) + column] ?? 0,
      part =
        column < heads
          ? say('causes.head', { head: column })
          : say(column === heads ? 'causes.mlp' : 'causes.biases')
    return say('causes.cell', { layer, part, value: signed(value) })
  }

  async #compute(latest: () => boolean) {
    const { store, engine } = this.#page,
      { layers, heads } = engine.shape,
      seen = await explainerOf(this.#page).own(),
      key = `${store.get().ran} ${this.#targets.key(seen.result.logits)}`
    if (key === this.#held) return
    const score = await this.#targets.score(seen.result.logits)
    if (!score) {
      this.#ledger = null
      this.#words = say('targets.needsText')
      return
    }
    const found = await seen.session.explain({
      methods: ['ledger'],
      ...score.options,
      signal: this.#left
    })
    if (!latest()) return
    this.#ledger = new Ledger(found, layers, heads)
    this.#name = score.name
    this.#words = ''
    this.#held = key
  }

  #map(title: string, weights: Float32Array) {
    const { engine, store } = this.#page,
      { rows, columns, prefixTokens } = engine.shape,
      own = weights.subarray(prefixTokens),
      scale = signedScale(
        say('causes.score'),
        own.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
      ),
      { strength } = store.get(),
      row = { weights: own, rows, columns, scale, table: diverging, strength }
    return html`<figure><figcaption><b>${title}</b></figcaption><div class="raster"><canvas role="img" aria-label=${say('causes.mapOf', { title })} ${drawing((canvas) => drawRow(canvas, pictureNow(this.#page), row))}></canvas></div>${bar(scale, diverging)}</figure>`
  }

  #maps({ heads: all, sums }: Ledger, from: Float32Array, layer: number) {
    const { heads, tokens } = this.#page.engine.shape,
      { head } = this.#page.store.get(),
      which = sums.flatMap((_, i) =>
        Math.floor(i / heads) === layer && (head === 'mean' || i % heads === head) ? [i] : []
      ),
      title =
        head === 'mean'
          ? say('causes.headsOfLayer', { layer })
          : say('causes.oneHead', { head: `${layer}.${head}` })
    return html`<div class="pair">${this.#map(say('causes.allHeads'), from)}${this.#map(title, byToken(all, tokens, which))}</div>`
  }

  #sentences({ parts, score, sums }: Ledger, inPatches: number) {
    const { heads } = this.#page.engine.shape,
      best = sums.indexOf(Math.max(...sums))
    const sum = say('causes.sum', {
      name: this.#name,
      score: signed(score),
      heads: signed(parts.heads),
      mlps: signed(parts.mlps),
      embeddings: signed(parts.embeddings),
      biases: signed(parts.biases + parts.pool)
    })
    const most = say('causes.most', {
      head: `${Math.floor(best / heads)}.${best % heads}`,
      value: signed(sums[best]),
      patches: signed(inPatches),
      others: signed(parts.heads - inPatches)
    })
    return `${sum} ${most}`
  }

  #figures(ledger: Ledger) {
    const { engine, store } = this.#page,
      { layers, heads, tokens, prefixTokens } = engine.shape,
      { layer: chosen, head } = store.get(),
      layer = chosen === 'pool' ? layers - 1 : chosen,
      values = ledger.lanes(layers, heads),
      end = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
      names = [
        ...Array.from({ length: heads }, (_, i) => String(i)),
        say('causes.mlp'),
        say('causes.biasesShort')
      ],
      from = byToken(ledger.heads, tokens, [...ledger.sums.keys()]),
      cell: [number, number] | null = head === 'mean' ? null : [layer, head]
    return html`<p class="said" aria-live="polite">${this.#sentences(ledger, total(from.subarray(prefixTokens)))}</p>
      <div class="causes"><figure><figcaption><b>${say('causes.lanes')}</b> ${say('causes.lanesSay', { end: signed(end) })}</figcaption>${this.#lanes.show(values, layers, names, { end, chosen: cell })}</figure>${this.#maps(ledger, from, layer)}</div>`
  }

  #show(said: string) {
    const { result } = this.#page.engine,
      changed =
        result.changes && isChanged(result.changes) ? ` ${say('explainer.withoutChanges')}` : ''
    render(
      html`<div class="row">${this.#targets.show(result.logits, this.#redraw)}</div>
      ${this.#ledger ? this.#figures(this.#ledger) : nothing}<p class="hint" role="status">${said}</p><p class="hint">${say('causes.about')}${changed}</p>`,
      this.#element
    )
  }

  async draw(latest: () => boolean) {
    try {
      if (!this.#ledger) this.#show(say('explainer.running'))
      await this.#compute(latest)
      if (latest()) this.#show(this.#words)
    } catch (error) {
      if (!latest()) return
      this.#held = ''
      this.#ledger = null
      this.#show(wordsOf(error as Error))
    }
  }
}

export const view: MakeView = (page, element, { left, redraw }) =>
  new Causes(page, element, left, redraw)
