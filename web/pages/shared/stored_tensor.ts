/* A tensor of the model's own files, by what the model reads it as. */
import { readSafetensorsHeader, readTensor } from './array_files.js'
import { weightsOf } from './weight_hashes.js'
import type { PageSource } from './types.js'
import type { TensorUse } from 'heed'

/** Of a .safetensors file, in float; null where none has a tensor of that role. */
export async function storedTensor(
  source: PageSource,
  tensors: TensorUse[],
  role: string
): Promise<{ shape: number[]; data: Float32Array } | null> {
  const use = tensors.find((tensor) => tensor.role === role)
  if (!use || !/^(B?F\d|I8)/.test(use.dtype)) return null
  for (const [file, value] of weightsOf(source)) {
    if (!file.endsWith('.safetensors')) continue
    const blob =
        value instanceof Blob
          ? value
          : await (
              await fetch(value, { cache: 'force-cache' /* it was fetched for the runtime */ })
            ).blob(),
      read = await readSafetensorsHeader(blob as File)
    if (Object.hasOwn(read.header, use.name)) return readTensor(blob as File, read, use.name)
  }
  return null
}
