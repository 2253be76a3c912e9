/* The same steps on a head of the demo model: what a patch of one star asks, which tokens answer,
 * and what the weights become. Loaded and run when asked for. */
import { html, render } from 'lit-html'
import { element } from '../shared/elements.js'
import { fixed, percentSign } from '../plot/parts/numbers.js'
import { demoModel } from '../heed/demo.js'
import { loadRows } from '../heed/explain/rows.js'
import { createRuntime } from '../heed/index.js'
import { say } from '../languages/say.js'
import { softmax } from '../shared/small_attention.js'
import { tokenName } from './token_name.js'
import type { NamedArray } from '../shared/types.js'

const at = { scene: 159, query: [2, 10] },
  shown = 6
let running: ReturnType<typeof run> | null = null

async function run() {
  const runtime = await createRuntime({ threads: 1 }),
    model = await runtime.loadModel(demoModel),
    { layers } = model.info
  const taps = Array.from({ length: layers }, (_, i) =>
    ['query', 'key', 'attention.weights'].map((what) => `layer.${i}.${what}`)
  ).flat()
  const session = model.createSession({ taps }),
    shape = await session.ready
  const { values } = await session.run((await runtime.scene(at.scene)).image)
  runtime.close()
  return { values, shape, explain: await loadRows() }
}

const line = (texts: string[]) => html`<tr>${texts.map((text) => html`<td>${text}</td>`)}</tr>`

async function show() {
  const {
      values,
      explain,
      shape: { tokens, prefixTokens, columns }
    } = await (running ??= run()),
    layer = Number(element('real-layer').value),
    head = Number(element('real-head').value)
  const token = prefixTokens + at.query[0] * columns + at.query[1],
    [query, key, weights] = ['query', 'key', 'attention.weights'].map(
      (what) => values[`layer.${layer}.${what}`] as NamedArray
    )
  const depth = query.shape.at(-1) as number,
    from = head * tokens * depth,
    scores = explain.scoreProducts(
      query.data.subarray(from + token * depth, from + (token + 1) * depth),
      key.data.subarray(from, from + tokens * depth),
      true
    ),
    mine = softmax([...scores]),
    first = (head * tokens + token) * tokens
  const runtimes = weights.data.subarray(first, first + tokens),
    apart = Math.max(...mine.map((weight, i) => Math.abs(weight - runtimes[i])))
  const best = mine
      .map((_, i) => i)
      .sort((a, b) => mine[b] - mine[a])
      .slice(0, shown),
    rest = 1 - best.reduce((sum, i) => sum + mine[i], 0)
  render(
    [
      ...best.map((i) => [
        tokenName(i, prefixTokens, columns),
        fixed(scores[i], 3),
        fixed(100 * mine[i], 2) + percentSign,
        fixed(mine[i] * tokens, 1)
      ]),
      [
        say('learn.others', { count: tokens - shown }),
        '',
        fixed(100 * rest, 2) + percentSign,
        fixed((rest * tokens) / (tokens - shown), 1)
      ]
    ].map(line),
    element('real-rows')
  )
  element('real-said').textContent = say('learn.real.said', {
    depth,
    tokens,
    apart: apart < 1e-6 ? '1e-6' : apart.toExponential(1)
  })
  render(
    html`<attention-map scene=${at.scene} layer=${layer} head=${head} query=${at.query.join(',')}></attention-map>`,
    element('real-map')
  )
  element('real-link').href = `./#l=${layer}&h=${head}`
  element('real').dataset.shown = `${layer}.${head}`
}

export function connectRealHead() {
  const start = async () => {
    element('run-real').disabled = true
    try {
      await Promise.all([import('../attention-map.js'), show()])
      element('real-result').hidden = element('real-choice').hidden = false
      element('run-real').hidden = true
    } catch (error) {
      running = null
      element('run-real').disabled = false
      element('real-said').textContent = (error as Error).message
    }
  }
  element('run-real').addEventListener('click', start)
  for (const id of ['real-layer', 'real-head']) element(id).addEventListener('input', start)
}
