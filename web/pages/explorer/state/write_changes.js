/* What is changed in the attention, as inputs of a session with `intervene`. Loaded with the first
 * change. */
import { loadExplain } from '../../shared/explain.js'
import { changesWithin } from './changes.js'

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
 * @param {any} changes as changes.js has them
 * @param {{
 *   session: import('../../../src/index.js').Session, written: Map<string, Uint8Array | Float32Array>
 * }} changing written: the inputs that the session has, by name
 * @param {any} shape of the session, with `width`
 * @param {Record<string, any>} values of a run with nothing changed
 */
export async function writeChanges(changes, { session, written }, shape, values) {
  const explain = await loadExplain()
  const inputs = explain
    .inputsOf(
      { ...changes, ...changesWithin(changes, shape) },
      shape,
      (layer) => values[`layer.${layer}.attention.output`].data
    )
    .filter(([name, data]) => !isSame(written.get(name), data))
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
