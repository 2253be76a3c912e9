/* Code for the numbers on the stage, from the command line and from JavaScript: picture, layer, head, query or column, score, rollout, and what is
 * changed in the attention. The JavaScript ends in `row`; with --json the command line writes it as `row`, `scores` or `rollout`. */
import { element } from '../../shared/elements.js'
import { say } from '../../languages/say.js'
import { demoModel } from '../../heed/demo.js'
import { optionsOfChanges } from '../state/change_options.js'
import { isChanged, unchanged } from '../../shared/changes.js'
import type {
  Changes,
  PagePicture,
  PageQuery,
  PageSource,
  SavedMaps,
  ScoreStage,
  Shape
} from '../../shared/types.js'
import type { ModelParts } from '../../shared/model_parts.js'
import type { Runner } from '../../shared/model_runner.js'
import type { State, Store } from '../types.js'

const quoted = (text: string) =>
  /^[\w./=,-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`
const list = (entries: (string | number | number[])[]) =>
  `[${entries.map((entry) => JSON.stringify(entry)).join(', ')}]`

const option = (name: string, value: string | number, usual: string | number) =>
  value === usual ? [] : [`--${name}`, value]
const line = (...words: (string | number)[]) => words.map((word) => quoted(String(word))).join(' ')

const tokenOf = (query: PageQuery) =>
  Array.isArray(query)
    ? `prefixTokens + ${query[0]} * columns + ${query[1]}`
    : String(query === 'cls' ? 0 : query)

/** Options of heed run and heed maps; what is as it always is stays away. */
function optionsOf(
  { layer, head, query, reverse, fusion, residual, discard, first, last }: State,
  { layers, tokenNames }: Pick<Shape, 'layers' | 'tokenNames'>
) {
  return [
    '--layer',
    layer,
    '--head',
    head,
    '--query',
    Array.isArray(query)
      ? query.join(',')
      : query === 'cls'
        ? query
        : (tokenNames?.[query] ?? query),
    ...(reverse ? ['--reverse'] : []),
    ...option('fusion', fusion, 'mean'),
    ...option('residual', residual, 0.5),
    ...option('discard', discard, 0),
    ...option('layers', `${first}-${last < 0 ? layers - 1 : last}`, `0-${layers - 1}`)
  ]
}

function commandOf(state: State, changes: Changes, shape: Shape, model: string, picture: string) {
  const { fit, score, size } = state,
    options = [
      ...(size ? ['--size', size.join()] : []),
      ...option('fit', fit, 'model'),
      ...optionsOf(state, shape),
      ...option('score', score, 'softmax'),
      ...optionsOfChanges(changes, shape).flat()
    ]
  return [
    'heed run',
    ...(model ? [quoted(`path/to/${model}`)] : []),
    picture,
    line(...options, '--json', 'heed.json', '--save', 'heed.safetensors')
  ].join(' ')
}

function commandOfMaps({ name, named }: SavedMaps, state: State, shape: Shape) {
  if (!named) throw new Error(say('save.otherMaps', { name: String(name) }))
  return `heed maps ${quoted(`path/to/${name}`)} ${line(...optionsOf(state, shape), '--json', 'heed.json')}`
}

/** Of a stage or a video: layers are those of the model, and a query has a time. */
function commandOfParts(parts: ModelParts, state: State, model: string, picture: string) {
  const { layer, head, query, reverse } = state,
    place = parts.frames > 1 && Array.isArray(query) ? parts.placeIn(query) : query
  return [
    'heed run',
    quoted(`path/to/${model}`),
    picture,
    line(
      ...['--layer', parts.layerOf(layer as number), '--head', head],
      ...['--query', Array.isArray(place) ? place.join(',') : place],
      ...(reverse ? ['--reverse'] : []),
      ...['--json', 'heed.json']
    )
  ].join(' ')
}

/** The inputs of the changes, by heed/explain; `whole` is the run of the model as it is. */
function codeOfChanges({ off, how, dropped, cuts, gains }: Changes) {
  const numbers = (text: string) => text.split('.').map(Number),
    made: string[] = [
      ...off.map(numbers).map(([layer, head]) => `changes.ablate(${layer}, ${head})`),
      ...(how === 'mean' ? [...new Set(off.map((text) => numbers(text)[0]))] : []).map(
        (layer) =>
          `changes.replace(${layer}, whole.values['layer.${layer}.attention.output'].data) // the mean over the tokens`
      ),
      ...dropped.map((patch) => `changes.drop(prefixTokens + ${patch})`),
      ...cuts.map(numbers).map(([query, key]) => `changes.cut(${query}, ${key})`),
      ...gains
        .map(numbers)
        .map(([layer, head, percent]) => `changes.gain(${layer}, ${head}, ${percent / 100})`)
    ]
  return made.length
    ? [
        'const changes = explain.changes({ layers, heads, tokens, width: model.info.width })',
        ...made,
        'for (const [name, data] of changes.inputs()) await session.write(name, data)'
      ]
    : []
}

/* What a score is made from, and the scores of head h. */
const scores: Record<string, { from: string[]; lines: (reverse: boolean) => string[] }> = {
  raw: { from: ['query', 'key'], lines: (reverse) => products(reverse, false) },
  scaled: { from: ['query', 'key'], lines: (reverse) => products(reverse, true) },
  masked: {
    from: ['attention.logits'],
    lines: (reverse) => [`const one = (h) => ${rowOf('logits', reverse)}`]
  },
  value: {
    from: ['attention.weights', 'value'],
    lines: (reverse) => [
      `const one = (h) => explain.scoreValues(${rowOf('weights', reverse)}, ${reverse ? 'part(value, h * tokens + token, heads * tokens)' : 'part(value, h, heads)'}, ${reverse})`
    ]
  }
}
const products = (reverse: boolean, scaled: boolean) => [
  `const one = (h) => explain.scoreProducts(part(${reverse ? 'key' : 'query'}, h * tokens + token, heads * tokens), part(${reverse ? 'query' : 'key'}, h, heads), ${scaled})`
]
/** Of head h of a matrix [heads, tokens, tokens]. */
const rowOf = (name: string, reverse: boolean) =>
  reverse
    ? `part(${name}, h, heads).filter((_, i) => i % tokens === token)`
    : `part(${name}, h * tokens + token, heads * tokens)`

