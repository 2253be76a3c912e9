/* Texts beside the picture, for models that have a text tower too (Radford et al. 2021; Zhai et al.
 * 2023): the probability of each as the model defines it; of the chosen one how similar each patch
 * is to it, which is no attention; and the text's own attention, tokens by tokens. The tower is
 * loaded while this view is shown. */
import { html, nothing, render } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { pictureNow } from '../../state/place.js'
import { isChanged } from '../../../shared/changes.js'
import { percent } from '../../../plot/caption.js'
import { divergingTable } from '../../../plot/diverging.js'
import { heat } from '../../../plot/heat.js'
import { largestOf } from '../../../plot/raster.js'
import { plainScale, signedScale } from '../../../plot/scale.js'
import { drawRow } from '../parts/row_picture.js'
import { bar } from '../parts/bar.js'
import { drawing, showing } from '../parts/canvas.js'
import { say } from '../../../languages/say.js'
import type { ComparedTexts, ImageEmbedding, Texts } from 'heed/text'
import type { MakeView, Page } from '../../types.js'
import type { Of, PageSource } from '../../../shared/types.js'

const diverging = divergingTable(),
  most = 32, // texts
  arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
let typed = 'a photo of a cat\na photo of a dog' // kept while another view is shown

/** The text tower of the page's model, and what it has made of the picture. */
class Tower {
  page
  #opened: { source: PageSource; texts: Promise<Texts> } | null = null
  #seen: { ran: number; image: ImageEmbedding } | null = null

  constructor(page: Page) {
    this.page = page
  }

  close() {
    this.#opened?.texts.then(
      (texts) => texts.close(),
      () => {}
    )
    this.#opened = this.#seen = null
  }

  open(): Promise<Texts> {
    const { source } = this.page
    if (this.#opened?.source !== source) {
      this.close()
      this.#opened = {
        source,
        texts: import('../../../heed/text.js').then(({ loadTexts }) => loadTexts(source))
      }
    }
    return (this.#opened as { texts: Promise<Texts> }).texts
  }

  async compare(lines: string[]): Promise<ComparedTexts> {
    const { engine, picture, store } = this.page,
      { ran } = store.get(),
      [height, width] = engine.size ?? [],
      texts = await this.open()
    if (this.#seen?.ran !== ran)
      this.#seen = {
        ran,
        image: await texts.embedImage(engine.opened, picture.source, {
          fit: engine.result.fit,
          height,
          width
        })
      }
    return texts.compare(this.#seen.image, lines)
  }
}

/** Why there is nothing to show, and what to open instead. */
const wordsOf = ({ message }: Error) =>
  /no text tower|embedding of an image/.test(message) ? say('texts.modelNoTextTower') : message

const numbersTo = (count: number) => Array.from({ length: count }, (_, i) => String(i))

/** The results of some texts, one of which is chosen. */
class Results {
  page
  redraw
  lines
  found
  info
  #chosen = 0
  #layer
  #head = 'mean' // or its number
  #place = [0, 0] // query and key of the text's own attention

  constructor(
    page: Page,
    redraw: () => void,
    { lines, found, info }: { lines: string[]; found: ComparedTexts; info: Texts['info'] }
  ) {
    this.page = page
    this.redraw = redraw
    this.lines = lines
    this.found = found
    this.info = info
    this.#layer = info.layers - 1
  }

  /** The choices before, as far as these have them. */
  like(before: Results | null) {
    if (!before) return this
    this.#chosen = Math.min(before.#chosen, this.lines.length - 1)
    this.#place = before.#place
    if (before.info.layers === this.info.layers) this.#layer = before.#layer
    if (before.info.heads === this.info.heads) this.#head = before.#head
    return this
  }

  words() {
    const { whole, ids } = this.found.texts[this.#chosen],
      { changes } = this.page.engine.result
    return [
      this.info.probability === 'softmax'
        ? say('texts.probabilitiesSoftmaxOverThese')
        : say('texts.probabilitiesSigmoidEachText'),
      whole > ids.length ? say('texts.textTruncatedTokens', { ids: ids.length, whole }) : '',
      this.found.similarity ? '' : say('texts.modelDoesNotProject'),
      changes && isChanged(changes) ? say('texts.theyModelWithoutChanges') : ''
    ].join(' ')
  }

  #list() {
    const { probabilities, cosines } = this.found
    const choose = (index: number) => {
      this.#chosen = index
      this.redraw()
    }
    return this.lines.map(
      (line, i) =>
        html`<li><button type="button" .style=${`--share: ${100 * probabilities[i]}%`} aria-pressed=${i === this.#chosen} @click=${() => choose(i)}><span>${line}</span><b>${percent(probabilities[i])}</b><small>${say('texts.cosine', { i: fixed(cosines[i], 3).replace('-', '−') })}</small></button></li>`
    )
  }

  #similarity() {
    const { similarity: maps, rows, columns } = this.found,
      weights = maps?.[this.#chosen]
    if (!weights) return html`<figure hidden></figure>`
    const end = weights.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
      scale = signedScale('cosine', end),
      { strength } = this.page.store.get(),
      map = { weights, rows, columns, scale, table: diverging, strength }
    return html`<figure><figcaption><b>${say('texts.similarityText')}</b><br><span>${say('texts.cosineEachPatchNot')}</span></figcaption><div class="raster"><canvas role="img" aria-label=${say('texts.similarityEachPatchText')} ${drawing((canvas) => drawRow(canvas, pictureNow(this.page), map))}></canvas></div>${bar(scale, diverging)}</figure>`
  }

