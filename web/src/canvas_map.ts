/* A canvas that shows a map and follows its options: what the adapters for frameworks have in common.
 * look() is loaded with the first map, so that a server may import this. */
import type { CanvasMapOptions } from 'heed/svelte'
import type { LookImage, LookResult } from 'heed/look'

/** Whether the model need not see the picture again. */
const isSame = (a: CanvasMapOptions | undefined, b: CanvasMapOptions) =>
  a !== undefined &&
  a.image === b.image &&
  a.model === b.model &&
  a.hub === b.hub &&
  a.fit === b.fit

export class CanvasMap {
  #canvas
  #before: CanvasMapOptions | undefined
  #seen: Promise<LookResult> | undefined
  #stop = new AbortController()
  #turn = 0
  constructor(canvas: HTMLCanvasElement, options: CanvasMapOptions) {
    this.#canvas = canvas
    this.update(options)
  }

  async #see({ image, model, hub, fit }: CanvasMapOptions): Promise<LookResult> {
    this.#stop.abort()
    this.#stop = new AbortController()
    const { signal } = this.#stop,
      { look } = await import('./look.js')
    return look(image as LookImage, { model, hub, fit, signal })
  }

  async #map(options: CanvasMapOptions) {
    const { layer, head, query, colours, style, strength } = options,
      result = await (this.#seen as Promise<LookResult>),
      map = result.map({ layer, head, query })
    await map.row()
    return { result, draw: () => map.draw(this.#canvas, { colours, style, strength }) }
  }

  async #draw(options: CanvasMapOptions) {
    const kept = this.#seen !== undefined && isSame(this.#before, options)
    this.#before = options
    if (!kept) this.#seen = this.#see(options)
    const mine = ++this.#turn
    try {
      const made = await this.#map(options).catch((error) => {
        if (!kept || mine !== this.#turn) throw error
        this.#seen = this.#see(options) // the model has seen another picture since
        return this.#map(options)
      })
      if (mine !== this.#turn) return
      const drawn = await made.draw()
      this.#canvas.setAttribute('role', 'img')
      this.#canvas.setAttribute('aria-label', drawn.caption)
      options.onDrawn?.({ ...drawn, result: made.result })
    } catch (error) {
      if (mine === this.#turn) options.onError?.(error as Error)
    }
  }

  update(options: CanvasMapOptions) {
    if (options.image) this.#draw(options)
    else this.destroy()
  }

  destroy() {
    this.#turn++
    this.#seen = undefined
    this.#stop.abort()
  }
}
