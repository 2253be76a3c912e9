/* <attention-map>, 'heed/element': one map over a picture. The import defines the element.
 *
 *   <script type="module">import 'heed/element'</script>
 *   <attention-map src="cat.jpg" model="models/vit/" layer="11" head="3" query="4,7"></attention-map>
 *
 * Attributes, all optional; a change draws the map again:
 * - src (or image): a picture's address, of another origin where its server allows that by CORS.
 * - scene: a drawn scene of the demo by its seed, where there is no src. Default 159.
 * - model: the address of a model's folder, likewise. Default: the demo model.
 * - hub: model is then a name on a hub, "owner/name"; the hub's address, or empty for Hugging Face's.
 * - device: "wasm" (default) or "webgpu", as in createRuntime. data-device and data-why then say where the
 *   model ran, and why there. With software-adapter the GPU may be software, for tests.
 * - view: "overlay" (default), "map" without the picture, or "rollout" of all layers.
 * - layer: a number; default: the last. head: "mean" (default) or a number.
 * - query: "row,column" of a patch, or "cls" (default).
 * - colours: "cividis" (default), "viridis", "magma", "inferno" or "grey".
 * - end: where the colours end, in times uniform, 1 to the number of tokens, so that elements compare.
 *   Default: the largest weight drawn, or 4.
 * Styles: --attention-mark, the colour around the query; --attention-strength, 0 to 1;
 * --attention-ground, what lies behind the map where there is no picture.
 * Elements of one page and look() share runtimes, and each model is loaded once. */
import type { ColormapName } from './index.js'

export interface AttentionMapEvents {
  /** The row of weights [T] that was drawn. */
  drawn: CustomEvent<Float32Array>
  /** The patch that was pressed. */
  pick: CustomEvent<{ row: number; column: number }>
  error: CustomEvent<Error>
}

/** The attributes, for the types of frameworks' templates. */
export interface AttentionMapAttributes {
  src?: string
  image?: string
  scene?: number | string
  model?: string
  hub?: string
  device?: 'wasm' | 'webgpu'
  'software-adapter'?: boolean | ''
  view?: 'overlay' | 'map' | 'rollout'
  layer?: number | string
  head?: number | string
  query?: string
  colours?: ColormapName
  end?: number | string
}

export interface AttentionMapElement extends HTMLElement {
  addEventListener<K extends keyof AttentionMapEvents>(
    type: K,
    listener: (event: AttentionMapEvents[K]) => unknown,
    options?: boolean | AddEventListenerOptions
  ): void
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions
  ): void
}

/** What the maps' captions say, in English; a page in another language puts its words here. */
export declare const words: {
  rolloutAll: string
  layerHead(layer: number, head: string): string
  layerMean(layer: number): string
  [sentence: string]: unknown
}

declare global {
  interface HTMLElementTagNameMap {
    'attention-map': AttentionMapElement
  }
}
