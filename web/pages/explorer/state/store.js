/* One state object and who wants to know when it changes. */

/** @import {Store} from '../../../types/pages.js' */

/**
 * @template {object} S
 * @param {S} initial
 * @returns {Store<S>}
 */
export function createStore(initial) {
  let state = Object.freeze({ ...initial })
  /** @type {{keys: string[] | null, listener: (state: Readonly<S>, changed: string[]) => void}[]} */
  const listeners = []
  return {
    get: () => state,
    /** Sets what differs, then tells each listener whose keys are among it: listener(state, changed
     * keys). */
    set(patch) {
      const changed = /** @type {(keyof S & string)[]} */ (Object.keys(patch)).filter(
        (key) => !same(patch[key], state[key])
      )
      if (!changed.length) return
      state = Object.freeze({ ...state, ...patch })
      for (const { keys, listener } of listeners)
        if (!keys || keys.some((key) => /** @type {string[]} */ (changed).includes(key)))
          listener(state, changed)
    },
    /** keys: an array, or nothing for all. */
    on: (keys, listener) =>
      listeners.push({ keys: /** @type {string[] | null} */ (keys), listener })
  }
}

/**
 * @param {unknown} a
 * @param {unknown} b
 */
const same = (a, b) =>
  a === b ||
  (Array.isArray(a) &&
    Array.isArray(b) &&
    a.length === b.length &&
    a.every((entry, i) => entry === b[i]))
