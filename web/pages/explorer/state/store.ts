/* One state object and who wants to know when it changes. */

import type { Store } from '../types.js'

export function createStore<S extends object>(initial: S): Store<S> {
  let state = Object.freeze({ ...initial })
  const listeners: {
    keys: string[] | null
    listener: (state: Readonly<S>, changed: string[]) => void
  }[] = []
  function tell(changed: string[]) {
    for (const { keys, listener } of listeners)
      if (!keys || keys.some((key) => changed.includes(key))) listener(state, changed)
  }
  return {
    get: () => state,
    /** Sets what differs, then tells each listener whose keys are among it: listener(state, changed
     * keys). */
    set(patch) {
      const changed = (Object.keys(patch) as (keyof S & string)[]).filter(
        (key) => !same(patch[key], state[key])
      )
      if (!changed.length) return
      state = Object.freeze({ ...state, ...patch })
      tell(changed)
    },
    /** Tells each listener whose keys have the event. */
    tell: (event) => tell([event]),
    /** keys: an array, or nothing for all. */
    on: (keys, listener) => listeners.push({ keys: keys as string[] | null, listener })
  }
}

const same = (a: unknown, b: unknown) =>
  a === b ||
  (Array.isArray(a) &&
    Array.isArray(b) &&
    a.length === b.length &&
    a.every((entry, i) => entry === b[i]))
