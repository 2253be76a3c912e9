/* session.explain: what methods make of the last run. Components, cosines and groups are taken of its states;
 * the others run the model again, in heed-all.wasm, on the same pixels. */
import { cancelled, HeedError } from './error.js'
import { pause } from './host.js'
import { namesOf } from './model_records.js'
import { argument } from './options.js'
import { methods as ofStates } from './patches.js'
import type { ModuleMemory } from './module_memory.js'
import type { CallContext, ExplainSource, Methods } from '../types/library.js'
import type { Explanation, Tensor } from 'heed'

/** Of kmeans. */
const usualClusters = 5

const encoder = new TextEncoder()

/** A target as heed_explain has it. */
const targetText = (target: Methods['explain']['args']['target']) =>
  Array.isArray(target) ? target.join('-') : String(target ?? '')

/** Ids of texts as one tensor; zeros follow a text that is shorter than the longest. */
function joined(texts: Int32Array[]) {
  const length = texts.reduce((most, ids) => Math.max(most, ids.length), 0),
    all = new Int32Array(texts.length * length)
  texts.forEach((ids, i) => all.set(ids, i * length))
  return { ids: all, length }
}

/** One image alone has no axis for the batch; texts are another one. */
const ofOne = (found: Explanation): Explanation =>
  Object.fromEntries(
    Object.entries(found).map(([name, { shape, data }]) => [
      name,
      { shape: name.startsWith('text.') ? shape : shape.slice(1), data }
    ])
  )

/** Names that a module counts up, until there is none. */
function listed(module: ModuleMemory, at: (index: number) => number) {
  const names: string[] = []
  for (let name = at(0); name; name = at(names.length)) names.push(module.string(name))
  return names
}

/** The inputs of heed_explain by their names, with what each must be. */
function inputsOf(
  { batch = 0, id, source, sourceMean, vector, texts = [], ...args }: Methods['explain']['args'],
  { pixels, grid }: ExplainSource
) {
  const own = pixels(id, batch),
    [, , height, width] = own.shape,
    other = source === undefined ? undefined : pixels(source, sourceMean ? undefined : 0),
    { rows, columns } = grid(id),
    { ids, length } = joined(texts),
    { map, otherMap, pixelMap, mask, noise } = args,
    of = (shape: number[], data?: Tensor['data']) => (data ? [{ shape, data }] : [])
  return Object.entries({
    pixel_values: [own],
    'source.pixel_values': other ? [other] : [],
    'target.vector': of([vector?.length ?? 0], vector),
    input_ids: texts.length ? of([texts.length, length], ids) : [],
    noise: of([(noise?.length ?? 0) / own.data.length, ...own.shape.slice(1)], noise),
    'judge.map': of([1, rows * columns], map),
    'judge.other': of([1, rows * columns], otherMap),
    'judge.pixels': of([1, height, width], pixelMap),
    'judge.mask': of([1, height, width], mask)
  }).flatMap(([name, [tensor]]) => {
    if (!tensor) return []
    const count = tensor.shape.reduce((product, dim) => product * dim, 1)
    if (!tensor.shape.every(Number.isInteger) || tensor.data.length !== count)
      throw new HeedError(
        'INVALID_ARGUMENT',
        `explain: ${name} has another size (found ${tensor.data.length} numbers, expected [${tensor.shape.map(Math.ceil)}])`
      )
    return [{ name, ...tensor }]
  })
}

const dtypeOf = (data: Tensor['data']) =>
  data instanceof Float32Array ? 'f32' : data instanceof Int32Array ? 'i32' : 'u8'

