/* The files of a model and the SHA-256 of its weights, as `sha256sum model.safetensors` gives
 * it. */
import { isWeights } from '../heed/weights.js'
import { blobAt, sha256 } from './demo_files.js'
import type { PageSource } from './types.js'

/* What is larger is not hashed: the browser wants the whole file in memory for it. */
const hashAtMost = 1 << 30
const hashes: WeakMap<object, Promise<Record<string, string | null>>> = new WeakMap()

/** The SHA-256 of a Blob or of what is at an address, null where it is too large. */
export async function digest(value: Blob | URL) {
  const blob = value instanceof Blob ? value : await blobAt(value)
  return blob.size > hashAtMost ? null : sha256(blob)
}

/**
 * The files [name, file] of a model's source: { weights }, files, or blobs by name.
 * @param source PageSource
 */
export function filesOf(source: any): [name: string, file: any][] {
  if (source.weights) return [['model.safetensors', source.weights]]
  return typeof source[Symbol.iterator] === 'function'
    ? [...source].map((file: File) => [file.name, file])
    : Object.entries(source)
}

/** Those of them that hold weights. */
export const weightsOf = (source: PageSource) => filesOf(source).filter(([name]) => isWeights(name))

/** { name: SHA-256 } of a model's weight files; null for a file that is too large. */
export function hashesOf(source: PageSource): Promise<Record<string, string | null>> {
  if (!hashes.has(source))
    hashes.set(
      source,
      Promise.all(weightsOf(source).map(async ([name, value]) => [name, await digest(value)])).then(
        Object.fromEntries
      )
    )
  return hashes.get(source) as Promise<Record<string, string | null>>
}
