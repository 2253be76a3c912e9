/* Vue 3, 'heed/vue'. A server may import it.
 *
 *   <script setup>import { vAttentionMap } from 'heed/vue'</script>
 *   <canvas v-attention-map="{ image, model: '/models/vit/', layer: 11, head: 3 }" width="448"></canvas>
 *
 * For the element <attention-map> tell Vue's compiler: isCustomElement: (tag) => tag === 'attention-map'. */
import type { CanvasMapOptions } from './svelte.js'

export type { CanvasMapOptions }

/** A directive of a <canvas>. */
export declare const vAttentionMap: {
  mounted(canvas: HTMLCanvasElement, binding: { value: CanvasMapOptions }): void
  updated(canvas: HTMLCanvasElement, binding: { value: CanvasMapOptions }): void
  beforeUnmount(canvas: HTMLCanvasElement): void
  getSSRProps(): {}
}
