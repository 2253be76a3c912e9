/* session.explain: what methods make of the last run. Components, cosines and groups are taken of its states;
 * the others run the model again, in heed-all.wasm, on the same pixels. */
import { cancelled, HeedError } from './error.js'
import { pause } from './host.js'
import { argument } from './options.js'
import { methods as ofStates } from './patches.js'
import type { CallContext, ExplainSource, Methods, Pixels } from '../types/library.js'
import type { Explanation } from 'heed'

/** Methods of heed_explain. */
const ofRuns = ['ledger', 'lens', 'norms', 'outliers', 'patch', 'occlusion', 'ablation']
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

/** One image alone has no axis for the batch. */
const ofOne = (found: Explanation): Explanation =>
  Object.fromEntries(
    Object.entries(found).map(([name, { shape, data }]) => [name, { shape: shape.slice(1), data }])
  )

async function explainRuns(
  names: string[],
  {
    id,
    batch = 0,
    target,
    vector,
    texts = [],
    sites = [],
    heads = [],
    layer = -1,
    square = 0,
    source,
    sourceMean = false
  }: Methods['explain']['args'],
  from: ExplainSource
) {
  const module = await from.module(),
    own = from.pixels(id, batch),
    other = source === undefined ? undefined : from.pixels(source, sourceMean ? undefined : 0),
    { ids, length } = joined(texts),
    words = [
      names.join(),
      target === undefined && vector ? 'vector' : targetText(target),
      sites.join(),
      heads.join()
    ],
    shapeOf = ({ shape }: Pixels) => Uint32Array.from(shape),
    lent = [
      ...words.map((text) => encoder.encode(`${text}\0`)),
      ids,
      own.data,
      shapeOf(own),
      ...(other ? [other.data, shapeOf(other)] : [])
    ],
    found = await from.run(module, texts.length > 0, (model, tower) =>
      module.lend(
        vector ? [...lent, vector] : lent,
        (methods, to, at, headsAt, idsAt, pixels, shape, ...more) => {
          const [theirs, theirShape] = other ? more : [0, 0]
          module.check(
            module.exports.explain(
              ...[module.web, model, tower, methods, to, at, headsAt, layer, square, sourceMean],
              ...[pixels, shape],
              ...[theirs, theirShape, vector ? more[more.length - 1] : 0, vector?.length ?? 0],
              ...[idsAt, texts.length, length]
            )
          )
        }
      )
    )
  return ofOne(found)
}

export async function explain(
  args: Methods['explain']['args'],
  context: CallContext,
  from: ExplainSource
): Promise<Explanation> {
  const { methods: wanted, batch = 0, source, clusters = usualClusters } = args,
    known = [...Object.keys(ofStates), ...ofRuns],
    found: Explanation = {}
  for (const name of wanted) argument('explain', 'methods', name, known.join('|'))
  const states = wanted.filter((name) => name in ofStates),
    runs = ofRuns.filter((name) => wanted.includes(name))
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
  const module = await from.module()
  for (const [i, name] of states.entries()) {
    if (context.cancelled()) throw cancelled('explain')
    Object.assign(found, ofStates[name](module, own as NonNullable<typeof own>, other, clusters))
    context.progress({ phase: 'run', done: i + 1, total: wanted.length })
    if (context.watched) await pause()
  }
  if (!runs.length) return found
  if (context.cancelled()) throw cancelled('explain')
  if (from.graph && runs.join() === 'occlusion') {
    const { occlude } = await import('./graph_occlusion.js')
    return Object.assign(found, await occlude(args, from.graph(), context))
  }
  return Object.assign(found, await explainRuns(runs, args, from))
}