function codeOfScores({
  layer,
  head,
  query,
  reverse,
  score
}: {
  layer: State['layer']
  head: number | 'mean'
  query: PageQuery
  reverse: boolean
  score: ScoreStage
}) {
  const { from, lines } = scores[score],
    token = tokenOf(query)
  const names = from.map(
    (name) => `${name.replace('attention.', '')} = values['layer.${layer}.${name}'].data`
  )
  return [
    `const ${names.join(', ')}, token = ${token}`,
    'const part = (data, i, count) => data.subarray(i * data.length / count, (i + 1) * data.length / count)',
    ...lines(reverse),
    `const row = ${head === 'mean' ? 'explain.scoreMean(Array.from({ length: heads }, (_, h) => one(h)))' : `one(${head})`}`
  ]
}

/** The row that the stage shows, from a session that has run. */
function codeOfRow(
  { view, layer, head, query, reverse, score, fusion, residual, discard, first, last }: State,
  shape: Shape
) {
  if (view === 'rollout')
    return [
      `const row = await session.rollout(${JSON.stringify({ query, fusion, residual, discard, firstLayer: first, layerCount: (last < 0 ? shape.layers - 1 : last) - first + 1 })})`
    ]
  if (score !== 'softmax') return codeOfScores({ layer, head, query, reverse, score })
  if (layer === 'pool')
    return [`const row = await session.attention(${JSON.stringify({ layer, head })})`]
  if (!reverse)
    return [`const row = await session.attention(${JSON.stringify({ layer, head, query })})`]
  const token = tokenOf(query)
  return [
    `const matrix = await session.attention(${JSON.stringify({ layer, head })})`,
    `const row = matrix.filter((_, i) => i % tokens === ${token}) // attention received by this patch`
  ]
}

function scriptOf(state: State, changes: Changes, shape: Shape, model: string, picture: string) {
  const seen = state.fit === 'whole' ? ", { fit: 'whole' }" : ''
  const { view, layer, score, how, size } = state,
    sized = size ? `, height: ${size[0]}, width: ${size[1]}` : '',
    scored = view !== 'rollout' && score !== 'softmax',
    mean = changes.off.length > 0 && how === 'mean'
  const taps = scored
    ? list(scores[score].from.map((name) => `layer.${layer}.${name}`))
    : view === 'rollout'
      ? "'all'"
      : "'rows'"
  const intervene = isChanged(changes)
    ? `, intervene: { emptyRow: '${how === 'uniform' ? 'mean' : 'zero'}', temperature: ${changes.temperature} }`
    : ''
  const body = [
    ...codeOfChanges(changes),
    `${scored ? 'const { values } = ' : ''}await session.run(picture${seen})`,
    ...codeOfRow(state, shape)
  ].join('\n')
  const explains = /\bexplain\./.test(body),
    sizes = ['layers', 'heads', 'tokens', 'prefixTokens', 'columns'].filter((name) =>
      new RegExp(`\\b${name}\\b`).test(body)
    )
  return [
    "import { createRuntime } from 'heed'",
    ...(model ? [] : ["import { demoModel } from 'heed/demo'"]),
    ...(explains ? ["import { loadExplain } from 'heed/explain'"] : []),
    `const runtime = await createRuntime()${explains ? ', explain = await loadExplain()' : ''}`,
    `const model = await runtime.loadModel(${model ? JSON.stringify(`path/to/${model}`) : 'demoModel'})`,
    picture,
    ...(mean
      ? [
          'const plain = model.createSession({ taps: Array.from({ length: model.info.layers }, (_, i) => `layer.${i}.attention.output`)' +
            `${sized} })`,
          `const whole = await plain.run(picture${seen})`
        ]
      : []),
    `const session = model.createSession({ taps: ${taps}${sized}${intervene} })`,
    ...(sizes.length ? [`const { ${sizes.join(', ')} } = await session.ready`] : []),
    body,
    ''
  ].join('\n')
}

/** Both, with an empty line between; the command alone for maps from a file. */
export function code({
  store,
  picture,
  source,
  engine
}: {
  store: Store
  picture: PagePicture
  source: PageSource
  engine: Runner
}) {
  if (engine.saved) return commandOfMaps(engine.saved, store.get(), engine.shape)
  const state = { ...store.get(), size: engine.size },
    { scene } = state,
    own = scene === null || scene === undefined,
    model = source === demoModel ? '' : element('model-name').textContent
  const name = own ? quoted(picture.name) : `--scene ${scene}`
  if (engine.parts)
    return commandOfParts(
      engine.parts,
      state,
      model,
      (picture.frames?.length ?? 0) > 1 ? 'path/to/frames/' : name
    )
  const { changes = unchanged, fit } = engine.result,
    given = { ...unchanged, ...changes }
  const shown = own
    ? `const picture = await createImageBitmap(await (await fetch(${JSON.stringify(picture.name)})).blob())`
    : `const { image: picture } = await runtime.scene(${scene})`
  return `${commandOf({ ...state, fit }, given, engine.shape, model, name)}\n\n${scriptOf({ ...state, fit, how: given.how }, given, engine.shape, model, shown)}`
}
