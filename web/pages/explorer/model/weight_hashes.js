/* The files of a model and the SHA-256 of its weights, as `sha256sum model.safetensors` gives
 * it. */
import { isWeights } from '../../heed/weights.js'
import { blobAt, sha256 } from './demo_files.js'
/** @import {PageSource} from '../../../types/pages.js' */

/* What is larger is not hashed: the browser wants the whole file in memory for it. */
const hashAtMost = 1 << 30
/** @type {WeakMap<object, Promise<Record<string, string | null>>>} */
const hashes = new WeakMap()

/**
 * The SHA-256 of a Blob or of what is at an address, null where it is too large.
 * @param {Blob | URL} value
 */
export async function digest(value) {
  const blob = value instanceof Blob ? value : await blobAt(value)
  return blob.size > hashAtMost ? null : sha256(blob)
}

/**
 * The files [name, file] of a model's source: { weights }, files, or blobs by name.
 * @param {any} source PageSource
 * @returns {[name: string, file: any][]}
 */
export function filesOf(source) {
  if (source.weights) return [['model.safetensors', source.weights]]
  return typeof source[Symbol.iterator] === 'function'
    ? [...source].map((/** @type {File} */ file) => [file.name, file])
    : Object.entries(source)
}

/**
 * Those of them that hold weights.
 * @param {PageSource} source
 */
export const weightsOf = (source) => filesOf(source).filter(([name]) => isWeights(name))

/**
 * { name: SHA-256 } of a model's weight files; null for a file that is too large.
 * @param {PageSource} source
 * @returns {Promise<Record<string, string | null>>}
 */
export function hashesOf(source) {
  if (!hashes.has(source))
    hashes.set(
      source,
      Promise.all(weightsOf(source).map(async ([name, value]) => [name, await digest(value)])).then(
        Object.fromEntries
      )
    )
  return /** @type {Promise<Record<string, string | null>>} */ (hashes.get(source))
}
