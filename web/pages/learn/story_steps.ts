/* The ten steps of the story: what each shows of one head of the demo model, and what its question
 * is answered by. Every number is the runtime's, or is computed here and held to the runtime's. */
import { fixed } from '../plot/parts/numbers.js'
import { percent } from '../plot/caption.js'
import { unchanged } from '../shared/changes.js'
import { className } from '../shared/names.js'
import { say } from '../languages/say.js'
import { storedTensor } from '../shared/stored_tensor.js'
import { frame, gridLines, hatched, light, lines, placeOf, tiles } from './story_figure.js'
import { tokenName } from './token_name.js'
import { largestKeys, layerNorm, mixed, project, shares } from './story_numbers.js'
import type { PagePicture, PageSource } from '../shared/types.js'
import type { Runner } from '../shared/model_runner.js'

export const at = { scene: 159, layer: 3, head: 0, query: [2, 10] } as const
const shown = 4 // numbers of a long list
const keysShown = 5

/** What a step shows: `svg` of the figure, `rows` of numbers below it, a sentence, and the answer
 * to the step's question. */
export type Shown = { svg: string; rows?: string[][]; said: string; answer: string }
/** what all steps are made from */
export interface Story {
  /** after a run of the picture */
  engine: Runner
  picture: PagePicture
  /** of the picture */
  address: string
  /** of the query */
  token: number
  /** D */
  depth: number
  /** q·k of all keys */
  scores: Float32Array
  /** the runtime's */
  weights: Float32Array
  rollout: Float32Array
  /** patches of the other twin */
  twin: number[]
  /** of the layer's norm and projections */
  tensors: Record<string, Float32Array>
  /** the model's, and without heads */
  answers: { name: string; shares: number[] }[]
}

/** @returns [T, D] of the head */
function ofHead({ engine, depth }: Story, what: 'query' | 'key' | 'value'): Float32Array {
  const { data } = engine.result.values[`layer.${at.layer}.${what}`],
    size = engine.shape.tokens * depth
  return (data as Float32Array).subarray(at.head * size, (at.head + 1) * size)
}

const number = (value: number) => fixed(value, 3).replace('-', '−')
const few = (values: ArrayLike<number>) => [
  ...Array.from(values).slice(0, shown).map(number),
  values.length > shown ? '…' : ''
]
const factor = (value: number) => (value < 0 ? `(${number(value)})` : number(value))
const agreed = (apart: number) => (apart < 1e-6 ? '1e-6' : apart.toExponential(0))

const pictureIn = ({ address }: Story) => `<image href="${address}" width="100" height="100"/>`

/** A map on the picture. */
const lit = (story: Story, weights: ArrayLike<number>) =>
  `${pictureIn(story)}${light(story.engine.shape, weights)}${frame(story.engine.shape, story.token - story.engine.shape.prefixTokens)}`

/** The share of a row on the other twin. */
const onTwin = ({ twin, engine }: Story, row: ArrayLike<number>) =>
  twin.reduce((sum, patch) => sum + row[engine.shape.prefixTokens + patch], 0)

const nameOf = ({ engine: { shape } }: Story, token: number) =>
  tokenName(token, shape.prefixTokens, shape.columns)

/** Everything that the steps need, from one run of the model and two without a head. */
export async function makeStory(
  engine: Runner,
  picture: PagePicture,
  address: string,
  source: PageSource
): Promise<Story> {
  await engine.run(picture.source)
  const { shape, explain } = engine,
    token = engine.token([...at.query]),
    place = { layer: at.layer, head: at.head, token },
    { found } = await engine.tensors(),
    tensors: Record<string, Float32Array> = {},
    layer = `encoder.layer.${at.layer}.`
  for (const [name, role] of Object.entries({
    norm: 'layernorm_before',
    query: 'attention.attention.query',
    key: 'attention.attention.key',
    value: 'attention.attention.value'
  }))
    for (const part of ['weight', 'bias']) {
      const tensor = await storedTensor(source, found, `${layer}${role}.${part}`)
      if (!tensor) throw new Error(`story: the model has no ${layer}${role}.${part}`)
      tensors[`${name}.${part}`] = tensor.data
    }
  const rollout = await engine.rollout({
      query: [...at.query],
      fusion: 'mean',
      residual: 0.5,
      first: 0,
      last: -1
    }),
    { twins, owner } = picture,
    mine = owner[token - shape.prefixTokens],
    other = twins.find((twin: number) => twin !== mine),
    classes = async (off: string[]) =>
      Array.from(
        explain.softmax(
          (await engine.logits(picture.source, { ...unchanged, off })) as ArrayLike<number>
        )
      )
  return {
    engine,
    picture,
    address,
    token,
    depth: engine.result.values[`layer.${at.layer}.query`].data.length / shape.tokens / shape.heads,
    scores: await engine.row({ ...place, score: 'raw' }),
    weights: await engine.row(place),
    rollout: rollout as Float32Array,
    twin: Array.from(owner, (one, patch) => (one === other ? patch : -1)).filter(
      (patch) => patch >= 0
    ),
    tensors,
    answers: [
      {
        name: say('story.whole'),
        shares: Array.from(explain.softmax(engine.result.logits as ArrayLike<number>))
      },
      { name: say('story.without', { head: '3.0' }), shares: await classes(['3.0']) },
      { name: say('story.without', { head: '2.3' }), shares: await classes(['2.3']) }
    ]
  }
}

