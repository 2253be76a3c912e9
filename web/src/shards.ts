/* Which files a sharded model's index names, by the rule of runtime/model/files/checkpoint.c: plain names
 * alone, so that none leads out of the model's folder. A drive or a stream ("C:name") leads out of
 * one too, and what no address can hold is no name. */
import { HeedError, said } from './error.js'

export const indexName = 'model.safetensors.index.json'

const bytesMost = 64 << 20,
  shardsMost = 512,
  plain = /^[^/\\:\p{Cc}\p{Cs}]+\.(\w+)$/u

/**
 * size: of the index in bytes; read() gives them. Returns the names, each once; throws
 * INVALID_FILE where one is not plain, or there are none or too many.
 * @param name the index's
 */
export function shardsOf(size: number, read: () => Uint8Array, name: string): string[] {
  const kind = name.split('.')[1]
  let map: Record<string, string> | false | undefined,
    found = `${size} bytes`
  try {
    map = size <= bytesMost && JSON.parse((found = new TextDecoder().decode(read()))).weight_map
  } catch {
    /* found is what is no JSON */
  }
  const names = [...new Set(Object.values(map || {}))],
    odd = names.findIndex((file) => typeof file !== 'string' || plain.exec(file)?.[1] !== kind)
  if (names.length && names.length <= shardsMost && odd < 0) return names
  throw new HeedError(
    'INVALID_FILE',
    `${name}: weight_map is not valid (found ${said(odd < 0 ? names.length || map || found : names[odd])}, expected 1 to ${shardsMost} files NAME.${kind})`
  )
}
