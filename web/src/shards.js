/* Which files a sharded model's index names, by the rule of runtime/model/checkpoint.c: plain names alone, so that none leads out of the
 * model's folder. A drive or a stream ("C:name") leads out of one too, and what no address can hold is no name. */
import { HeedError, said } from './error.js'

export const indexName = 'model.safetensors.index.json'
const bytesMost = 64 << 20, shardsMost = 512

const wrong = (what) => new HeedError('INVALID_FILE', `${indexName}: ${what}`)

/** size: of the index; read() gives its bytes. Returns the names, each once; throws INVALID_FILE. */
export function shardsOf(size, read) {
  if (size > bytesMost) throw wrong(`it is too large (found ${size} bytes, expected at most ${bytesMost})`)
  let map
  try {
    map = JSON.parse(new TextDecoder().decode(read()))?.weight_map
  } catch (error) {
    throw error instanceof SyntaxError ? wrong(`it is no JSON (found "${error.message}")`) : error
  }
  const tensors = map && typeof map === 'object' && !Array.isArray(map) ? Object.entries(map) : []
  if (!tensors.length) throw wrong(`it has no weight_map (found ${said(map)}, expected an object with the tensors' files)`)
  for (const [tensor, name] of tensors)
    if (typeof name !== 'string' || !/^[^/\\:\p{Cc}\p{Cs}]+\.safetensors$/u.test(name)) throw wrong(`tensor ${said(tensor)} is not in a plain file (found ${said(name)}, expected "NAME.safetensors")`)
  const names = [...new Set(Object.values(map))]
  if (names.length > shardsMost) throw wrong(`too many files of weights (found ${names.length}, expected at most ${shardsMost})`)
  return names
}
