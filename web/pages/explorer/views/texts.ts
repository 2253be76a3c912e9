/* Texts beside the picture, for models that have a text tower too (Radford et al. 2021; Zhai et al.
 * 2023): the probability of each as the model defines it; of the chosen one how similar each patch
 * is to it, which is no attention; and the text's own attention, tokens by tokens. The tower is
 * loaded while this view is shown. */
import { fixed } from '../../plot/parts/numbers.js'
import { pictureNow } from '../state/place.js'
import { isChanged } from '../state/changes.js'
import { percent } from '../../plot/caption.js'
import { divergingTable } from '../../plot/diverging.js'
import { heat } from '../../plot/heat.js'
import { largestOf } from '../../plot/raster.js'
import { plainScale, signedScale } from '../../plot/scale.js'
import { drawRow } from './row_picture.js'
import { drawSmallBar, smallBar } from './bar.js'
import { put } from './canvas.js'
import { say } from '../../languages/say.js'
import type { ComparedTexts, ImageEmbedding, Texts } from 'heed/text'
import type { Field, MakeView, Page, PageSource } from '../../../types/pages.js'

const diverging = divergingTable(),
  most = 32, // texts
  arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
let typed = 'a photo of a cat\na photo of a dog' // kept while another view is shown

const markup = `<form class="texts"><label>${say('texts.textsOnePerLine')} <textarea name="texts" rows="3" spellcheck="false"></textarea></label><button>${say('texts.compare')}</button></form>
    <p class="hint" role="status"></p>
    <div hidden><ol class="texts" aria-label="${say('texts.textsTheirProbabilities')}"></ol>
    <div class="pair"><figure><figcaption><b>${say('texts.similarityText')}</b><br><span>${say('texts.cosineEachPatchNot')}</span></figcaption><div class="raster"><canvas role="img" aria-label="${say('texts.similarityEachPatchText')}"></canvas></div>${smallBar}</figure>
    <figure><figcaption><b>${say('texts.textsOwnAttention')}</b><br><span>${say('texts.rowFromTokenColumn')}</span></figcaption>
    <div class="tokens"><ul aria-hidden="true"></ul><div class="raster matrix" role="application" tabindex="0" aria-label="${say('texts.textsAttentionArrowsMove')}" aria-describedby="text-said"><canvas aria-hidden="true"></canvas><svg aria-hidden="true" preserveAspectRatio="none"><path class="under"/><path class="over"/></svg></div></div>${smallBar}</figure></div>
    <p class="hint" id="text-said" aria-live="polite"></p>
    <div class="fields"><label>${say('texts.layerText')} <select name="layer"></select></label><label>${say('texts.headText')} <select name="head"></select></label></div></div>`

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
        texts: import('../../heed/text.js').then(({ loadTexts }) => loadTexts(source))
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

/** A list of buttons, one for each text. */
function listTexts(
  list: HTMLElement,
  lines: string[],
  { probabilities, cosines }: ComparedTexts,
  choose: (index: number) => void
) {
  list.replaceChildren(
    ...lines.map((line, i) => {
      const item = document.createElement('li'),
        button = Object.assign(document.createElement('button'), { type: 'button' }),
        part = (tag: 'span' | 'b' | 'small', text: string) =>
          Object.assign(document.createElement(tag), { textContent: text })
      button.append(
        part('span', line),
        part('b', percent(probabilities[i])),
        part('small', say('texts.cosine', { i: fixed(cosines[i], 3) }))
      )
      button.style.setProperty('--share', `${100 * probabilities[i]}%`)
      button.addEventListener('click', () => choose(i))
      item.append(button)
      return item
    })
  )
}

/** Fills a menu once: numbers from 0, and what comes before them. */
function fillMenu(menu: Field, count: number, before: string[], chosen: string) {
  if (menu.options.length === before.length + count) return
  menu.replaceChildren(
    ...[...before, ...Array.from({ length: count }, (_, i) => String(i))].map(
      (value) => new Option(value, value, false, value === chosen)
    )
  )
}

/** The text's own attention, tokens by tokens, with a crosshair on a pair. */
class TokenMap {
  page
  figure
  said
  surface
  #tokens: string[] = []
  #weights = new Float32Array(0) // [T, T], those shown
  #place = [0, 0] // query and key