  #look(place: number[]) {
    const { length } = this.found.texts[this.#chosen].tokens
    this.#place = place.map((at) => Math.min(length - 1, Math.max(0, at)))
    this.redraw()
  }
  #point({ clientX, clientY, currentTarget }: PointerEvent) {
    const { length } = this.found.texts[this.#chosen].tokens,
      box = (currentTarget as HTMLElement).querySelector('canvas').getBoundingClientRect()
    this.#look([
      Math.floor(((clientY - box.top) / box.height) * length),
      Math.floor(((clientX - box.left) / box.width) * length)
    ])
  }
  #step(event: KeyboardEvent) {
    const step = arrows[event.key as keyof typeof arrows]
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    this.#look(this.#place.map((at, i) => at + step[i]))
  }

  /** The text's own attention, tokens by tokens, with a crosshair on a pair. */
  #attention() {
    const { tokens, attention } = this.found.texts[this.#chosen],
      { engine, table } = this.page,
      { length } = tokens,
      layer = attention[this.#layer],
      heads = Array.from({ length: layer.length / length ** 2 }, (_, i) =>
        layer.slice(i * length ** 2, (i + 1) * length ** 2)
      ),
      weights = this.#head === 'mean' ? engine.explain.headMean(heads) : heads[Number(this.#head)],
      scale = plainScale(say('texts.attentionWeight'), largestOf(weights)),
      [query, key] = this.#place.map((at) => Math.min(length - 1, at)),
      cross = `M0 ${query + 0.5}H${length}M${key + 0.5} 0V${length}`
    const map = html`<figure><figcaption><b>${say('texts.textsOwnAttention')}</b><br><span>${say('texts.rowFromTokenColumn')}</span></figcaption>
    <div class="tokens"><ul aria-hidden="true">${tokens.map((token) => html`<li title=${token}>${token}</li>`)}</ul><div class="raster matrix" role="application" tabindex="0" aria-label=${say('texts.textsAttentionArrowsMove')} aria-describedby="text-said" @pointermove=${(event: PointerEvent) => this.#point(event)} @keydown=${(event: KeyboardEvent) => this.#step(event)}><canvas aria-hidden="true" ${showing(heat({ weights, rows: length, columns: length, scale, table }))}></canvas><svg aria-hidden="true" preserveAspectRatio="none" viewBox=${`0 0 ${length} ${length}`}><path class="under" d=${cross} /><path class="over" d=${cross} /></svg></div></div>${bar(scale, table)}</figure>`
    const said = say('texts.from', {
      query: tokens[query],
      key: tokens[key],
      weight: percent(weights[query * length + key])
    })
    return { map, said }
  }

  show() {
    const { map, said } = this.#attention()
    const menu = (
      name: string,
      text: string,
      values: string[],
      chosen: string,
      choose: (value: string) => void
    ) =>
      html`<label>${text} <select name=${name} @change=${({ target }: Of<HTMLSelectElement>) => {
        choose(target.value)
        this.redraw()
      }}>${values.map((value) => html`<option value=${value} .selected=${live(value === chosen)}>${value}</option>`)}</select></label>`
    return html`<ol class="texts" aria-label=${say('texts.textsTheirProbabilities')}>${this.#list()}</ol>
    <div class="pair">${this.#similarity()}
    ${map}</div>
    <p class="hint" id="text-said" aria-live="polite">${said}</p>
    <div class="fields">${menu(
      'layer',
      say('texts.layerText'),
      numbersTo(this.info.layers),
      String(this.#layer),
      (value) => {
        this.#layer = Number(value)
      }
    )}${menu(
      'head',
      say('texts.headText'),
      ['mean', ...numbersTo(this.info.heads)],
      this.#head,
      (value) => {
        this.#head = value
      }
    )}</div>`
  }
}

const linesOf = () =>
  typed
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, most)

export const view: MakeView = (page, element, { left, redraw }) => {
  const tower = new Tower(page)
  let held = '', // of which run and texts the results are
    results: Results | null = null
  left.addEventListener('abort', () => tower.close())

  function submit(event: Event) {
    event.preventDefault()
    redraw()
  }
  const show = (words: string, shown: Results | null) =>
    render(
      html`<form class="texts" @submit=${submit}><label>${say('texts.textsOnePerLine')} <textarea name="texts" rows="3" spellcheck="false" .value=${live(typed)} @input=${({
        target
      }: Of<HTMLTextAreaElement>) => {
        typed = target.value
      }}></textarea></label><button ?disabled=${page.engine.only}>${say('texts.compare')}</button></form>
      <p class="hint" role="status">${words}</p>
      <div ?hidden=${!shown}>${shown?.show() ?? nothing}</div>`,
      element
    )
  const showResults = () => results && show(results.words(), results)

  async function compare(latest: () => boolean) {
    const lines = linesOf(),
      key = JSON.stringify([page.store.get().ran, lines])
    if (key === held) return
    if (page.engine.only) throw new Error(say('texts.noTextTower'))
    if (!lines.length) throw new Error(say('texts.typeText'))
    show(say('texts.runningTextTower'), results)
    const found = await tower.compare(lines),
      { info } = await tower.open()
    if (!latest()) return
    results = new Results(page, showResults, { lines, found, info }).like(results)
    held = key
  }

  async function draw(latest: () => boolean) {
    try {
      await compare(latest)
      if (latest()) showResults()
    } catch (error) {
      if (!latest()) return
      held = ''
      show(wordsOf(error as Error), null)
    }
  }
  return { keys: ['ran', 'coloured', 'strength'], draw }
}
