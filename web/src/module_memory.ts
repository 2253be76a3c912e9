/* A module that runs, and what its calls take from its memory and leave in it: blocks, strings,
 * sentences, records of numbers by the names that the module lists. */
import { HeedError } from './error.js'
import type { Instance } from '../types/library.js'
import type { Status, Tensor } from 'heed'

const encoder = new TextEncoder()

const tensorArrays: Record<string, typeof Float32Array | typeof Uint8Array | typeof Int32Array> = {
  f32: Float32Array,
  u8: Uint8Array,
  i32: Int32Array
}

export class ModuleMemory {
  exports
  memory
  /** The address of its runtime. */
  web
  /** "block address count;..." as { block: ['address', 'count'] }. */
  #records: Record<string, string[]>

  /** @param instance one whose status is good */
  constructor(instance: Instance) {
    const { exports, memory, web } = instance
    this.exports = exports
    this.memory = memory
    this.web = web
    this.#records = Object.fromEntries(
      this.string(exports.records())
        .split(';')
        .map((line) => {
          const [name, ...fields] = line.replace(/_./g, ([, c]) => c.toUpperCase()).split(' ')
          return [name, fields]
        })
    )
    this.check(exports.status(web))
  }

  bytes(at: number, count: number) {
    return new Uint8Array(this.memory.buffer, at, count)
  }

  string(at: number) {
    const all = new Uint8Array(this.memory.buffer)
    return new TextDecoder().decode(all.slice(at, all.indexOf(0, at)))
  }

  /** The string at an address; nothing where there is none. */
  text(at: number) {
    return at ? this.string(at) : null
  }

  /** Calls use(address, ...) with each of these texts, which a NUL ends. */
  name<Result>(texts: string[], use: (...addresses: number[]) => Result) {
    return this.lend(
      texts.map((text) => encoder.encode(`${text}\0`)),
      use
    )
  }

  /** Names of a record's numbers, in their order. */
  fields(record: string) {
    return this.#records[record]
  }

  /** The record that the last call left: its numbers by their names; after a rank, the shape. */
  out(record: string): any {
    const { exports, memory, web } = this,
      fields = this.#records[record],
      numbers = new Float64Array(memory.buffer, exports.out(web)),
      found: Record<string, any> = Object.fromEntries(fields.map((field, i) => [field, numbers[i]]))
    if (found.rank >= 0)
      found.shape = [...numbers.subarray(fields.length, fields.length + found.rank)]
    return found
  }

  /** The number of a choice, by which the module knows it. */
  code(record: string, choice: string) {
    return this.#records[record].indexOf(choice)
  }

  /** The choice of a number. */
  choice(record: string, code: number) {
    return this.#records[record][code]
  }

  check(status: number) {
    const { exports, web } = this
    if (status !== 0)
      throw new HeedError(
        this.string(exports.status_name(status)) as Status,
        this.string(exports.message(web))
      )
  }

  alloc(bytes: number) {
    const { exports, web } = this,
      at = exports.alloc(web, bytes)
    if (!at) this.check(exports.status(web))
    return at
  }

  free(at: number) {
    const { exports, web } = this
    exports.free(web, at)
  }

  /** Calls use(addresses...) with copies of these byte arrays in the module, and frees them. */
  lend<Result>(
    arrays: (
      | Uint8Array
      | Float64Array
      | Uint32Array
      | Int32Array
      | Float32Array
      | Uint8ClampedArray
    )[],
    use: (...addresses: number[]) => Result
  ) {
    const lent = []
    try {
      for (const { buffer, byteOffset, byteLength } of arrays) {
        const at = this.alloc(byteLength)
        lent.push(at)
        this.bytes(at, byteLength).set(new Uint8Array(buffer, byteOffset, byteLength))
      }
      return use(...lent)
    } finally {
      for (const at of lent) this.free(at)
    }
  }

  tensor(dtype: number, shape: number[], at: number): Tensor {
    const count = shape.reduce((product, dim) => product * dim, 1),
      array = tensorArrays[this.#records.dtype[dtype]]
    return { shape, data: new array(this.memory.buffer, at, count).slice() }
  }

  /** A block of floats that the module made for us. */
  takeFloats() {
    const { address, count } = this.out('block'),
      floats = new Float32Array(this.memory.buffer, address, count).slice()
    this.free(address)
    return floats
  }
}
