/* What a value is, also where another realm has made it: the window of an iframe, a context of node:vm, the
 * environment of a test. instanceof knows the classes of this realm alone. It imports nothing, so that
 * bundlers leave the scripts that a page starts with as they are. */

/**
 * The name of a value's kind.
 * @param {unknown} value
 */
export const kindOf = (value) => Object.prototype.toString.call(value).slice(8, -1)

/**
 * Whether a value is a typed array of one of these names.
 * @param {unknown} value
 * @param {...string} names
 */
export const isArrayOf = (value, ...names) =>
  ArrayBuffer.isView(value) && names.includes(kindOf(value))

/**
 * Whether a value is of the class of this name, which a realm need not have.
 * @param {unknown} value
 * @param {string} name
 */
export function isKind(value, name) {
  if (name === 'Function') return typeof value === 'function'
  if (name === 'Array') return Array.isArray(value)
  if (name.endsWith('Array')) return isArrayOf(value, name)
  const own = /** @type {any} */ (globalThis)[name]
  return kindOf(value) === name || (typeof own === 'function' && value instanceof own)
}

/** @param {unknown} value @returns {value is Blob} */
export const isBlob = (value) => isKind(value, 'Blob') || isKind(value, 'File')

/** @param {unknown} value @returns {value is URL} */
export const isURL = (value) => isKind(value, 'URL')

/** @param {unknown} value @returns {value is Response} */
export const isResponse = (value) => isKind(value, 'Response')

/** @param {unknown} value @returns {value is ArrayBuffer} */
export const isBuffer = (value) => isKind(value, 'ArrayBuffer')

/**
 * The same numbers in an array of this realm.
 * @param {ArrayBufferView} bytes a Uint8Array
 */
export const ownBytes = (bytes) =>
  bytes instanceof Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
