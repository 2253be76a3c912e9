/* Features: what the states of patches hold. Their principal components as colours, layer by layer
 * (Oquab et al. 2023); how similar every patch, of this and of a second picture, is to the one under
 * the pointer; and which patches of both belong together (Amir et al. 2021). */
import { html, nothing, render, svg } from 'lit-html'
import { fixed } from '../../../plot/parts/numbers.js'
import { divergingTable } from '../../../plot/diverging.js'
import { newRaster } from '../../../plot/raster.js'
import { signedScale } from '../../../plot/scale.js'
import { createGrid, makeGrid } from '../../controls/button_grid.js'
import { explainerOf, numbersOf, statesAfter } from '../../model/explainer.js'
import { say } from '../../../languages/say.js'
import { drawing, showing } from '../parts/canvas.js'
import { drawRow } from '../parts/row_picture.js'
import { bar } from '../parts/bar.js'
import { canvasOfSeen, secondControls, secondPicture } from './second_picture.js'
import type { MakeView, Page, View } from '../../types.js'
import type { Of } from '../../../shared/types.js'
import type { Explainer, Seen } from '../../model/explainer.js'

const diverging = divergingTable(),
  cosines = signedScale('cosine', 1),
  drawn = 60, // lines
  gap = 0.06 // between both pictures, of one's width

/** Colours [N, 3] from 0 to 1 as a raster. */
export function colourRaster(rgb: ArrayLike<number>, rows: number, columns: number) {
  const raster = newRaster(columns, rows)
  for (let i = 0; i < rows * columns; i++) {
    for (let c = 0; c < 3; c++) raster.data[4 * i + c] = 255 * rgb[3 * i + c]
    raster.data[4 * i + 3] = 255
  }
  return raster
}

/** Pairs of patches that belong together, the most similar first. */
export function pairsOf(match: ArrayLike<number>, similarity: ArrayLike<number>) {
  const others = similarity.length / match.length
  return Array.from(match, (to, from) => ({ from, to, cosine: similarity[from * others + to] }))
    .filter(({ to }) => to >= 0)
    .sort((a, b) => b.cosine - a.cosine)
}

type Pair = ReturnType<typeof pairsOf>[number]
interface Both {
  key: string
  own: Seen
  other: Seen
  pairs: Pair[]
}

class Features implements View {
  keys = ['drawn', 'ran', 'strength']
  #page
  #element
  #left
  #redraw
  #explainer: Explainer
  #cells = makeGrid(say('features.patches'))
  #grid
  #colours: Float32Array[] = [] // of each layer
  #colouring = -1 // the run that they are of
  #both: Both | null = null
  #lines = true
  #size = 0 // tokens of the grid that is named
  #words = ''

