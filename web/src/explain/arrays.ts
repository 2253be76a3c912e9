/* What the functions of heed/explain expect of their arguments. C reads as many floats as it is told,
 * so an array of another type or length would give wrong numbers without a word. */
import { HeedError } from '../error.js'
import { isArrayOf } from '../realm.js'

const refuse = (said: string) => {
  throw new HeedError('INVALID_ARGUMENT', `explain: ${said}`)
}

/** @param length any, where it is not given */
export function expectArray(
  what: string,
  array: unknown,
  length?: number,
  type: Float32ArrayConstructor | Float64ArrayConstructor | Uint8ArrayConstructor = Float32Array
) {
  if (!isArrayOf(array, type.name)) {
    const found = Object(array).constructor?.name ?? String(array)
    refuse(`${what}: wrong type (found ${found}, expected ${type.name})`)
  }
  const found = (array as ArrayLike<number>).length
  if (length !== undefined && found !== length)
    refuse(`${what}: wrong length (found ${found}, expected ${length})`)
}

/** @param rows Float32Arrays of one length, at least one */
export function expectRows(rows: unknown) {
  if (!Array.isArray(rows) || !rows.length) return refuse('rows: missing (expected at least one)')
  for (const row of rows) expectArray('rows', row, rows[0]?.length)
}

export function expectNumber(what: string, found: number, least: number) {
  if (!(Number.isInteger(found) && found >= least && found < 2 ** 31))
    refuse(`${what} out of range (found ${found}, expected a whole number from ${least})`)
}

export function expectShare(share: number) {
  if (typeof share !== 'number' || !(share >= 0 && share <= 1))
    refuse(`share out of range (found ${share}, expected 0 to 1)`)
}

const colormaps = ['cividis', 'viridis', 'magma', 'inferno', 'grey']

export function expectColormap(name: string) {
  if (!colormaps.includes(name))
    refuse(`no such colour map (found ${name}, expected one of ${colormaps.join(', ')})`)
}
