/* Where numbers are from: heed's version, the model with the SHA-256 of its weights (as `sha256sum model.safetensors` gives it), the picture,
 * the settings as in a link, and what was changed in the attention, as options of heed run. */
import { toHash } from './address.js'
import { isChanged, optionsOfChanges } from './changes.js'
import { blobAt, sha256 } from './demo_files.js'

/* What is larger is not hashed: the browser wants the whole file in memory for it. */
const hashAtMost = 1 << 30
const hashes = new WeakMap()

/** The SHA-256 of a Blob or of what is at an address, null where it is too large. */
export async function digest(value) {
  const blob = value instanceof Blob ? value : await blobAt(value)
  return blob.size > hashAtMost ? null : sha256(blob)
}

/** The files [name, file] of a model's source: { weights }, files, or blobs by name. */
export function filesOf(source) {
  if (source.weights) return [['model.safetensors', source.weights]]
  return typeof source[Symbol.iterator] === 'function' ? [...source].map((file) => [file.name, file]) : Object.entries(source)
}

/** Those of them that hold weights. */
export const weightsOf = (source) => filesOf(source).filter(([name]) => name.endsWith('.safetensors'))

/** { name: SHA-256 } of a model's weight files; null for a file that is too large. */
export function hashesOf(source) {
  if (!hashes.has(source)) hashes.set(source, Promise.all(weightsOf(source).map(async ([name, value]) => [name, await digest(value)])).then(Object.fromEntries))
  return hashes.get(source)
}

export async function provenanceOf({ engine, store, source, picture }) {
  const { family, parameters } = engine.model, { layers, heads } = engine.shape, { changes, fit } = engine.result ?? {}, from = engine.saved?.from
  return {
    heed: engine.info.version, model: engine.saved ? 'maps from a file' : family, layers, heads, parameters: parameters ?? null, weights_sha256: engine.saved ? null : await hashesOf(source),
    picture: picture.name, settings: toHash(store.get()) || '#', device: engine.info.device,
    ...(fit === 'whole' ? { fit } : {}), ...(changes && isChanged(changes) ? { changes: optionsOfChanges(changes, engine.shape).flat().join(' ') } : {}),
    ...(from ? { from: from.from ?? from, ...(from.changes ? { changes: from.changes } : {}) } : {}) // what was saved, of maps opened from a file
  }
}

/** One line. */
export function provenanceText({ heed, model, layers, heads, weights_sha256: sums, picture, settings, changes }) {
  const sum = Object.values(sums ?? {}).map((text) => text?.slice(0, 16)).join('+')
  return `heed ${heed}, ${model} ${layers} x ${heads}${sum ? `, weights sha256 ${sum}` : ''}, ${picture}, ${settings}${changes ? `, changed: ${changes}` : ''}`
}
