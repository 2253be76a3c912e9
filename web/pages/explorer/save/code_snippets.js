/* Code for the numbers on the stage, from the command line and from JavaScript: picture, layer, head, query or column, score, rollout, and what is
 * changed in the attention. The JavaScript ends in `row`; with --json the command line writes it as `row`, `scores` or `rollout`. */
import { demoModel } from '../../heed/demo.js'
import { optionsOfChanges } from '../state/change_options.js'
import { isChanged, unchanged } from '../state/changes.js'
/** @import {Changes, PagePicture, PageQuery, PageSource, Runner, SavedMaps, ScoreStage, Shape, State, Store} from '../../../types/pages.js' */

/** @param {string} text */
const quoted = (text) =>
  /^[\w./=,-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`
/** @param {(string | number | number[])[]} entries */
const list = (entries) => `[${entries.map((entry) => JSON.stringify(entry)).join(', ')}]`

/**
 * @param {string} name
 * @param {string | number} value
 * @param {string | number} usual
 */
const option = (name, value, usual) => (value === usual ? [] : [`--${name}`, value])
/** @param {...(string | number)} words */
const line = (...words) => words.map((word) => quoted(String(word))).join(' ')

/**
 * Options of heed run and heed maps; what is as it always is stays away.
 * @param {State} state
 * @param {{layers: number}} shape
 */
function optionsOf(
  { layer, head, query, reverse, fusion, residual, discard, first, last },
  { layers }
) {
  return [
    '--layer',
    layer,
    '--head',
    head,
    '--query',
    query === 'cls' ? 'cls' : query.join(','),
    ...(reverse ? ['--reverse'] : []),
    ...option('fusion', fusion, 'mean'),
    ...option('residual', residual, 0.5),
    ...option('discard', discard, 0),
    ...option('layers', `${first}-${last < 0 ? layers - 1 : last}`, `0-${layers - 1}`)
  ]
}

/**
 * @param {State} state
 * @param {Changes} changes
 * @param {Shape} shape
 * @param {string} model
 * @param {string} picture
 */
function commandOf(state, changes, shape, model, picture) {
  const { fit, score } = state,
    options = [
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

/**
 * @param {SavedMaps} maps
 * @param {State} state
 * @param {Shape} shape
 */
function commandOfMaps({ name, named }, state, shape) {
  if (!named)
    throw new Error(
      `heed maps reads .safetensors files as this page writes them, not ${name}. Save these maps as tensors, open that file, then copy the code again.`
    )
  return `heed maps ${quoted(`path/to/${name}`)} ${line(...optionsOf(state, shape), '--json', 'heed.json')}`
}

/**
 * The inputs that changes.js makes; `whole` is the run of the model as it is.
 * @param {Changes} changes
 * @param {number} width
 */
function codeOfChanges({ off, how, dropped, cuts, gains }, width) {
  const heads = off.map((text) => text.split('.').map(Number)),
    mean = how === 'mean' && off.length
  return [
    ...(dropped.length
      ? [
          'const seen = new Uint8Array(tokens).fill(1)',
          `for (const patch of ${list(dropped)}) seen[prefixTokens + patch] = 0 // masked patches`,
          "await session.write('token_mask', seen)"
        ]
      : []),
    ...(off.length || cuts.length
      ? [
          'for (let layer = 0; layer < layers; layer++) {',
          '  const mask = new Uint8Array(heads * tokens * tokens).fill(1)',
          ...(cuts.length
            ? [
                `  for (const [query, key] of ${list(cuts.map((pair) => pair.split('.').map(Number)))}) for (let head = 0; head < heads; head++) mask[(head * tokens + query) * tokens + key] = 0`
              ]
            : []),
          ...(off.length
            ? [
                `  for (const [of, head] of ${list(heads)}) if (of === layer) mask.fill(0, head * tokens * tokens, (head + 1) * tokens * tokens) // heads taken out`
              ]
            : []),
          '  await session.write(`layer.${layer}.attention.mask`, mask)',
          '}'
        ]
      : []),
    ...(mean
      ? [
          `const width = ${width}, size = width / heads`,
          'for (let layer = 0; layer < layers; layer++) { // their mean over the tokens in their place',
          '  const offset = new Float32Array(width), given = whole.values[`layer.${layer}.attention.output`].data',
          `  for (const [of, head] of ${list(heads)}) {`,
          '    if (of !== layer) continue',
          '    for (let c = head * size; c < (head + 1) * size; c++) offset[c] = Array.from({ length: tokens }, (_, token) => given[token * width + c] / tokens).reduce((a, b) => a + b)',
          '  }',
          '  await session.write(`layer.${layer}.attention.offset`, offset)',
          '}'
        ]
      : []),
    ...(gains.length
      ? [
          'for (let layer = 0; layer < layers; layer++) {',
          '  const gain = new Float32Array(heads).fill(1)',
          `  for (const [of, head, percent] of ${list(gains.map((text) => text.split('.').map(Number)))}) if (of === layer) gain[head] = percent / 100`,
          '  await session.write(`layer.${layer}.attention.gain`, gain)',
          '}'
        ]
      : [])
  ]
}

