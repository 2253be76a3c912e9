/* What a caller may ask for: a line for the options of each function, and what holds a call against
 * it. Nothing is converted, and nothing is looked up in a prototype. How many layers, heads and
 * tokens there are is for the module to say. */
import { HeedError, said } from './error.js'
import { isKind } from './realm.js'
import type { Rule } from '../types/library.js'
import type { LayerPlace, SessionInfo } from 'heed'

const most = 2 ** 31 - 1,
  isCount = (value: unknown): value is number =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !value.includes('\0')

/** Kinds of values: what is expected, in words, and whether a value is one. */
const kinds: Record<string, Rule> = /* @__PURE__ */ (() => ({
  Count: [`a whole number from 0 to ${most}`, isCount],
  Size: [`a whole number from 1 to ${most}`, (value) => isCount(value) && value > 0],
  Number: ['a number', Number.isFinite],
  Positive: [
    'a number above 0',
    (value) => Number.isFinite(value) && Math.fround(value as number) > 0
  ], // 0 is the module's word for its own choice
  Numbers: [
    'numbers',
    (value) => Array.isArray(value) && value.length > 0 && value.every(Number.isFinite)
  ],
  Options: [
    'an object',
    (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
  ],
  Name: ['a name', isName],
  Texts: [
    'rows of ids (Int32Array)',
    (value) =>
      Array.isArray(value) && value.every((ids) => isKind(ids, 'Int32Array') && ids.length > 0)
  ],
  Names: ['names', (value) => Array.isArray(value) && value.every(isName)],
  Seed: [
    'a whole number from 0 to 2 ** 64 - 1',
    (value) =>
      typeof value === 'bigint'
        ? value >= 0n && value < 2n ** 64n
        : Number.isSafeInteger(value) && (value as number) >= 0
  ],
  Any: ['', () => true] // what a function below looks at
}))()

/* Of each function: its options, and what each may be: one of these words, kinds and classes. */
export const call = ' onProgress:Function signal:AbortSignal',
  place = ' query:Any batch:Count'
/** Entries of their own that take options add theirs. */
export const tables: Record<string, string> = /* @__PURE__ */ (() => ({
  createRuntime:
    'threads:auto|Size simd:auto|simd worker:Boolean base:Any device:wasm|webgpu|auto weights:f32|f16 softwareAdapter:Boolean',
  loadModel:
    ' file:Name hub:Boolean|Name|URL weightsKey:Name names:Options hints:Options way:weights|graph|reference' +
    call,
  evaluate: 'taps:none|all' + call,
  check: 'tolerance:Number results:Boolean',
  scene: 'seed:Seed clutter:Number noise:Number objects:Array',
  object: 'shape:Name colour:Name x:Number y:Number radius:Number angle:Number',
  createSession:
    'taps:none|rows|all|Names batch:Size height:Size width:Size frames:Size intervene:Any preprocess:Any' +
    call,
  preprocess:
    'mean:Number|Numbers std:Positive|Numbers resample:nearest|lanczos|bilinear|bicubic|box|hamming crop:Positive|none rescale:Positive',
  intervene: 'temperature:Positive emptyRow:zero|nan|mean',
  run: 'fit:model|whole maps:Boolean values:Boolean' + call,
  prepare: 'fit:model|whole',
  runFrom: 'values:Boolean' + call,
  write: 'name:Name data:Uint8Array|Float32Array',
  attention: 'layer:pool|Count head:Count|mean' + place,
  statistics: 'layer:Count batch:Count',
  rollout:
    'fusion:mean|min|max residual:Positive firstLayer:Count layerCount:Size discard:Number each:Boolean' +
    place +
    call,
  explain:
    'methods:Names maps:Names layer:Count batch:Count source:Any target:Count|Name|Numbers vector:Float32Array texts:Texts sites:Names heads:Names clusters:Size square:Size sourceMean:Boolean noise:Float32Array igSteps:Size map:Float32Array otherMap:Float32Array pixelMap:Float32Array mask:Uint8Array steps:Size curves:both|tokens|pixels flipPixels:Size percent:Numbers keep:Boolean' +
    call
}))()

const ruleOf = (name: string): Rule =>
  kinds[name] ??
  (/^[A-Z]/.test(name)
    ? [name, (value) => isKind(value, name)]
    : [said(name), (value) => value === name])

/** A value in words, of an array how many it has, or which. */
const found = (value: unknown) =>
  !Array.isArray(value)
    ? said(value)
    : value.length > 4
      ? `an array of ${value.length}`
      : `[${Array.from(value, said).join(', ')}]`

/**
 * The value, where it is one of the words, kinds and classes, or fits one of such rules; else
 * throws INVALID_ARGUMENT.
 * @returns of the kind that `allowed` names
 */
export function argument(
  where: string,
  what: string,
  value: unknown,
  allowed: string | Rule[]
): any {
  const rules = (allowed as string).split?.('|').map(ruleOf) ?? (allowed as Rule[])
  if (rules.some(([, fits]) => fits(value))) return value
  throw new HeedError(
    'INVALID_ARGUMENT',
    `${where}: ${what} is not valid (found ${found(value)}, expected ${rules.map(([expected]) => expected).join(', ')})`
  )
}

/**
 * The names of options, and which of them an unknown one may stand for: two in five of their pairs of letters
 * are the same.
 */
function expected(names: string[], given: string) {
  const all = names.join(', ')
  if (names.includes(given)) return all
  const pairs = (name: string) =>
      new Set(Array.from(` ${name}`, (letter, i) => (letter + (name[i] ?? '')).toLowerCase())),
    own = pairs(given),
    alike = (name: string) => {
      const those = [...pairs(name)]
      return (2 * those.filter((pair) => own.has(pair)).length) / (those.length + own.size)
    },
    [nearest] = [...names].sort((a, b) => alike(b) - alike(a))
  return alike(nearest) >= 0.4 ? `${nearest}; all are ${all}` : all
}

/**
 * A copy of the options that the function `where` was given, where each is in its line and fits,
 * and none of those needed is missing; else throws INVALID_ARGUMENT.
 */
export function checked<Options extends object>(
  where: string,
  given: Options = {} as Options,
  ...needed: string[]
): Options {
  const rules = new Map(
      tables[where]
        .trim()
        .split(' ')
        .map((rule) => rule.split(':') as [string, string])
    ),
    options: Record<string, unknown> = {}
  for (const [what, value] of Object.entries(argument(where, 'the argument', given, 'Options'))) {
    argument(where, 'the option', what, [
      [expected([...rules.keys()], what), () => rules.has(what)]
    ])
    if (value !== undefined)
      options[what] = tables[what]
        ? checked(what, value as object)
        : argument(where, what, value, rules.get(what) as string)
  }
  for (const what of needed) argument(where, what, options[what], rules.get(what) as string)
  return options as Options
}

/** An address, in a page also one from there. */
export function address(where: string, what: string, value: unknown): URL {
  try {
    return new URL(value as string | URL, globalThis.location?.href)
  } catch {
    return argument(where, what, value, [['an address', () => false]])
  }
}

/**
 * The token that a query of this session is; else throws INVALID_ARGUMENT.
 * @param place of the layer; else the session's own
 */
export function tokenOf(
  query: unknown,
  { tokenNames, ...own }: Pick<SessionInfo, 'tokenNames' | 'frames' | 'rows' | 'columns'>,
  place: Pick<LayerPlace, 'frames' | 'rows' | 'columns'> = own
) {
  const { frames, rows, columns } = place,
    isVideo = frames > 1,
    sizes = isVideo ? [frames, rows, columns] : [rows, columns],
    tokens = tokenNames.length + frames * rows * columns,
    below = (value: unknown, end: number) => isCount(value) && value < end,
    names = tokenNames.map((name) => name.toLowerCase()),
    isPatch =
      Array.isArray(query) &&
      query.length === sizes.length &&
      sizes.every((size, axis) => below(query[axis], size))
  let token = names.indexOf(query as string)
  if (token < 0)
    token = isPatch
      ? tokenNames.length + sizes.reduce((at, size, axis) => at * size + query[axis], 0)
      : (query as number)
  argument('attention', 'query', query, [
    [
      [
        `a token below ${tokens}`,
        ...names.map(said),
        `${isVideo ? '[time, row, column]' : '[row, column]'} below [${sizes.join(', ')}]`
      ].join(', '),
      () => below(token, tokens)
    ]
  ])
  return token
}
