/* What the functions of heed/explain expect of their arguments. C reads as many floats as it is told,
 * so an array of another type or length would give wrong numbers without a word. */
import { HeedError } from '../error.js'
import { isArrayOf } from '../realm.js'

/** @param {string} said */
const refuse = (said) => {
  throw new HeedError('INVALID_ARGUMENT', `explain: ${said}`)
}

/**
 * @param {string} what
 * @param {unknown} array
 * @param {number} [length] any, where it is not given
 * @param {Float32ArrayConstructor | Float64ArrayConstructor} [type]
 */
export function expectArray(what, array, length, type = Float32Array) {
  if (!isArrayOf(array, type.name)) {
    const found = Object(array).constructor?.name ?? String(array)
    refuse(`${what}: wrong type (found ${found}, expected ${type.name})`)
  }
  const found = /** @type {ArrayLike<number>} */ (array).length
  if (length !== undefined && found !== length)
    refuse(`${what}: wrong length (found ${found}, expected ${length})`)
}

/** @param {unknown} rows Float32Arrays of one length, at least one */
export function expectRows(rows) {
  if (!Array.isArray(rows) || !rows.length) return refuse('rows: missing (expected at least one)')
  for (const row of rows) expectArray('rows', row, rows[0]?.length)
}

/** @param {number} share */
export function expectShare(share) {
  if (typeof share !== 'number' || !(share >= 0 && share <= 1))
    refuse(`share out of range (found ${share}, expected 0 to 1)`)
}

const colormaps = ['cividis', 'viridis', 'magma', 'inferno', 'grey']

/** @param {string} name */
export function expectColormap(name) {
  if (!colormaps.includes(name))
    refuse(`no such colour map (found ${name}, expected one of ${colormaps.join(', ')})`)
}
