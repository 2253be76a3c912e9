/* What is changed in the attention, as inputs of a session with `intervene`. Loaded with the first
 * change. */
import { changesWithin } from './changes.js'
/** @import {AttentionChanges, ChangeSizes, Explain} from 'heed/explain' */
/** @import {CallOptions, Model, SessionOptions} from '../../../src/index.js' */
/** @import {Changes, Changing, PictureSource, RunnerResult, Shape} from '../../../types/pages.js' */

export { loadExplain } from '../../heed/explain/index.js'

const numbers = (/** @type {string} */ text) => text.split('.').map(Number)

/**
 * The changes as explain has them, those that the model has.
 * @param {Explain} explain
 * @param {Changes} changes
 * @param {Shape & ChangeSizes} shape
 * @param {(layer: number) => Float32Array} [means] what the heads of a layer give, [T, C]; asked for
 *   where a head's mean stands in for it
 */
function makeChanges(explain, changes, shape, means) {
  const { off, dropped, cuts, gains } = changesWithin(changes, shape),
    made = explain.changes(shape)
  for (const [layer, head] of off.map(numbers)) {
    made.ablate(layer, head)
    if (means && changes.how === 'mean') made.replace(layer, means(layer))
  }
  for (const patch of dropped) made.drop(shape.prefixTokens + patch)
  for (const [query, key] of cuts.map(numbers)) made.cut(query, key)
  for (const [layer, head, percent] of gains.map(numbers)) made.gain(layer, head, percent / 100)
  return made
}

/**
 * What makes scaled scores of a result those that its softmax saw. It keeps the masks of the changes
 * that it was last asked for.
 * @param {Explain} explain
 */
export function createMask(explain) {
  /** @type {{of: Changes, made: AttentionChanges} | undefined} */
  let last
  /**
   * @param {Float32Array} scores
   * @param {Changes} changes
   * @param {Shape & ChangeSizes} shape
   * @param {{layer: number, head: number, token: number, reverse: boolean}} at
   */
  return (scores, changes, shape, at) => {
    if (last?.of !== changes) {
      last?.made.close()
      last = { of: changes, made: makeChanges(explain, changes, shape) }
    }
    return last.made.mask(scores, { ...at, temperature: changes.temperature })
  }
}

/**
 * @param {ArrayLike<number> | undefined} before
 * @param {ArrayLike<number>} data
 */
function isSame(before, data) {
  let i = before ? 0 : -1
  while (before && i < data.length && before[i] === data[i]) i++
  return i === data.length
}

/**
 * Writes the inputs that the session does not have yet. Resolves to the first layer whose inputs
 * that changes.
 * @param {Explain} explain
 * @param {any} changes as changes.js has them
 * @param {{
 *   session: import('../../../src/index.js').Session, written: Map<string, Uint8Array | Float32Array>
 * }} changing written: the inputs that the session has, by name
 * @param {any} shape of the session, with `width`
 * @param {Record<string, any>} values of a run with nothing changed
 */
async function writeChanges(explain, changes, { session, written }, shape, values) {
  const made = makeChanges(
      explain,
      changes,
      shape,
      (layer) => values[`layer.${layer}.attention.output`].data
    ),
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
 * @param {Explain} explain
 * @param {Changing} changing its session is made again where it cannot take these changes
 * @param {Model} model
 * @param {SessionOptions} how
 * @param {Shape & ChangeSizes} shape
 * @param {RunnerResult} whole of the picture, with nothing changed
 * @param {PictureSource} picture
 * @param {Changes} changes
 * @param {CallOptions & {fit: 'model' | 'whole'}} options
 */
export async function runChanged(
  explain,
  changing,
  model,
  how,
  shape,
  whole,
  picture,
  changes,
  { fit, ...options }
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
  const layer = await writeChanges(explain, changes, changing, shape, whole.values),
    result = await (layer > 0 && ran?.picture === picture && ran.fit === fit
      ? changing.session.runFrom(layer, options)
      : changing.session.run(picture, { ...options, fit }))
  changing.ran = { picture, fit }
  return result
}
