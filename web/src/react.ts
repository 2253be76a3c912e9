/* React around the element and look(); see react.d.ts. React is the caller's. */
import { createElement, useEffect, useRef, useState } from 'react'
import type { AttentionMapProps, LookState } from 'heed/react'
import type { LookImage, LookOptions } from 'heed/look'

export function AttentionMap({
  onDrawn,
  onPick,
  onError,
  query,
  className,
  ...attributes
}: AttentionMapProps) {
  const place = useRef(null) as import('react').RefObject<HTMLElement | null>
  useEffect(() => {
    import('./element.js') // no element where there is no document
  }, [])
  useEffect(() => {
    const listeners = [
        ['drawn', onDrawn],
        ['pick', onPick],
        ['error', onError]
      ] as [string, ((detail: any) => unknown) | undefined][],
      stop = new AbortController(),
      { signal } = stop
    for (const [name, tell] of listeners)
      if (tell)
        place.current?.addEventListener(name, (event) => tell((event as CustomEvent).detail), {
          signal
        })
    return () => stop.abort()
  }, [onDrawn, onPick, onError])
  return createElement('attention-map', {
    ...attributes,
    ...(className && { class: className }),
    ...(query !== undefined && { query: Array.isArray(query) ? query.join(',') : query }),
    ref: place
  })
}

export function useLook(
  image: LookImage | null | undefined,
  { model, hub, fit }: Pick<LookOptions, 'model' | 'hub' | 'fit'>
): LookState {
  const [state, setState] = useState({ pending: !!image } as LookState)
  useEffect(() => {
    if (!image) return setState({ pending: false })
    const stop = new AbortController()
    setState({ pending: true })
    import('./look.js')
      .then(({ look }) => look(image, { model, hub, fit, signal: stop.signal }))
      .then(
        (result) => stop.signal.aborted || setState({ pending: false, result }),
        (error) => stop.signal.aborted || setState({ pending: false, error })
      )
    return () => stop.abort()
  }, [image, model, hub, fit])
  return state
}