/* What a score is made from, and the score of head h between query i and key j. */
/** @type {Record<string, {from: string[], lines: string[]}>} */
const scores = {
  raw: {
    from: ['query', 'key'],
    lines: ['const score = (h, i, j) => dot(h * tokens + i, h * tokens + j)']
  },
  scaled: {
    from: ['query', 'key'],
    lines: ['const score = (h, i, j) => dot(h * tokens + i, h * tokens + j) / Math.sqrt(depth)']
  },
  masked: {
    from: ['attention.logits'],
    lines: ['const score = (h, i, j) => logits[(h * tokens + i) * tokens + j]']
  },
  value: {
    from: ['attention.weights', 'value'],
    lines: [
      'const score = (h, i, j) => weights[(h * tokens + i) * tokens + j] * Math.hypot(...value.subarray((h * tokens + j) * depth, (h * tokens + j + 1) * depth))'
    ]
  }
}

/**
 * @param {{layer: number, head: number | 'mean', query: PageQuery, reverse: boolean, score: ScoreStage}} options
 * @param {{heads: number}} options
 */
function codeOfScores({ layer, head, query, reverse, score }, { heads }) {
  const { from, lines } = scores[score],
    token = query === 'cls' ? '0' : `prefixTokens + ${query[0]} * columns + ${query[1]}`,
    many = head === 'mean'
  const names = from.map(
    (name) => `${name.replace('attention.', '')} = values['layer.${layer}.${name}'].data`
  )
  return [
    `const ${names.join(', ')}, token = ${token}${score === 'masked' ? '' : `, depth = ${from.at(-1)}.length / heads / tokens`}`,
    ...(from[0] === 'query'
      ? [
          'const dot = (a, b) => { let sum = 0; for (let d = 0; d < depth; d++) sum += query[a * depth + d] * key[b * depth + d]; return sum }'
        ]
      : []),
    ...lines,
    `const one = (h, i) => score(h, ${reverse ? 'i, token' : 'token, i'})`,
    `const row = Float32Array.from({ length: tokens }, (_, i) => ${many ? `${list(Array.from({ length: heads }, (_, h) => h))}.reduce((sum, h) => sum + one(h, i), 0) / heads` : `one(${head}, i)`})`
  ]
}

/**
 * The row that the stage shows, from a session that has run.
 * @param {State} state
 * @param {Shape} shape
 */
function codeOfRow(
  { view, layer, head, query, reverse, score, fusion, residual, discard, first, last },
  shape
) {
  if (view === 'rollout')
    return [
      `const row = await session.rollout(${JSON.stringify({ query, fusion, residual, discard, firstLayer: first, layerCount: (last < 0 ? shape.layers - 1 : last) - first + 1 })})`
    ]
  if (score !== 'softmax') return codeOfScores({ layer, head, query, reverse, score }, shape)
  if (!reverse)
    return [`const row = await session.attention(${JSON.stringify({ layer, head, query })})`]
  const token = query === 'cls' ? '0' : `prefixTokens + ${query[0]} * columns + ${query[1]}`
  return [
    `const matrix = await session.attention(${JSON.stringify({ layer, head })})`,
    `const row = matrix.filter((_, i) => i % tokens === ${token}) // attention received by this patch`
  ]
}

/**
 * @param {State} state
 * @param {Changes} changes
 * @param {Shape} shape
 * @param {string} model
 * @param {string} picture
 * @param {number} width
 */
function scriptOf(state, changes, shape, model, picture, width) {
  const seen = state.fit === 'whole' ? ", { fit: 'whole' }" : ''
  const { view, layer, score, how } = state,
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
    ...codeOfChanges(changes, width),
    `${scored ? 'const { values } = ' : ''}await session.run(picture${seen})`,
    ...codeOfRow(state, shape)
  ].join('\n')
  const sizes = ['layers', 'heads', 'tokens', 'prefixTokens', 'columns'].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(body)
  )
  return [
    "import { createRuntime } from 'heed'",
    ...(model ? [] : ["import { demoModel } from 'heed/demo'"]),
    'const runtime = await createRuntime()',
    `const model = await runtime.loadModel(${model ? JSON.stringify(`path/to/${model}`) : 'demoModel'})`,
    picture,
    ...(mean
      ? [
          'const plain = model.createSession({ taps: Array.from({ length: model.info.layers }, (_, i) => `layer.${i}.attention.output`) })',
          `const whole = await plain.run(picture${seen})`
        ]
      : []),
    `const session = model.createSession({ taps: ${taps}${intervene} })`,
    ...(sizes.length ? [`const { ${sizes.join(', ')} } = await session.ready`] : []),
    body,
    ''
  ].join('\n')
}

/**
 * Both, with an empty line between; the command alone for maps from a file.
 * @param {{store: Store, picture: PagePicture, source: PageSource, engine: Runner}} options
 */
export function code({ store, picture, source, engine }) {
  if (engine.saved) return commandOfMaps(engine.saved, store.get(), engine.shape)
  const state = store.get(),
    { scene } = state,
    own = scene === null || scene === undefined,
    model = source === demoModel ? '' : document.getElementById('model-name').textContent
  const { changes = unchanged, fit } = engine.result,
    given = { ...unchanged, ...changes }
  const shown = own
    ? `const picture = await createImageBitmap(await (await fetch(${JSON.stringify(picture.name)})).blob())`
    : `const { image: picture } = await runtime.scene(${scene})`
  return `${commandOf({ ...state, fit }, given, engine.shape, model, own ? quoted(picture.name) : `--scene ${scene}`)}\n\n${scriptOf({ ...state, fit, how: given.how }, given, engine.shape, model, shown, engine.model.width)}`
}
