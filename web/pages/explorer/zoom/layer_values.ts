/* States, queries, keys and values of one layer, of models whose runs do not keep them: a session beside
 * the page's own runs the picture again and keeps these alone. */
import type { Session } from 'heed'
import type { RunnerResult } from '../../shared/types.js'
import type { Page } from '../types.js'

export type LayerValues = RunnerResult['values']

/** The states that a layer of the zoom shows: before it; of the first layer, after it. */
export const statesOf = (layer: number) => `layer.${Math.max(0, layer - 1)}.output`

export class LayerRuns {
  #page
  #session = null as Session | null
  #key = [] as unknown[]
  #values = null as LayerValues | null

  constructor(page: Page) {
    this.#page = page
  }

  /** What the row on the stage is made from; null: not known, or not yet. */
  get values(): LayerValues | null {
    const { of, at } = this.#page.drawn
    if (of.values[`layer.${at.layer}.query`]) return of.values
    return this.#key[0] === of && this.#key[1] === at.layer ? this.#values : null
  }

  /** Runs the picture once more where values are wanted and not there. */
  async want(then: () => void) {
    const { engine, drawn, picture } = this.#page,
      { of, at } = drawn,
      { layer } = at
    if (of.values[`layer.${layer}.query`] || engine.only || of.light || layer === 'pool') return
    if (this.#key[0] === of && this.#key[1] === layer) return
    this.close()
    this.#key = [of, layer]
    const [height, width] = engine.size ?? [],
      names = [
        ...['query', 'key', 'value'].map((what) => `layer.${layer}.${what}`),
        statesOf(layer as number)
      ]
    try {
      const session = (this.#session = engine.opened.createSession({
          taps: names,
          ...(engine.size && { height, width })
        })),
        { values } = await session.run(picture.source, { fit: of.fit })
      session.close()
      if (this.#session !== session) return
      this.#session = null
      this.#values = values as LayerValues
      then()
    } catch {
      this.#session = null // a graph has no such values: the stop says that they are not there
    }
  }

  close() {
    this.#session?.close()
    this.#session = null
    this.#values = null
    this.#key = []
  }
}
