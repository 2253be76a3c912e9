/* A map as a directive of Vue; see vue.d.ts. */
import { CanvasMap } from './canvas_map.js'
import type { CanvasMapOptions } from 'heed/svelte'

const maps = new WeakMap<HTMLCanvasElement, CanvasMap>()

export const vAttentionMap = {
  mounted(canvas: HTMLCanvasElement, { value }: { value: CanvasMapOptions }) {
    maps.set(canvas, new CanvasMap(canvas, value))
  },
  updated(canvas: HTMLCanvasElement, { value }: { value: CanvasMapOptions }) {
    maps.get(canvas)?.update(value)
  },
  beforeUnmount(canvas: HTMLCanvasElement) {
    maps.get(canvas)?.destroy()
  },
  getSSRProps: () => ({})
}