  constructor(page: Page, figure: HTMLElement, said: HTMLElement) {
    this.page = page
    this.figure = figure
    this.said = said
    this.surface = figure.querySelector('.matrix')
    this.surface.addEventListener('pointermove', ({ clientX, clientY }) => {
      const box = this.surface.querySelector('canvas').getBoundingClientRect()
      this.#look([
        Math.floor(((clientY - box.top) / box.height) * this.#tokens.length),
        Math.floor(((clientX - box.left) / box.width) * this.#tokens.length)
      ])
    })
    this.surface.addEventListener('keydown', (event) => {
      const step = arrows[event.key as keyof typeof arrows]
      if (!step || event.altKey || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      this.#look(this.#place.map((at, i) => at + step[i]))
    })
  }

  /**
   * @param layer [H, T, T]
   * @param head 'mean' or its number
   */
  draw(tokens: string[], layer: Float32Array, head: string) {
    const size = tokens.length ** 2,
      heads = Array.from({ length: layer.length / size }, (_, i) =>
        layer.slice(i * size, (i + 1) * size)
      ),
      { engine, table } = this.page
    this.#tokens = tokens
    this.#weights = head === 'mean' ? engine.explain.headMean(heads) : heads[Number(head)]
    const scale = plainScale(say('texts.attentionWeight'), largestOf(this.#weights)),
      map = { weights: this.#weights, rows: tokens.length, columns: tokens.length }
    put(this.surface.querySelector('canvas'), heat({ ...map, scale, table }))
    drawSmallBar(this.figure, scale, table)
    this.figure
      .querySelector('ul')
      .replaceChildren(
        ...tokens.map((token) =>
          Object.assign(document.createElement('li'), { textContent: token, title: token })
        )
      )
    this.#look(this.#place)
  }

  #look(place: number[]) {
    const { length } = this.#tokens
    if (!length) return
    this.#place = place.map((at) => Math.min(length - 1, Math.max(0, at)))
    const [query, key] = this.#place
    this.surface.querySelector('svg').setAttribute('viewBox', `0 0 ${length} ${length}`)
    for (const line of this.surface.querySelectorAll('path'))
      line.setAttribute('d', `M0 ${query + 0.5}H${length}M${key + 0.5} 0V${length}`)
    this.said.textContent = say('texts.from', {
      query: this.#tokens[query],
      key: this.#tokens[key],
      weight: percent(this.#weights[query * length + key])
    })
  }
}

/** The results in an element that holds the markup. */
class Results {
  page
  element
  hint
  similarity
  map
  #chosen = 0
  #found: ComparedTexts = null as any // until show()
  #info: Texts['info'] = null as any

  constructor(page: Page, element: HTMLElement) {
    this.page = page
    this.element = element
    this.hint = element.querySelector('[role=status]')
    const [similarity, attention] = element.querySelectorAll('figure')
    this.similarity = similarity
    this.map = new TokenMap(page, attention, element.querySelector('#text-said'))
    for (const name of ['layer', 'head'])
      this.field(name).addEventListener('change', () => this.draw())
  }

  field(name: string) {
    return this.element.querySelector(`[name=${name}]`) as Field
  }

  show(lines: string[], found: ComparedTexts, info: Texts['info']) {
    this.#found = found
    this.#info = info
    this.#chosen = Math.min(this.#chosen, lines.length - 1)
    listTexts(this.element.querySelector('ol'), lines, found, (i) => {
      this.#chosen = i
      this.draw()
    })
    fillMenu(this.field('layer'), info.layers, [], String(info.layers - 1))
    fillMenu(this.field('head'), info.heads, ['mean'], 'mean')
  }

  /** The chosen text. */
  draw() {
    const { tokens, attention } = this.#found.texts[this.#chosen]
    this.element
      .querySelectorAll('ol button')
      .forEach((button, i) => button.setAttribute('aria-pressed', String(i === this.#chosen)))
    this.#drawSimilarity()
    this.map.draw(tokens, attention[Number(this.field('layer').value)], this.field('head').value)
    this.hint.textContent = this.#words()
  }

  #words() {
    const { whole, ids } = this.#found.texts[this.#chosen],
      { changes } = this.page.engine.result
    return [
      this.#info.probability === 'softmax'
        ? say('texts.probabilitiesSoftmaxOverThese')
        : say('texts.probabilitiesSigmoidEachText'),
      whole > ids.length ? say('texts.textTruncatedTokens', { ids: ids.length, whole }) : '',
      this.#found.similarity ? '' : say('texts.modelDoesNotProject'),
      changes && isChanged(changes) ? say('texts.theyModelWithoutChanges') : ''
    ].join(' ')
  }

  #drawSimilarity() {
    const { similarity: maps, rows, columns } = this.#found,
      weights = maps?.[this.#chosen]
    this.similarity.hidden = !weights
    if (!weights) return
    const end = weights.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
      scale = signedScale('cosine', end),
      { strength } = this.page.store.get(),
      map = { weights, rows, columns, scale, table: diverging, strength }
    drawRow(this.similarity.querySelector('canvas'), pictureNow(this.page), map)
    drawSmallBar(this.similarity, scale, diverging)
  }
}

const linesOf = () =>
  typed
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, most)

export const view: MakeView = (page, element, { left, redraw }) => {
  element.innerHTML = markup
  const tower = new Tower(page),
    results = new Results(page, element),
    shown = results.hint.nextElementSibling as HTMLElement
  let held = '' // of which run and texts the results are
  results.field('texts').value = typed
  results.field('texts').addEventListener('input', ({ target }) => {
    typed = target.value
  })
  element.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault()
    redraw()
  })
  left.addEventListener('abort', () => tower.close())

  async function compare(latest: () => boolean) {
    const lines = linesOf(),
      key = JSON.stringify([page.store.get().ran, lines])
    if (key === held) return
    if (page.engine.saved) throw new Error(say('texts.noTextTower'))
    if (!lines.length) throw new Error(say('texts.typeText'))
    results.hint.textContent = say('texts.runningTextTower')
    const found = await tower.compare(lines),
      { info } = await tower.open()
    if (!latest()) return
    results.show(lines, found, info)
    held = key
  }

  async function draw(latest: () => boolean) {
    try {
      await compare(latest)
      if (!latest()) return
      shown.hidden = false
      results.draw()
    } catch (error) {
      if (!latest()) return
      held = ''
      shown.hidden = true
      results.hint.textContent = wordsOf(error as Error)
    }
  }
  return { keys: ['ran', 'coloured', 'strength'], draw }
}
