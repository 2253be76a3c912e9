/* A map as an action of Svelte; see svelte.d.ts. */
import { CanvasMap } from './canvas_map.js'
import type { CanvasMapOptions } from 'heed/svelte'

export const attentionMap = (canvas: HTMLCanvasElement, options: CanvasMapOptions) =>
  new CanvasMap(canvas, options)
