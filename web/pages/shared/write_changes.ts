/* What is changed in the attention, as inputs of a session with `intervene`. Loaded with the first
 * change. */
import { changesWithin } from './changes.js'
import type { AttentionChanges, ChangeSizes, Explain } from 'heed/explain'
import type { CallOptions, Model, SessionOptions } from 'heed'
import type { Changes, Changing, PictureSource, Shape } from './types.js'

export { loadExplain } from '../heed/explain/index.js'

const numbers = (text: string) => text.split('.').map(Number)

/**
 * The changes as explain has them, those that the model has.
 * @param means what the heads of layers give, [T, C], where a head's mean stands in for it
 */
function makeChanges(
  explain: Explain,
  changes: Changes,
  shape: Shape & ChangeSizes,
  means?: Map<number, Float32Array>
) {
  const { off, dropped, cuts, gains } = changesWithin(changes, shape),
    made = explain.changes(shape)
  for (const [layer, head] of off.map(numbers)) {
    made.ablate(layer, head)
    const mean = means?.get(layer)
    if (mean) made.replace(layer, mean)
  }
  for (const patch of dropped) made.drop(shape.prefixTokens + patch)
  for (const [query, key] of cuts.map(numbers)) made.cut(query, key)
  for (const [layer, head, percent] of gains.map(numbers)) made.gain(layer, head, percent / 100)
  return made
}

/** What makes scaled scores of a result those that its softmax saw. It keeps the masks of the changes
 * that it was last asked for. */
export function createMask(explain: Explain) {
  let last: { of: Changes; made: AttentionChanges } | undefined
  return (
    scores: Float32Array,
    changes: Changes,
    shape: Shape & ChangeSizes,
    at: { layer: number; head: number; token: number; reverse: boolean }
  ) => {
    if (last?.of !== changes) {
      last?.made.close()
      last = { of: changes, made: makeChanges(explain, changes, shape) }
    }
    return last.made.mask(scores, { ...at, temperature: changes.temperature })
  }
}

function isSame(before: ArrayLike<number> | undefined, data: ArrayLike<number>) {
  let i = before ? 0 : -1
  while (before && i < data.length && before[i] === data[i]) i++
  return i === data.length
}

/**
 * Writes the inputs that the session does not have yet. Resolves to the first layer whose inputs
 * that changes.
 * @param changes as changes.js has them
 * @param changing written: the inputs that the session has, by name
 * @param shape of the session, with `width`
 * @param mean what the heads of a layer give with nothing changed, [T, C]
 */
async function writeChanges(
  explain: Explain,
  changes: any,
  {
    session,
    written
  }: {
    session: import('heed').Session
    written: Map<string, Uint8Array | Float32Array>
  },
  shape: any,
  mean: (layer: number) => Promise<Float32Array>
) {
  const ablated = changes.how === 'mean' ? changesWithin(changes, shape).off : [],
    layers = new Set(ablated.map((head) => numbers(head)[0])),
    means = await Promise.all(
      Array.from(layers, async (layer) => [layer, await mean(layer)] as const)
    ),
    made = makeChanges(explain, changes, shape, new Map(means)),
    inputs = made.inputs().filter(([name, data]) => !isSame(written.get(name), data))
  made.close()
  await Promise.all(
    inputs.map(async ([name, data]) => {
      written.delete(name)
      await session.write(name, data)
      written.set(name, data)
    })
  )
  return Math.min(
    shape.layers,
    ...inputs.map(([name]) => (name === 'token_mask' ? 0 : Number(name.split('.')[1])))
  )
}

/**
 * A run with changes: from the first layer that differs from the session's last run, where that was
 * of this picture.
 * @param changing its session is made again where it cannot take these changes
 * @param mean what the heads of a layer give with nothing changed
 */
export async function runChanged(
  explain: Explain,
  changing: Changing,
  model: Model,
  how: SessionOptions,
  shape: Shape & ChangeSizes,
  mean: (layer: number) => Promise<Float32Array>,
  picture: PictureSource,
  changes: Changes,
  { fit, ...options }: CallOptions & { fit: 'model' | 'whole'; values: boolean }
) {
  const emptyRow = changes.how === 'uniform' ? 'mean' : 'zero',
    { temperature } = changes,
    key = `${emptyRow} ${temperature}`
  if (changing.key !== key) {
    changing.session?.close()
    changing.key = '' // until there is another
    const session = model.createSession({ ...how, intervene: { emptyRow, temperature } })
    Object.assign(changing, { session, key, written: new Map(), ran: null })
  }
  const { ran } = changing
  changing.ran = null // until it has
  const layer = await writeChanges(explain, changes, changing, shape, mean),
    result = await (layer > 0 && ran?.picture === picture && ran.fit === fit
      ? changing.session.runFrom(layer, options)
      : changing.session.run(picture, { ...options, fit }))
  changing.ran = { picture, fit }
  return result
}
