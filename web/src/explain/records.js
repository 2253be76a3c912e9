/* What calls of heed-explain.wasm leave beside arrays: records by their names, and sentences. */
import { HeedError } from '../error.js'
import { recordAt, recordsOf } from '../records.js'

/** @typedef {import('../../types/library.js').Instance} Instance */

export class Records {
  #instance
  #records

  /** @param {Instance} instance */
  constructor(instance) {
    this.#instance = instance
    this.#records = recordsOf(this.string(instance.exports.records()))
  }

  /** @param {number} at */
  string(at) {
    const all = new Uint8Array(this.#instance.memory.buffer)
    return new TextDecoder().decode(all.slice(at, all.indexOf(0, at)))
  }

  /** @param {string} record */
  out(record) {
    const { exports, memory, web } = this.#instance
    return recordAt(this.#records[record], memory, exports.out(web))
  }

  /**
   * The number of a choice.
   * @param {string} record
   * @param {string} choice
   */
  code(record, choice) {
    return this.#records[record].indexOf(choice)
  }

  /**
   * The choice of a number.
   * @param {string} record
   * @param {number} code
   */
  choice(record, code) {
    return this.#records[record][code]
  }

  /** @param {number} status */
  check(status) {
    const { exports, web } = this.#instance
    if (status !== 0)
      throw new HeedError(
        /** @type {any} */ (this.string(exports.status_name(status))),
        this.string(exports.message(web))
      )
  }
}