function patches(story: Story) {
  const { rows, columns, tokens } = story.engine.shape,
    { patch } = story.engine.model
  return {
    svg: pictureIn(story) + gridLines(story.engine.shape),
    said: say('story.1.said', {
      height: rows * patch,
      width: columns * patch,
      rows,
      columns,
      patch
    }),
    answer: say('story.1.answer', { tokens, patches: rows * columns })
  }
}

function numbers(story: Story) {
  const { engine, token } = story,
    { prefixTokens } = engine.shape,
    patch = token - prefixTokens,
    { x, y, width, height } = placeOf(engine.shape, patch),
    state = (engine.states(at.layer - 1) as Float32Array[])[token],
    pixels = engine.model.patch ** 2 * 3
  return {
    svg: `${pictureIn(story)}${frame(engine.shape, patch)}<svg x="4" y="52" width="44" height="44" viewBox="${x} ${y} ${width} ${height}" preserveAspectRatio="none"><image href="${story.address}" width="100" height="100"/></svg><rect class="zoomed" x="4" y="52" width="44" height="44"/>`,
    rows: [
      [say('learn.token'), say('story.state')],
      [nameOf(story, token), ...few(state)]
    ],
    said: say('story.2.said', { layer: at.layer, count: state.length }),
    answer: say('story.2.answer', { pixels, count: state.length })
  }
}

function projections(story: Story) {
  const { engine, token, depth, tensors } = story,
    state = (engine.states(at.layer - 1) as Float32Array[])[token],
    x = layerNorm(state, tensors['norm.weight'], tensors['norm.bias'])
  let apart = 0
  const names = {
    query: say('story.query'),
    key: say('story.key'),
    value: say('story.value')
  }
  const rows = (['query', 'key', 'value'] as const).map((what) => {
    const runtimes = ofHead(story, what).subarray(token * depth, (token + 1) * depth),
      own = Array.from(runtimes, (_, i) =>
        project(x, tensors[`${what}.weight`], tensors[`${what}.bias`], at.head * depth + i)
      )
    own.forEach((value, i) => {
      apart = Math.max(apart, Math.abs(value - runtimes[i]))
    })
    return [names[what], ...few(own)]
  })
  const first = at.head * depth, // of the query's numbers, as W has them
    terms = [0, 1].map(
      (i) => `${factor(x[i])} · ${factor(tensors['query.weight'][first * x.length + i])}`
    )
  return {
    svg: pictureIn(story) + frame(engine.shape, token - engine.shape.prefixTokens),
    rows: [['', say('story.3.head', { count: x.length, depth })], ['x', ...few(x)], ...rows],
    said: say('story.3.said', {
      sum: `${terms.join(' + ')} + … + ${factor(tensors['query.bias'][first])} = ${rows[0][1]}`,
      apart: agreed(apart)
    }),
    answer: say('story.3.answer')
  }
}

function products(story: Story) {
  const { engine, token, scores } = story,
    { prefixTokens } = engine.shape,
    best = largestKeys(scores, 13).filter((key) => key >= prefixTokens && key !== token),
    least = largestKeys(
      Array.from(scores, (score) => -score),
      1
    )[0]
  return {
    svg:
      pictureIn(story) +
      lines(
        engine.shape,
        token - prefixTokens,
        best
          .filter((key) => scores[key] > 0)
          .map((key) => ({ patch: key - prefixTokens, share: scores[key] }))
      ) +
      frame(engine.shape, token - prefixTokens),
    rows: [
      [say('story.key'), 'q·k'],
      ...largestKeys(scores, keysShown).map((key) => [nameOf(story, key), number(scores[key])])
    ],
    said: say('story.4.said', {
      count: scores.length,
      least: number(scores[least]),
      token: nameOf(story, least)
    }),
    answer: say('story.4.answer', {
      token: nameOf(story, largestKeys(scores, 1)[0]),
      most: number(Math.max(...scores))
    })
  }
}

function softmax(story: Story, temperature: number) {
  const { scores, depth, weights } = story,
    scaled = Array.from(scores, (score) => score / Math.sqrt(depth)),
    own = shares(scaled, temperature),
    most = (t: number) => Math.max(...shares(scaled, t)),
    apart = Math.max(...shares(scaled, 1).map((share, i) => Math.abs(share - weights[i])))
  return {
    svg: lit(story, own),
    rows: [
      [say('story.key'), 'q·k / √D', say('story.share')],
      ...largestKeys(own, keysShown).map((key) => [
        nameOf(story, key),
        number(scaled[key]),
        percent(own[key])
      ]),
      [
        say('story.all', { count: own.length }),
        '',
        percent(own.reduce((sum, share) => sum + share, 0))
      ]
    ],
    said: say('story.5.said', { temperature, apart: agreed(apart) }),
    answer: say('story.5.answer', {
      half: percent(most(0.5)),
      one: percent(most(1)),
      two: percent(most(2))
    })
  }
}

