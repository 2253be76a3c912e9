/* The brush of the matrix: pairs are painted that may not attend, in all heads. */
import type { Field } from '../../../shared/types.js'
import type { Page } from '../../types.js'

/** Pairs painted that may not attend. A stroke goes on as its first pair began: blocking pairs, or
 * freeing them. */
export class MatrixBrush {
  store
  engine
  field
  /** true while a stroke blocks pairs, false while it frees them */
  blocking: boolean | null = null

  /** @param field its size, 0: none */
  constructor({ store, engine }: Page, field: Field) {
    this.store = store
    this.engine = engine
    this.field = field
  }

  get size() {
    return this.engine.canChange ? Number(this.field.value) : 0
  }

  /** The pairs under the brush, which ends at the matrix's edge, as "query.key". */
  pairsUnder([query, key]: [query: number, key: number], tokens: number) {
    const { size } = this,
      first = (at: number) => Math.max(0, at - ((size - 1) >> 1))
    return Array.from({ length: size * size }, (_, i) => [
      first(query) + Math.floor(i / size),
      first(key) + (i % size)
    ])
      .filter((pair) => pair.every((at) => at < tokens))
      .map((pair) => pair.join('.'))
  }

  /** Returns whether there is a brush. */
  begin(pair: [query: number, key: number], tokens: number) {
    if (!this.size) return false
    this.blocking = !this.store.get().cuts.includes(pair.join('.'))
    this.paint(pair, tokens)
    return true
  }

  paint(pair: [query: number, key: number], tokens: number) {
    if (this.blocking === null || !this.size) return
    const { cuts } = this.store.get(),
      pairs = this.pairsUnder(pair, tokens)
    this.store.set({
      cuts: this.blocking
        ? [...new Set([...cuts, ...pairs])].sort()
        : cuts.filter((pair) => !pairs.includes(pair))
    })
  }

  end() {
    this.blocking = null
  }
}
