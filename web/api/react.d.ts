/* React (18 or later, the application's own), 'heed/react'. Both work in components that are rendered on
 * a server: they load what needs a browser in effects. */
import type { CSSProperties, DetailedHTMLProps, HTMLAttributes, ReactElement } from 'react'
import type { AttentionMapAttributes, AttentionMapElement } from './element.js'
import type { ColormapName, HeedError } from './index.js'
import type { LookImage, LookOptions, LookResult } from './look.js'

/** The attributes of <attention-map> (element.d.ts), and its events with their details. */
export interface AttentionMapProps {
  src?: string
  scene?: number
  model?: string
  hub?: string
  view?: 'overlay' | 'map' | 'rollout'
  layer?: number
  head?: number | 'mean'
  query?: 'cls' | [row: number, column: number]
  colours?: ColormapName
  end?: number
  className?: string
  style?: CSSProperties
  onDrawn?: (row: Float32Array) => unknown
  onPick?: (patch: { row: number; column: number }) => unknown
  onError?: (error: Error) => unknown
}
export function AttentionMap(props: AttentionMapProps): ReactElement

export interface LookState {
  pending: boolean
  result?: LookResult
  error?: HeedError
}
/** look() as a hook: runs again when the picture, model or fit changes, and cancels the run before. null
 * as picture: nothing runs. `model` is compared by identity: keep objects outside the component. */
export function useLook(
  image: LookImage | null | undefined,
  options: Pick<LookOptions, 'model' | 'hub' | 'fit'>
): LookState

/** The element itself in JSX, once anything of 'heed/react' is imported. */
declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'attention-map': DetailedHTMLProps<HTMLAttributes<AttentionMapElement>, AttentionMapElement> &
        AttentionMapAttributes & { class?: string }
    }
  }
}
