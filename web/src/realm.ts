/* What a value is, also where another realm has made it: the window of an iframe, a context of node:vm, the
 * environment of a test. instanceof knows the classes of this realm alone. It imports nothing, so that
 * bundlers leave the scripts that a page starts with as they are. */

/** The name of a value's kind. */
export const kindOf = (value: unknown) => Object.prototype.toString.call(value).slice(8, -1)

/** Whether a value is a typed array of one of these names. */
export const isArrayOf = (value: unknown, ...names: string[]) =>
  ArrayBuffer.isView(value) && names.includes(kindOf(value))

/** Whether a value is of the class of this name, which a realm need not have. */
export function isKind(value: unknown, name: string) {
  if (name === 'Function') return typeof value === 'function'
  if (name === 'Array') return Array.isArray(value)
  if (name.endsWith('Array')) return isArrayOf(value, name)
  const own = (globalThis as Record<string, unknown>)[name]
  return kindOf(value) === name || (typeof own === 'function' && value instanceof own)
}

export const isBlob = (value: unknown): value is Blob =>
  isKind(value, 'Blob') || isKind(value, 'File')

export const isURL = (value: unknown): value is URL => isKind(value, 'URL')

export const isResponse = (value: unknown): value is Response => isKind(value, 'Response')

export const isBuffer = (value: unknown): value is ArrayBuffer => isKind(value, 'ArrayBuffer')

/**
 * The same numbers in an array of this realm.
 * @param bytes a Uint8Array
 */
export const ownBytes = (bytes: ArrayBufferView) =>
  bytes instanceof Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
