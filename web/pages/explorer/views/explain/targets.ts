/* The score that is explained: the logit of a class, the difference of two, or the score of a text
 * that was typed. The state's `target` is as session.explain has it; '' is the most probable class. */
import { html, nothing } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { probabilitiesOf } from '../../model/probabilities.js'
import { percent } from '../../../plot/caption.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { className } from '../../../shared/names.js'
import { say } from '../../../languages/say.js'
import type { Texts } from 'heed/text'
import type { Page } from '../../types.js'
import type { Of, PageSource } from '../../../shared/types.js'

const listed = 5 // classes

/** A score in words, without a sign where it is 0. */
export const signed = (value: number) =>
  fixed(value, 2)
    .replace(/^[-−](?=[0.,]*$)/, '')
    .replace('-', '−')

/** What of the options of session.explain is the score, and its name. */
export interface Score {
  options: { target: string | number; texts?: Int32Array[] }
  name: string
}

export const labelOf = ({ engine }: Page, index: number) =>
  `“${className(engine.model.labels[index] ?? say('squareEffects.class', { best: index }))}”`

/** The classes by their probability, the largest first. */
export function topClasses(page: Page, logits: ArrayLike<number>, count = listed) {
  const shares = probabilitiesOf(page.engine, logits)
  return shares
    .map((share, index) => ({ index, share }))
    .sort((a, b) => b.share - a.share)
    .slice(0, count)
}

const nameOf = (page: Page, target: string) => {
  const [a, b] = target.split('-').map(Number)
  return b === undefined
    ? labelOf(page, a)
    : say('targets.less', { a: labelOf(page, a), b: labelOf(page, b) })
}

/** Whether a model of so many classes has this target. */
const fits = (target: string, count: number) =>
  target !== '' && target.split('-').every((index) => Number(index) < count)

/* What was typed stays while another view is shown. */
let typed = ''

/** The text towers of the page's models, of which one is open. */
class TextScore {
  #opened: { source: PageSource; texts: Promise<Texts> } | null = null

  async rowOf({ source }: Page, text: string) {
    if (this.#opened?.source !== source) {
      this.close()
      this.#opened = {
        source,
        texts: import('../../../heed/text.js').then(({ loadTexts }) => loadTexts(source))
      }
    }
    return (await (await this.#opened.texts).run(text)).row
  }

  close() {
    this.#opened?.texts.then(
      (texts) => texts.close(),
      () => {}
    )
    this.#opened = null
  }
}

/** The choice of the score, for a view. usual: the target where none is chosen. */
export class Targets {
  #page
  #texts = new TextScore()
  #usual

  constructor(
    page: Page,
    left: AbortSignal,
    usual: (logits: ArrayLike<number>) => string = (logits) =>
      String(topClasses(page, logits, 1)[0].index)
  ) {
    this.#page = page
    this.#usual = usual
    left.addEventListener('abort', () => this.#texts.close())
  }

  /** The target by the state; logits: of the picture. */
  chosen(logits: ArrayLike<number>) {
    const { target } = this.#page.store.get()
    return fits(target, logits.length) ? target : this.#usual(logits)
  }

  /** null: a model without classes, and no text is there yet. */
  async score(logits: ArrayLike<number> | null): Promise<Score | null> {
    if (logits) {
      const target = this.chosen(logits)
      return { options: { target }, name: nameOf(this.#page, target) }
    }
    if (!typed) return null
    return {
      options: { target: 0, texts: [await this.#texts.rowOf(this.#page, typed)] },
      name: `“${typed}”`
    }
  }

  /** What changes where another score is chosen. */
  key(logits: ArrayLike<number> | null) {
    return logits ? this.chosen(logits) : typed
  }

  #classes(logits: ArrayLike<number>) {
    const { store } = this.#page,
      chosen = this.chosen(logits),
      top = topClasses(this.#page, logits),
      usual = this.#usual(logits),
      options = [
        ...new Set([
          usual,
          ...top.map(({ index }) => String(index)),
          ...(top[1] ? [`${top[0].index}-${top[1].index}`] : []),
          chosen
        ])
      ],
      shareOf = (target: string) => {
        const found = top.find(({ index }) => String(index) === target)
        return found ? `, ${percent(found.share)}` : ''
      }
    return html`<label>${say('targets.score')} <select name="target" @change=${({ target }: Of<HTMLSelectElement>) => store.set({ target: target.value === usual ? '' : target.value })}>${options.map((target) => html`<option value=${target} .selected=${live(target === chosen)}>${nameOf(this.#page, target)}${shareOf(target)}</option>`)}</select></label>`
  }

  #text(redraw: () => void) {
    const submit = (event: Event) => {
      event.preventDefault()
      typed = (
        (event.target as HTMLFormElement).elements.namedItem('text') as HTMLInputElement
      ).value.trim()
      redraw()
    }
    return html`<form class="row" @submit=${submit}><label>${say('targets.text')} <input name="text" type="text" maxlength="300" .value=${typed}></label><button>${say('targets.explain')}</button></form>`
  }

  /** The control. */
  show(logits: ArrayLike<number> | null, redraw: () => void) {
    if (this.#page.engine.only) return nothing
    return logits ? this.#classes(logits) : this.#text(redraw)
  }
}

/** Why there is no score, for those who may know what to do. */
export const wordsOf = ({ message }: Error) =>
  /no text tower|no tokenizer|tokenizer\.json/.test(message)
    ? say('targets.needsClassifier')
    : message
