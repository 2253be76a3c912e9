/* React around the element and look(); see react.d.ts. React is the caller's. */
import { createElement, useEffect, useRef, useState } from 'react'
/** @import {AttentionMapProps, LookState} from './react.js' */
/** @import {LookImage, LookOptions} from './look.js' */

/** @param {AttentionMapProps} props */
export function AttentionMap({ onDrawn, onPick, onError, query, className, ...attributes }) {
  const place = /** @type {import('react').RefObject<HTMLElement | null>} */ (useRef(null))
  useEffect(() => {
    import('./element.js') // no element where there is no document
  }, [])
  useEffect(() => {
    const listeners = /** @type {[string, ((detail: any) => unknown) | undefined][]} */ ([
        ['drawn', onDrawn],
        ['pick', onPick],
        ['error', onError]
      ]),
      stop = new AbortController(),
      { signal } = stop
    for (const [name, tell] of listeners)
      if (tell)
        place.current?.addEventListener(
          name,
          (event) => tell(/** @type {CustomEvent} */ (event).detail),
          { signal }
        )
    return () => stop.abort()
  }, [onDrawn, onPick, onError])
  return createElement('attention-map', {
    ...attributes,
    ...(className && { class: className }),
    ...(query !== undefined && { query: Array.isArray(query) ? query.join(',') : query }),
    ref: place
  })
}

/**
 * @param {LookImage | null | undefined} image
 * @param {LookOptions} options
 * @returns {LookState}
 */
export function useLook(image, { model, fit }) {
  const [state, setState] = useState(/** @type {LookState} */ ({ pending: !!image }))
  useEffect(() => {
    if (!image) return setState({ pending: false })
    const stop = new AbortController()
    setState({ pending: true })
    import('./look.js')
      .then(({ look }) => look(image, { model, fit, signal: stop.signal }))
      .then(
        (result) => stop.signal.aborted || setState({ pending: false, result }),
        (error) => stop.signal.aborted || setState({ pending: false, error })
      )
    return () => stop.abort()
  }, [image, model, fit])
  return state
}
