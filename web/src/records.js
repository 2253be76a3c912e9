/* Records of numbers that a module leaves, by the names that it lists. */

/**
 * "block address count;..." -> { block: ['address', 'count'] }.
 * @param {string} text
 * @returns {Record<string, string[]>}
 */
export const recordsOf = (text) =>
  Object.fromEntries(
    text.split(';').map((line) => {
      const [name, ...fields] = line.replace(/_./g, ([, c]) => c.toUpperCase()).split(' ')
      return [name, fields]
    })
  )

/**
 * The record that lies at this address: its numbers by their names; after a rank, the shape.
 * @param {string[]} fields
 * @param {WebAssembly.Memory} memory
 * @param {number} at
 * @returns {any}
 */
export function recordAt(fields, memory, at) {
  const numbers = new Float64Array(memory.buffer, at),
    found = /** @type {any} */ (Object.fromEntries)(fields.map((field, i) => [field, numbers[i]]))
  if (found.rank >= 0)
    found.shape = [...numbers.subarray(fields.length, fields.length + found.rank)]
  return found
}
