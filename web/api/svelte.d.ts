/* Svelte (3 or later), 'heed/svelte'. A server may import it.
 *
 *   <canvas width="448" use:attentionMap={{ image, model: '/models/vit/', layer: 11, head: 3 }}></canvas> */
import type { DrawOptions, LookImage, LookOptions, LookResult, MapChoice } from './look.js'
import type { AttentionMapAttributes } from './element.js'
import type { Scale } from 'heed/plot'

/** What look(), its map and draw() take. While the picture, model and fit stay the same objects, a change
 * draws another map of the same run. */
export interface CanvasMapOptions
  extends MapChoice,
    DrawOptions,
    Pick<LookOptions, 'model' | 'hub' | 'fit'> {
  /** null: nothing is drawn. */
  image: LookImage | null | undefined
  /** The map was drawn: its sentence, which is also the canvas's label, the scale of its colours, and the run. */
  onDrawn?: (drawn: { caption: string; scale: Scale; result: LookResult }) => unknown
  onError?: (error: Error) => unknown
}

/** An action of a <canvas>. */
export function attentionMap(
  canvas: HTMLCanvasElement,
  options: CanvasMapOptions
): { update(options: CanvasMapOptions): void; destroy(): void }

declare global {
  namespace svelteHTML {
    interface IntrinsicElements {
      'attention-map': AttentionMapAttributes & { [name: string]: unknown }
    }
  }
}
