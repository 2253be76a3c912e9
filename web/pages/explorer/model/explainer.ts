/* What explaining views ask of the package: a run of a picture with the states of all layers, and
 * session.explain of that run. The model is the unchanged one. Sessions are made by the first view
 * that asks, one for the picture on the stage and one for a second picture. */
import { say } from '../../languages/say.js'
import type { Explanation, Model, RunResult, Session } from 'heed'
import type { Page } from '../types.js'
import type { PagePicture, PictureSize, PictureSource } from '../../shared/types.js'

/** A picture that was run: `layer.N.output` of all layers among the result's values. */
export interface Seen {
  picture: PagePicture
  session: Session
  result: RunResult
}
type Role = 'own' | 'other'
interface Slot {
  model: Model
  size: PictureSize
  session: Session
  source: PictureSource
  fit: 'model' | 'whole'
  seen: Promise<Seen>
}

export class Explainer {
  #page
  #slots: Partial<Record<Role, Slot>> = {}

  constructor(page: Page) {
    this.#page = page
  }

  #open(role: Role) {
    const { opened: model, size, shape } = this.#page.engine,
      slot = this.#slots[role]
    if (slot?.model === model && slot.size === size) return slot.session
    slot?.session.close()
    const [height, width] = size ?? [],
      taps = model.info.graph
        ? 'none' // it has no states that are explained
        : Array.from({ length: shape.layers }, (_, i) => `layer.${i}.output`)
    return model.createSession({ taps, ...(size && { height, width }) })
  }

  /** The picture as the model sees it; it is run once. 'own': the one on the stage. */
  see(role: Role, picture: PagePicture): Promise<Seen> {
    const { engine } = this.#page
    if (engine.saved) return Promise.reject(new Error(say('explainer.savedMapsHaveNoModel')))
    if (engine.parts) return Promise.reject(new Error(say('parts.only')))
    const { opened: model, size } = engine,
      { fit } = engine.result,
      { source } = picture,
      slot = this.#slots[role]
    if (slot?.model === model && slot.size === size && slot.source === source && slot.fit === fit)
      return slot.seen
    const session = this.#open(role),
      seen = session.run(source, { fit }).then((result) => ({ picture, session, result }))
    this.#slots[role] = { model, size, session, source, fit, seen }
    seen.catch(() => {
      if (this.#slots[role]?.seen === seen) delete this.#slots[role]
    })
    return seen
  }

  /** Of the picture on the stage. */
  async own() {
    return this.see('own', this.#page.picture)
  }

  close() {
    for (const { session } of Object.values(this.#slots)) session.close()
    this.#slots = {}
  }
}

const explainers = new WeakMap<Page, Explainer>()

/** That of a page; its sessions stay for the next view. */
export function explainerOf(page: Page) {
  const found = explainers.get(page) ?? new Explainer(page)
  explainers.set(page, found)
  return found
}

/** The states [N, C] of the patches after a layer. */
export function statesAfter(
  { result }: Seen,
  layer: number,
  { rows, columns }: { rows: number; columns: number }
) {
  const { shape, data } = result.values[`layer.${layer}.output`]
  return (data as Float32Array).subarray(data.length - rows * columns * shape[shape.length - 1])
}

/** The numbers of a tensor that the methods gave. */
export const numbersOf = (found: Explanation, name: keyof Explanation) =>
  found[name]?.data as Float32Array