function values(story: Story) {
  const { engine, token, depth, weights } = story,
    { heads } = engine.shape,
    all = ofHead(story, 'value'),
    output = engine.result.values[`layer.${at.layer}.attention.output`].data,
    from = (token * heads + at.head) * depth,
    own = Array.from({ length: depth }, (_, column) => mixed(weights, all, depth, column)),
    apart = Math.max(...own.map((value, i) => Math.abs(value - output[from + i]))),
    best = largestKeys(weights, 3)
  return {
    svg: lit(story, weights),
    rows: [
      [say('story.valueOf'), say('story.share'), 'v'],
      ...best.map((key) => [
        nameOf(story, key),
        percent(weights[key]),
        ...few(all.subarray(key * depth, (key + 1) * depth))
      ]),
      [say('story.mixed'), percent(1), ...few(own)]
    ],
    said: say('story.6.said', { count: weights.length, apart: agreed(apart) }),
    answer: say('story.6.answer', {
      token: nameOf(story, best[0]),
      share: percent(weights[best[0]]),
      twin: percent(onTwin(story, weights))
    })
  }
}

/** The weights of the query in a head. */
const rowOf = ({ engine, token }: Story, layer: number, head: number | 'mean') =>
  engine.row({ layer, head, token }) as Float32Array

function heads(story: Story) {
  const { heads: count } = story.engine.shape,
    rows = Array.from({ length: count }, (_, head) => rowOf(story, at.layer, head)),
    found = rows.map((row) => onTwin(story, row)),
    best = largestKeys(found, 1)[0]
  return {
    svg: tiles(
      rows.map((row, head) => ({ name: say('story.headOf', { head }), inside: lit(story, row) })),
      2
    ),
    rows: [
      [say('story.head'), say('story.onTwin')],
      ...found.map((share, head) => [`${at.layer}.${head}`, percent(share)])
    ],
    said: say('story.7.said', { count, layer: at.layer }),
    answer: say('story.7.answer', { head: best, share: percent(found[best]) })
  }
}

function mask(story: Story) {
  const { engine, scores, depth, twin, token, weights } = story,
    { prefixTokens } = engine.shape,
    hidden = new Set(twin.map((patch) => patch + prefixTokens)),
    own = shares(
      Array.from(scores, (score) => score / Math.sqrt(depth)),
      1,
      (key) => hidden.has(key)
    ),
    best = largestKeys(own, 1)[0]
  return {
    svg: `${pictureIn(story)}${light(engine.shape, own)}${hatched(engine.shape, twin)}${frame(engine.shape, token - prefixTokens)}`,
    rows: [
      [say('story.key'), say('story.share')],
      ...largestKeys(own, keysShown).map((key) => [nameOf(story, key), percent(own[key])])
    ],
    said: say('story.8.said', { count: twin.length, share: percent(onTwin(story, weights)) }),
    answer: say('story.8.answer', { token: nameOf(story, best), share: percent(own[best]) })
  }
}

function layers(story: Story) {
  const { layers: count } = story.engine.shape,
    rows = Array.from({ length: count }, (_, layer) => rowOf(story, layer, 'mean')),
    found = rows.map((row) => onTwin(story, row)),
    best = largestKeys(found, 1)[0]
  return {
    svg: tiles(
      [
        ...rows.map((row, layer) => ({
          name: say('story.layerOf', { layer }),
          inside: lit(story, row)
        })),
        { name: say('story.rollout'), inside: lit(story, story.rollout) }
      ],
      3
    ),
    rows: [
      [say('story.meanOf'), say('story.onTwin')],
      ...found.map((share, layer) => [say('story.layerOf', { layer }), percent(share)]),
      [say('story.rollout'), percent(onTwin(story, story.rollout))]
    ],
    said: say('story.9.said'),
    answer: say('story.9.answer', { layer: best, share: percent(found[best]) })
  }
}

function answer(story: Story) {
  const { engine, answers } = story,
    labels = engine.model.labels.map(className),
    best = answers.map(({ shares }) => largestKeys(shares, 1)[0]),
    said = (i: number) => `${labels[best[i]]} ${percent(answers[i].shares[best[i]])}`
  return {
    svg: lit(story, story.weights),
    rows: [['', say('story.answer')], ...answers.map(({ name }, i) => [name, said(i)])],
    said: say('story.10.said'),
    answer: say('story.10.answer', { first: said(1), second: said(2) })
  }
}

export const steps: ((story: Story, temperature: number) => Shown)[] = [
  patches,
  numbers,
  projections,
  products,
  softmax,
  values,
  heads,
  mask,
  layers,
  answer
]