async function explainRuns(
  module: ModuleMemory,
  methods: string[],
  maps: number[],
  args: Methods['explain']['args'],
  from: ExplainSource
) {
  const { target, vector, texts = [], sites = [], heads = [], percent = [] } = args,
    inputs = inputsOf(args, from),
    numbers: Record<string, number> = {
      ...args,
      layer: args.layer ?? -1,
      sourceMean: Number(args.sourceMean ?? false),
      keep: Number(args.keep ?? false),
      curves: module.code('curves', args.curves ?? 'both'),
      pictures: 1,
      ...from.grid(args.id)
    } as any,
    words = [
      methods.join(),
      target === undefined && vector ? 'vector' : targetText(target),
      sites.join(),
      heads.join()
    ],
    shapes = inputs.flatMap(({ shape, data }) => [
      module.code('dtype', dtypeOf(data)),
      shape.length,
      ...shape,
      ...Array(4 - shape.length).fill(0)
    ]),
    lent = [
      ...words.map((text) => encoder.encode(`${text}\0`)),
      Float64Array.from(module.fields('explaining'), (name) => numbers[name] ?? 0),
      Float64Array.from(percent),
      Uint32Array.from(maps),
      namesOf(inputs.map(({ name }) => name)),
      Uint32Array.from(shapes),
      ...inputs.map(({ data }) => data)
    ],
    found = await from.run(module, texts.length > 0, (model, tower) =>
      module.lend(
        lent,
        (methods, to, at, headsAt, wanted, percents, mapsAt, names, dims, ...data) =>
          module.lend([Uint32Array.from(data)], (dataAt) =>
            module.check(
              module.exports.explain(
                ...[module.web, model, tower, methods, to, at, headsAt, wanted],
                ...[percents, percent.length, mapsAt, maps.length],
                ...[names, dims, dataAt, inputs.length]
              )
            )
          )
      )
    )
  return ofOne(found)
}

/** What is asked for, of all that there is: methods of states, methods that run the model, and maps by their index. */
function wantedOf(module: ModuleMemory, { methods = [], maps = [] }: Methods['explain']['args']) {
  const { exports } = module,
    ofRuns = listed(module, (i) => exports.explain_method(i)),
    names = listed(module, (i) => exports.patch_map(i)),
    known = [...new Set([...Object.keys(ofStates), ...ofRuns])]
  for (const name of methods) argument('explain', 'methods', name, known.join('|'))
  for (const name of maps) argument('explain', 'maps', name, names.join('|'))
  const indices = maps.map((name) => names.indexOf(name)),
    needed = indices.map((i) => module.text(exports.patch_map_method(i)))
  return {
    states: methods.filter((name) => name in ofStates),
    runs: ofRuns.filter(
      (name) => needed.includes(name) || (methods.includes(name) && !(name in ofStates))
    ),
    maps: indices
  }
}

export async function explain(
  args: Methods['explain']['args'],
  context: CallContext,
  from: ExplainSource
): Promise<Explanation> {
  const { batch = 0, source, clusters = usualClusters } = args,
    module = await from.module(),
    { states, runs, maps } = wantedOf(module, args),
    found: Explanation = {}
  let own, other
  if (states.length) {
    own = await from.patches(args.id, batch)
    other = source === undefined ? undefined : await from.patches(source, 0)
    if (other && other.channels !== own.channels)
      throw new HeedError(
        'INVALID_ARGUMENT',
        `explain: the states of source differ in size (found ${other.channels}, expected ${own.channels})`
      )
  }
  for (const [i, name] of states.entries()) {
    if (context.cancelled()) throw cancelled('explain')
    Object.assign(found, ofStates[name](module, own as NonNullable<typeof own>, other, clusters))
    context.progress({ phase: 'run', done: i + 1, total: states.length + runs.length })
    if (context.watched) await pause()
  }
  if (!runs.length && !maps.length) return found
  if (context.cancelled()) throw cancelled('explain')
  if (from.graph && runs.join() === 'occlusion' && !maps.length) {
    const { occlude } = await import('./graph_occlusion.js')
    return Object.assign(found, await occlude(args, from.graph(), context))
  }
  return Object.assign(found, await explainRuns(module, runs, maps, args, from))
}
