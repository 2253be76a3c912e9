/* What a stop of the zoom says: the text of its step of Learn, and a sentence counted from what is
 * drawn. */
import { percent } from '../../plot/caption.js'
import { demoModel } from '../../heed/demo.js'
import { say } from '../../languages/say.js'
import { sourceOf } from '../state/place.js'
import { wordsOfProducts } from '../views/matrix/pair.js'
import { answerOf } from './zoom_facts.js'
import { byLoss, carries } from './lanes_scene.js'
import { stops } from './stops.js'
import type { Page } from '../types.js'
import type { Effects } from './head_effects.js'
import type { Stop } from './stops.js'
import type { Facts } from './zoom_facts.js'

/** Whether the head finds the other twin of the scene: its first key lies on it. */
function findsTwin({ picture, engine }: Page, { token, lines }: Facts) {
  const { twins, owner } = picture,
    { prefixTokens, rows, columns } = engine.shape
  if (!twins || owner?.length !== rows * columns || !lines.length) return false
  const mine = twins.indexOf(owner[token - prefixTokens])
  return mine >= 0 && owner[lines[0].patch] === twins[1 - mine]
}

export const titleOf = (page: Page, facts: Facts | null) =>
  facts && sourceOf(page) === demoModel && findsTwin(page, facts)
    ? say('zoom.titleTwin')
    : say('zoom.title')

/** The text that Learn has of the stop; it is of the model that pages start with. */
export function textOf(page: Page, stop: Stop) {
  const { text } = stops[stop] as { text?: Parameters<typeof say>[0] }
  if (stop === 'heads') return say('zoom.lanes')
  return text && sourceOf(page) === demoModel ? say(text) : ''
}

function wordsOfHeads(page: Page, effects: Effects | null, measuring: boolean) {
  const { heads, layers } = page.engine.shape
  if (!effects)
    return measuring ? say('zoom.measuring', { done: 0, total: layers * heads }) : say('zoom.later')
  if (effects.done < layers * heads)
    return say('zoom.measuring', { done: effects.done, total: layers * heads })
  const [{ name, loss }] = byLoss(effects, heads),
    needed = byLoss(effects, heads).filter(({ loss }) => Math.abs(loss) > carries).length
  return say('zoom.most', {
    count: needed,
    total: layers * heads,
    head: name,
    before: percent(effects.whole),
    after: percent(effects.whole - loss)
  })
}

function wordsOfAnswer(page: Page, { answer }: Facts) {
  const [now] = answer,
    { engine, drawn } = page,
    off = drawn.of.changes?.off ?? [],
    [whole] = off.length && engine.whole ? answerOf(page, engine.whole) : []
  if (!now) return say('numbers.modelNoClassifier')
  return whole
    ? say('zoom.changed', {
        heads: off.join(', '),
        before: `${whole.label} ${percent(whole.share)}`,
        after: `${now.label} ${percent(now.share)}`
      })
    : say('zoom.answer', { label: now.label, share: percent(now.share) })
}

/** The sentence of a stop. */
export function sentenceOf(
  page: Page,
  facts: Facts,
  stop: Stop,
  { effects, measuring }: { effects: Effects | null; measuring: boolean }
): string {
  const { engine, drawn } = page,
    { shape } = drawn,
    { patch } = engine.model,
    { layer, head, name, top } = facts,
    none = say('zoom.notKept')
  switch (stop) {
    case 'picture':
      return `${drawn.caption}${page.picture.drawing ? ` ${say('zoom.drag')}` : ''}`
    case 'tiles':
      return say('story.1.said', {
        height: shape.rows * patch,
        width: shape.columns * patch,
        rows: shape.rows,
        columns: shape.columns,
        patch
      })
    case 'numbers':
      return facts.state
        ? say('story.2.answer', { pixels: patch ** 2 * 3, count: facts.state.length })
        : none
    case 'query':
      return facts.query ? say('zoom.query', { layer, head, depth: facts.query.length }) : none
    case 'products':
      return facts.products
        ? wordsOfProducts(facts.products, percent(facts.weights[facts.key]))
        : none
    case 'softmax':
      return say('zoom.shares', {
        count: facts.weights.length,
        name,
        largest: percent(top[0].weight),
        key: top[0].name
      })
    case 'map':
      return drawn.caption
    case 'heads':
      return wordsOfHeads(page, effects, measuring)
    case 'answer':
      return wordsOfAnswer(page, facts)
  }
}
