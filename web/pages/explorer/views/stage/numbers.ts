/* Words and numbers beside the pictures: the classes, and the row that the stage shows. */
import { html } from 'lit-html'
import { unsafeSVG } from 'lit-html/directives/unsafe-svg.js'
import { element } from '../../../shared/elements.js'
import { fill } from '../../../shared/fill.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { probabilitiesOf } from '../../model/probabilities.js'
import { unchanged } from '../../../shared/changes.js'
import { demoModel } from '../../../heed/demo.js'
import { percent, prefixName, times, topOf } from '../../../plot/caption.js'
import { histogram } from '../../../plot/histogram.js'
import { className } from '../../../shared/names.js'
import { say } from '../../../languages/say.js'
import type { Page } from '../../types.js'
import type { PagePicture, PageSource } from '../../../shared/types.js'
import type { Runner } from '../../../shared/model_runner.js'

export function showAnswer({
  engine,
  source,
  picture
}: {
  engine: Runner
  source: PageSource
  picture: PagePicture
}) {
  const { logits } = engine.result,
    list = element('answer')
  element('answer-limit').hidden = source !== demoModel || Boolean(engine.saved || picture.drawing)
  if (!logits) {
    element('handle-fact').textContent = ''
    return fill(
      list,
      html`<li>${engine.saved ? say('numbers.fileNoClassScores') : say('numbers.modelNoClassifier')}</li>`
    )
  }
  const shares = probabilitiesOf(engine, logits),
    most = topOf(shares, Math.min(5, shares.length)).map(({ token, weight }) => ({
      label: className(engine.model.labels[token] ?? say('numbers.class', { index: token })),
      weight
    }))
  element('handle-fact').textContent = `${most[0].label} ${percent(most[0].weight)}` // in sight on a phone too
  fill(
    list,
    most.map(
      ({ label, weight }) =>
        html`<li .style=${`--share: ${weight * 100}%`}><span>${label}</span><b>${percent(weight)}</b></li>`
    )
  )
}

/** With reverse, who looks at the query: a column, which is no distribution. */
function facts({ engine, drawn, statistics }: Page) {
  const { tokens, prefixTokens, tokenNames } = engine.shape,
    { layer, head, reverse, rollout } = drawn.at,
    ofRow = engine.explain.entropy(drawn.row)
  const prefix = drawn.row.subarray(0, prefixTokens).reduce((sum, weight) => sum + weight, 0)
  const name = prefixName(prefixTokens, tokenNames),
    before = (share: number) =>
      prefixTokens
        ? [[reverse ? say('numbers.from', { name }) : say('numbers.on', { name }), percent(share)]]
        : []
  const total = drawn.row.reduce((sum, weight) => sum + weight, 0)
  const self = (
      drawn.token < 0
        ? []
        : [
            [
              reverse ? say('terms.fromItself') : say('terms.itself'),
              percent(drawn.row[drawn.token])
            ]
          ]
    ) as [string, string][],
    rows = reverse
      ? [
          [say('numbers.meanAllQueries'), percent(total / tokens)],
          [say('terms.thatIs'), times(total / tokens, tokens)],
          ...before(prefix / prefixTokens),
          ...self
        ]
      : [
          [
            !(total > 0) // a head that is taken out gives nothing
              ? say('terms.entropy')
              : ofRow < Math.log(tokens) / 2
                ? say('numbers.focused')
                : say('numbers.spread'),
            say('numbers.nats', { ofRow: fixed(ofRow, 3) })
          ],
          ...before(prefix),
          ...self,
          [say('terms.maximum'), percent(ofRow / Math.log(tokens))]
        ]
  if (rollout || head === 'mean' || layer === 'pool') return rows
  const s = drawn.of === engine.result ? statistics?.[layer][head] : null // a moment after the map
  rows.push(
    [
      say('terms.headsMeanDistance'),
      s
        ? `${fixed(s.distance, 1)} ${engine.model.patch === 1 ? say('numbers.patches') : 'px'}`
        : '…'
    ],
    [
      say('terms.headsEntropy'),
      s ? say('numbers.nats2', { entropyPatches: fixed(s.entropyPatches, 3) }) : '…'
    ]
  )
  return rows
}

/** What the softmax saw, and what it made of it, of the run and the place that the row is of; one
 * head alone has that. */
function showScores({ engine, drawn: { row, of, at } }: Page) {
  const { layer, head, reverse, rollout } = at,
    { off, temperature } = of.changes ?? unchanged,
    known =
      engine.scored('masked', of) &&
      !rollout &&
      layer !== 'pool' &&
      head !== 'mean' &&
      !reverse &&
      !off.includes(`${layer}.${head}`)
  element('scores').hidden = !known
  if (!known) return
  const drawing = histogram({
    scores: engine.row({ ...at, score: 'masked', of }),
    largest: say('numbers.curveSoftmaxUp', { weight: percent(topOf(row, 1)[0].weight) }),
    most: (count) => say('numbers.tokens', { count })
  })
  fill(
    element('scores'),
    html`<svg viewBox="0 0 240 82" role="img" aria-label=${say('numbers.histogramRowsScoresSoftmax')}>${unsafeSVG(drawing)}</svg><figcaption>${say('numbers.scoresQKD', { temperature: temperature === 1 ? '' : ` / ${temperature}` })}</figcaption>`
  )
}

/** What the stage's head gave before it was ablated, since zeros say nothing; null where it was not. */
function beforeAblation({ engine, drawn }: Page): Page['drawn'] | null {
  const { at, of } = drawn,
    { layer, head, query, reverse, rollout } = at,
    { whole } = engine
  return whole && query && !rollout && of.changes?.off.includes(`${layer}.${head}`)
    ? { ...drawn, of: whole, row: engine.row({ layer, head, query, reverse, of: whole }) }
    : null
}

export function showNumbers(page: Page) {
  if (!page.drawn || !page.engine.result) return
  const { engine } = page,
    before = beforeAblation(page),
    drawn = before ?? page.drawn,
    {
      row,
      at: { reverse, rollout }
    } = drawn
  element('numbers-title').textContent = before
    ? say('numbers.beforeAblation')
    : say('numbers.statistics', { reverse: reverse ? say('numbers.column') : say('numbers.row') })
  element('most-title').textContent = reverse
    ? say('numbers.mostAttentionFrom')
    : rollout
      ? say('numbers.mostFrom')
      : say('numbers.mostAttention')
  fill(
    element('facts'),
    facts({ ...page, drawn }).map(
      ([term, value]) =>
        html`<dt><button type="button" class="term">${term}</button></dt><dd>${value}</dd>`
    )
  )
  fill(
    element('most'),
    topOf(row, 12).map(
      ({ token, weight }) =>
        html`<tr><td>${engine.nameOf(token)}</td><td>${percent(weight)}</td><td>${fixed(weight * row.length, 2)}</td></tr>`
    )
  )
  showScores(page)
}
