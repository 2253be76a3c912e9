/* Definitions of heed.h over plain arrays, in C: heed-explain.wasm, whose calls return at once.
 * Loaded with the first that asks. */

/**
 * @typedef {typeof import('../../src/module.js')} Library heed/module.js
 * @typedef {{
 *   off: string[], how: string, dropped: number[], cuts: string[], gains?: string[]
 * }} Changes as changes.js has them
 * @typedef {{
 *   layers: number, heads: number, tokens: number, prefixTokens: number, width: number
 * }} Sizes
 */

/** @type {Promise<Explain> | undefined} */
let loading

/**
 * By default, what starts modules and where they lie are the page's.
 * @param {Promise<Library>} [library]
 * @param {URL} [base]
 */
export function loadExplain(library, base) {
  loading ??= start(library, base).catch((error) => {
    loading = undefined
    throw error
  })
  return loading
}

/**
 * @param {Promise<any> | undefined} library
 * @param {URL | undefined} base
 */
async function start(library, base) {
  const { recordAt, recordsOf, startSmall } = /** @type {Library} */ (
      await (library ?? import('../heed/module.js'))
    ),
    instance = await startSmall('heed-explain.wasm', base ?? new URL('heed/', document.baseURI))
  return new Explain(instance, recordsOf, recordAt)
}

class Explain {
  /** @type {Record<string, (...numbers: number[]) => number>} */
  #exports
  #memory
  #web
  #records
  #recordAt

  /**
   * @param {{exports: any, memory: WebAssembly.Memory, web: number}} instance
   * @param {Library['recordsOf']} recordsOf
   * @param {Library['recordAt']} recordAt
   */
  constructor({ exports, memory, web }, recordsOf, recordAt) {
    this.#exports = exports
    this.#memory = memory
    this.#web = web
    this.#recordAt = recordAt
    this.#records = recordsOf(this.#string(exports.records()))
  }

  /** @param {number} at */
  #string(at) {
    const all = new Uint8Array(this.#memory.buffer)
    return new TextDecoder().decode(all.subarray(at, all.indexOf(0, at)))
  }

  /** @param {string} record */
  #out(record) {
    return this.#recordAt(this.#records[record], this.#memory, this.#exports.out(this.#web))
  }

  /** @param {number} status */
  #check(status) {
    if (status !== 0) throw new Error(this.#string(this.#exports.message(this.#web)))
  }

  /** @param {number} bytes */
  #alloc(bytes) {
    const at = this.#exports.alloc(this.#web, bytes)
    if (!at) this.#check(this.#exports.status(this.#web))
    return at
  }

  /**
   * Calls use(addresses...) with copies of these arrays, and frees them.
   * @template T
   * @param {ArrayBufferView[]} arrays
   * @param {(...addresses: number[]) => T} use
   * @returns {T}
   */
  #lend(arrays, use) {
    /** @type {number[]} */
    const lent = []
    try {
      for (const { buffer, byteOffset, byteLength } of arrays) {
        const at = this.#alloc(byteLength)
        lent.push(at)
        new Uint8Array(this.#memory.buffer, at, byteLength).set(
          new Uint8Array(buffer, byteOffset, byteLength)
        )
      }
      return use(...lent)
    } finally {
      for (const at of lent) this.#exports.free(this.#web, at)
    }
  }

  /**
   * Statistics of one head.
   * @param {Float32Array} attention [N, N]
   * @param {{prefixTokens: number, rows: number, columns: number}} shape
   * @param {number} patch the side of a patch, the unit of distances
   * @returns {import('../../src/index.js').HeadStatistics}
   */
  statistics(attention, { prefixTokens, rows, columns }, patch) {
    return this.#lend([attention], (at) => {
      this.#exports.map_statistics(this.#web, at, prefixTokens, rows, columns, patch)
      return this.#out('statistics')
    })
  }

  /**
   * One layer of one row of the rollout, from the last layer back: the row times the layer's matrix.
   * @param {Float64Array} row [N]
   * @param {Float32Array} layer [H, N, N]
   * @param {number} heads
   * @param {{fusion: string, residual: number, discard?: number}} how
   */
  rolloutBack(row, layer, heads, { fusion, residual, discard = 0 }) {
    return this.#lend([layer, row], (layerAt, rowAt) => {
      this.#check(
        this.#exports.map_rollout_back(
          this.#web,
          layerAt,
          heads,
          row.length,
          this.#records.fusion.indexOf(fusion),
          residual,
          discard,
          rowAt
        )
      )
      return new Float64Array(this.#memory.buffer, rowAt, row.length).slice()
    })
  }

  /**
   * The inputs [name, bytes] of a session with `intervene` for these changes.
   * @param {Changes} changes
   * @param {Sizes} sizes
   * @param {(layer: number) => Float32Array} means what the heads of a layer give, [T, C]; asked
   *   for where a head's mean stands in for it
   * @returns {[string, Uint8Array][]}
   */
  inputsOf(changes, { layers, heads, tokens, prefixTokens, width }, means) {
    const web = this.#web,
      e = this.#exports
    this.#check(e.changes_create(web, layers, heads, tokens, width))
    const { address: made } = this.#out('opened')
    try {
      this.#tell(made, changes, prefixTokens, means)
      return this.#lend([new Uint8Array(e.changes_room(made))], (block) => {
        /** @type {[string, Uint8Array][]} */
        const inputs = []
        for (let i = 0; i < e.changes_input(web, made, i, block); i++) {
          const { name, address, bytes } = this.#out('input')
          inputs.push([
            this.#string(name),
            new Uint8Array(this.#memory.buffer, address, bytes).slice()
          ])
        }
        return inputs
      })
    } finally {
      e.changes_destroy(made)
    }
  }

  /**
   * @param {number} made
   * @param {Changes} changes
   * @param {number} prefixTokens
   * @param {(layer: number) => Float32Array} means
   */
  #tell(made, { off, how, dropped, cuts, gains = [] }, prefixTokens, means) {
    const web = this.#web,
      e = this.#exports,
      numbers = (/** @type {string} */ text) => text.split('.').map(Number)
    for (const text of off) {
      const [layer, head] = numbers(text)
      this.#check(e.changes_ablate(web, made, layer, head))
      if (how === 'mean')
        this.#lend([means(layer)], (at) => this.#check(e.changes_replace(web, made, layer, at)))
    }
    for (const patch of dropped) this.#check(e.changes_drop(web, made, prefixTokens + patch))
    for (const [query, key] of cuts.map(numbers)) this.#check(e.changes_cut(web, made, query, key))
    for (const [layer, head, percent] of gains.map(numbers))
      this.#check(e.changes_gain(web, made, layer, head, percent / 100))
  }
}
