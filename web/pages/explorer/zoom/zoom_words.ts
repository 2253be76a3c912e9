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
import type { Effects, HeadAt, Path } from './head_effects.js'
import type { Stop } from './stops.js'
import type { Facts } from './zoom_facts.js'

export const titleOf = (page: Page, facts: Facts | null) =>
  facts?.target?.isTwin && sourceOf(page) === demoModel ? say('zoom.titleTwin') : say('zoom.title')

const nameOf = ({ layer, head }: HeadAt) => `${layer}.${head}`

const texts = {
  1: 'learn.1.text',
  2: 'learn.2.text',
  3: 'learn.3.text',
  4: 'learn.4.text',
  5: 'learn.5.text',
  6: 'learn.6.text',
  7: 'learn.7.text',
  8: 'learn.8.text',
  9: 'learn.9.text',
  10: 'learn.10.text'
} as const

/** The text that Learn has of the stop, which is of the model that pages start with. */
export function textOf(page: Page, stop: Stop) {
  const { step } = stops[stop] as { step?: keyof typeof texts }
  if (stop === 'heads') return '' // what lanes are is its note
  if (stop === 'picture' && sourceOf(page) === demoModel) return say('zoom.trained')
  return step && sourceOf(page) === demoModel ? say(texts[step]) : ''
}

/** What stands below the sentence of a stop: how what it names is counted, and what lanes are. */
export function noteOf({ layer, head, lines, row, column }: Facts, stop: Stop) {
  if (stop === 'picture' && lines.length)
    return say('zoom.head', { name: nameOf({ layer, head }), layer, head })
  if (stop === 'heads') return say('zoom.lanes')
  return stop === 'tiles' ? say('zoom.counted', { row, column }) : ''
}

/** Where the arrow leads; nothing where there is none. */
const wordsOfArrow = ({ layer, head, lines, target }: Facts) =>
  lines.length && target
    ? say('zoom.arc', {
        head: nameOf({ layer, head }),
        place: target.name,
        share: percent(target.share)
      })
    : undefined

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

function wordsOfPath({ engine }: Page, { at, share, before, after }: Path, { target }: Facts) {
  const head = nameOf(at)
  return [
    before &&
      target &&
      say('zoom.pathBefore', {
        head,
        place: target.name,
        share: percent(share),
        before: nameOf(before),
        without: percent(before.share)
      }),
    after &&
      say('zoom.pathAfter', {
        head,
        after: nameOf(after),
        name: engine.nameOf(0),
        moved: percent(after.moved)
      })
  ]
    .filter(Boolean)
    .join(' ')
}

/** The sentence of a stop. */
export function sentenceOf(
  page: Page,
  facts: Facts,
  stop: Stop,
  { effects, measuring, path }: { effects: Effects | null; measuring: boolean; path: Path | null }
): string {
  const { engine, drawn } = page,
    { shape } = drawn,
    { patch } = engine.model,
    { layer, head, name, top } = facts,
    none = say('zoom.notKept')
  switch (stop) {
    case 'picture':
      return `${wordsOfArrow(facts) ?? drawn.caption}${page.picture.drawing ? ` ${say('zoom.drag')}` : ''}`
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
    case 'mask':
      return facts.target && facts.masked
        ? say('zoom.masked', {
            hidden: facts.target.name,
            share: percent(facts.target.share),
            name: facts.maskedTop[0].name,
            now: percent(facts.maskedTop[0].weight)
          })
        : none
    case 'values':
      return facts.mixed
        ? say('zoom.values', {
            count: facts.weights.length,
            name: top[0].name,
            share: percent(top[0].weight)
          })
        : none
    case 'map':
      return drawn.caption
    case 'heads':
      return wordsOfHeads(page, effects, measuring)
    case 'layers':
      return path ? wordsOfPath(page, path, facts) : say('zoom.pathLater')
    case 'answer':
      return wordsOfAnswer(page, facts)
  }
}
