/* What session.explain makes of the states of patches: heed_patches_pca and its like. */
import type { ModuleMemory } from './module_memory.js'
import type { PatchStates } from '../types/library.js'
import type { Explanation } from 'heed'

const sizeOf = (shape: number[]) => shape.reduce((product, dim) => product * dim, 1)

function pca(module: ModuleMemory, { states, rows, columns, channels }: PatchStates) {
  const patches = rows * columns,
    shapes: [keyof Explanation, number[]][] = [
      ['pca.mean', [channels]],
      ['pca.components', [3, channels]],
      ['pca.variance', [3]],
      ['pca.scores', [patches, 3]],
      ['pca.colours', [3, channels]],
      ['pca.rgb', [patches, 3]]
    ],
    count = shapes.reduce((sum, [, shape]) => sum + sizeOf(shape), 0),
    found: Explanation = {}
  module.lend(
    [states, new Float32Array(count), new Uint8Array(patches)],
    (at, numbers, foreground) => {
      module.check(
        module.exports.patches_pca(module.web, at, rows, columns, channels, numbers, foreground)
      )
      for (const [name, shape] of shapes) {
        found[name] = module.tensor(module.code('dtype', 'f32'), shape, numbers)
        numbers += 4 * sizeOf(shape)
      }
      found['pca.foreground'] = module.tensor(module.code('dtype', 'u8'), [patches], foreground)
    }
  )
  return found
}

/** @param other the patches of a second picture, whose grid may be another */
function cosines(module: ModuleMemory, own: PatchStates, other?: PatchStates) {
  const count = own.rows * own.columns,
    others = other ? other.rows * other.columns : count,
    found: Explanation = {}
  module.lend(
    [
      own.states,
      new Float32Array(count * others),
      new Int32Array(count),
      ...(other ? [other.states] : [])
    ],
    (at, similarity, match, otherAt = 0) => {
      module.check(
        module.exports.patches_similarity(
          ...[module.web, at, count, otherAt, others, own.channels, similarity, match]
        )
      )
      const tensor = module.tensor(module.code('dtype', 'f32'), [count, others], similarity)
      if (!other) found.similarity = tensor
      else {
        found['similarity.source'] = tensor
        found.match = module.tensor(module.code('dtype', 'i32'), [count], match)
      }
    }
  )
  return found
}

function clustersOf(
  module: ModuleMemory,
  { states, rows, columns, channels }: PatchStates,
  count: number
) {
  const patches = rows * columns,
    found: Explanation = {}
  module.lend(
    [states, new Int32Array(patches), new Float32Array(count * channels)],
    (at, cluster, centres) => {
      module.check(
        module.exports.patches_cluster(module.web, at, patches, channels, count, cluster, centres)
      )
      found.kmeans = module.tensor(module.code('dtype', 'i32'), [patches], cluster)
      found['kmeans.centres'] = module.tensor(
        module.code('dtype', 'f32'),
        [count, channels],
        centres
      )
    }
  )
  return found
}

/** The methods of session.explain, by name. clusters: of kmeans. */
export const methods: Record<
  string,
  (
    module: ModuleMemory,
    own: PatchStates,
    other: PatchStates | undefined,
    clusters: number
  ) => Explanation
> = {
  pca,
  kmeans: (module, own, _other, clusters) => clustersOf(module, own, clusters),
  similarity: (module, own, other) => ({
    ...cosines(module, own),
    ...(other && cosines(module, own, other))
  })
}