  constructor(page: Page, element: HTMLElement, left: AbortSignal, redraw: () => void) {
    const { store, engine } = page
    this.#page = page
    this.#element = element
    this.#left = left
    this.#redraw = redraw
    this.#explainer = explainerOf(page)
    this.#grid = createGrid(this.#cells, {
      name: (row, column) => engine.nameOf(engine.token([row, column])),
      onPick: (row, column) => store.set({ query: [row, column], hover: null }),
      onHover: (row, column) => store.set({ hover: row === null ? null : [row, column as number] })
    })
  }

  get #layer() {
    const { layer } = this.#page.store.get()
    return layer === 'pool' ? this.#page.engine.shape.layers - 1 : layer
  }

  /** The components of all layers, each shown once it is there. */
  async #colour(latest: () => boolean) {
    const own = await this.#explainer.own(),
      { ran } = this.#page.store.get()
    if (this.#colouring === ran || !latest()) return
    this.#colouring = ran
    this.#colours = []
    try {
      for (let layer = 0; layer < this.#page.engine.shape.layers; layer++) {
        const found = await own.session.explain({ methods: ['pca'], layer, signal: this.#left })
        if (this.#colouring !== ran) return
        this.#colours[layer] = numbersOf(found, 'pca.rgb')
        this.#show()
      }
    } catch (error) {
      if (this.#colouring === ran) this.#colouring = -1
      if (!this.#left.aborted) throw error
    }
  }

  /** Both pictures after the chosen layer. */
  async #compare(latest: () => boolean) {
    const layer = this.#layer,
      picture = await secondPicture(this.#page),
      key = `${this.#page.store.get().ran} ${layer}`
    if (this.#both?.key === key && this.#both.other.picture === picture) return
    const own = await this.#explainer.own(),
      other = await this.#explainer.see('other', picture),
      found = await own.session.explain({
        methods: ['similarity'],
        layer,
        source: other.session,
        signal: this.#left
      })
    if (!latest()) return
    const pairs = pairsOf(numbersOf(found, 'match'), numbersOf(found, 'similarity.source'))
    this.#both = { key, own, other, pairs }
  }

  #nameOf(patch: number) {
    const { engine } = this.#page,
      { columns } = engine.shape
    return engine.nameOf(engine.token([Math.floor(patch / columns), patch % columns]))
  }

  /** The patch that others are compared with: the one under the pointer, else the query's, else the
   * middle. */
  get #patch() {
    const { rows, columns } = this.#page.engine.shape,
      query = this.#page.query()
    return Array.isArray(query)
      ? query[0] * columns + query[1]
      : (rows >> 1) * columns + (columns >> 1)
  }

  /** Why it is the middle, where the query is no patch. */
  #noPlace() {
    const { engine } = this.#page,
      query = this.#page.query()
    return Array.isArray(query)
      ? nothing
      : html`<p class="hint">${say('features.noPlace', { query: engine.nameOf(engine.token(query)) })}</p>`
  }

  /** Cosines of the patches of a picture with one of the stage's. */
  #similarity(own: Seen, seen: Seen, patch: number) {
    const { engine } = this.#page,
      { shape } = engine,
      states = statesAfter(own, this.#layer, shape),
      width = states.length / (shape.rows * shape.columns)
    return engine.explain.cosines(
      states.subarray(patch * width, (patch + 1) * width),
      statesAfter(seen, this.#layer, shape)
    )
  }

  #strip() {
    const { engine, store } = this.#page,
      { rows, columns } = engine.shape
    return html`<div class="layers" role="group" aria-label=${say('features.layers')}>${this.#colours.map(
      (rgb, layer) =>
        html`<button type="button" data-layer=${layer} aria-pressed=${layer === this.#layer} aria-label=${say('features.afterLayer', { layer })} @click=${() => store.set({ layer })}><canvas aria-hidden="true" ${showing(colourRaster(rgb, rows, columns))}></canvas>${layer}</button>`
    )}</div>`
  }

  #line({ from, to }: Pair, bold: boolean) {
    const { columns } = this.#page.engine.shape,
      [x, y] = [columns * (1 + gap) + (to % columns), Math.floor(to / columns)],
      rgb = this.#colours[this.#layer]?.subarray(3 * from, 3 * from + 3),
      stroke = rgb?.some((part) => part > 0)
        ? `rgb(${[...rgb].map((part) => Math.round(255 * part))})`
        : '#888',
      d = `M${(from % columns) + 0.5} ${Math.floor(from / columns) + 0.5}L${x + 0.5} ${y + 0.5}`
    return svg`<path class="under" d=${d} /><path class=${bold ? 'bold' : ''} stroke=${stroke} d=${d} />${bold ? svg`<rect x=${x} y=${y} width="1" height="1" />` : ''}`
  }

  #map(seen: Seen, weights: Float32Array, inside: unknown = nothing) {
    const { rows, columns } = this.#page.engine.shape,
      { strength } = this.#page.store.get(),
      row = { weights, rows, columns, scale: cosines, table: diverging, strength },
      draw = drawing((canvas) => drawRow(canvas, canvasOfSeen(this.#page, seen), row))
    return html`<div class="raster"><canvas role="img" aria-label=${say('features.similarityIn', { name: seen.picture.name })} ${draw}></canvas>${inside}</div>`
  }

  #matched({ own, other, pairs }: Both, patch: number, there: Float32Array) {
    const { rows, columns } = this.#page.engine.shape,
      mine = pairs.find(({ from }) => from === patch)
    return html`<div class="matched" .style=${`--gap: ${gap}fr`}>${this.#map(own, this.#similarity(own, own, patch), this.#cells)}${this.#map(other, there)}
      <svg aria-hidden="true" preserveAspectRatio="none" viewBox=${`0 0 ${columns * (2 + gap)} ${rows}`}>${this.#lines ? pairs.slice(0, drawn).map((pair) => this.#line(pair, false)) : nothing}${mine ? this.#line(mine, true) : nothing}</svg></div>`
  }

  #choice(count: number) {
    const choose = ({ target }: Of<HTMLInputElement>) => {
      this.#lines = target.checked
      this.#show()
    }
    return html`<div class="row"><label><input type="checkbox" name="lines" .checked=${this.#lines} @change=${choose}> ${say('features.lines', { count })}</label></div>`
  }

  #pictures(both: Both) {
    const { own, other, pairs } = both,
      { rows, columns, tokens } = this.#page.engine.shape,
      patch = this.#patch,
      there = this.#similarity(own, other, patch),
      best = there.indexOf(there.reduce((most, value) => Math.max(most, value), -2))
    this.#grid.resize(rows, columns)
    this.#grid.select(Math.floor(patch / columns), patch % columns)
    if (this.#size !== tokens) this.#grid.name()
    this.#size = tokens
    const mutual = pairs.some(({ from }) => from === patch),
      said = say(mutual ? 'features.hasMatch' : 'features.hasNoMatch', {
        patch: this.#nameOf(patch),
        there: this.#nameOf(best),
        cosine: fixed(there[best], 3),
        pairs: pairs.length,
        patches: rows * columns
      }),
      of = {
        patch: this.#nameOf(patch),
        own: own.picture.name,
        other: other.picture.name,
        layer: this.#layer
      }
    return html`<figure><figcaption><b>${say('features.similarity')}</b> ${say('features.ofBoth', of)}</figcaption>${this.#noPlace()}${this.#matched(both, patch, there)}${bar(cosines, diverging)}</figure>${this.#choice(Math.min(drawn, pairs.length))}<p class="said" aria-live="polite">${said}</p>`
  }

  #show() {
    render(
      html`<figure><figcaption><b>${say('features.components')}</b> ${say('features.componentsSay')}</figcaption>${this.#strip()}</figure>
      ${secondControls(this.#page, this.#redraw)}
      ${this.#both ? this.#pictures(this.#both) : nothing}
      <p class="hint" role="status">${this.#words}</p><p class="hint">${say('features.about')}</p>`,
      this.#element
    )
  }

  async draw(latest: () => boolean) {
    try {
      if (!this.#both) {
        this.#words = say('explainer.running')
        this.#show()
      }
      await this.#compare(latest)
      if (!latest()) return
      this.#words = ''
      this.#show()
      await this.#colour(latest)
    } catch (error) {
      if (!latest()) return
      this.#words = (error as Error).message
      this.#show()
    }
  }
}

export const view: MakeView = (page, element, { left, redraw }) =>
  new Features(page, element, left, redraw)
