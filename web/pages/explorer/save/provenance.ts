/* Where numbers are from: heed's version, the model with the SHA-256 of its weights, the picture,
 * the settings as in a link, and what was changed in the attention, as options of heed run. What the
 * run had changed and what it saw count, whatever was chosen since. */
import { toHash } from '../state/address.js'
import { optionsOfChanges } from '../state/change_options.js'
import { isChanged } from '../../shared/changes.js'
import { hashesOf } from '../../shared/weight_hashes.js'
import type { PagePicture, PageSource } from '../../shared/types.js'
import type { Runner } from '../../shared/model_runner.js'
import type { Store } from '../types.js'

export async function provenanceOf({
  engine,
  store,
  source,
  picture
}: {
  engine: Runner
  store: Store
  source: PageSource
  picture: PagePicture
}) {
  const { family, parameters } = engine.model,
    { layers, heads } = engine.shape,
    { changes, fit } = engine.result ?? {},
    from = engine.saved?.from
  return {
    heed: engine.info.version,
    model: engine.saved ? 'maps from a file' : family,
    layers,
    heads,
    ...engine.parts?.provenance,
    parameters: parameters ?? null,
    weights_sha256: engine.saved ? null : await hashesOf(source),
    picture: picture.name,
    settings: toHash({ ...store.get(), ...changes, ...(fit ? { fit } : {}) }) || '#',
    device: engine.ranOn,
    ...(fit === 'whole' ? { fit } : {}),
    ...(changes && isChanged(changes)
      ? { changes: optionsOfChanges(changes, engine.shape).flat().join(' ') }
      : {}),
    ...(from ? { from: from.from ?? from, ...(from.changes ? { changes: from.changes } : {}) } : {}) // what was saved, of maps opened from a file
  }
}
