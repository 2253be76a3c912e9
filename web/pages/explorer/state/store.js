/* One state object and who wants to know when it changes. */

export function createStore(initial) {
  let state = Object.freeze({ ...initial })
  const listeners = []
  return {
    get: () => state,
    /** Sets what differs, then tells each listener whose keys are among it: listener(state, changed
     * keys). */
    set(patch) {
      const changed = Object.keys(patch).filter((key) => !same(patch[key], state[key]))
      if (!changed.length) return
      state = Object.freeze({ ...state, ...patch })
      for (const { keys, listener } of listeners)
        if (!keys || keys.some((key) => changed.includes(key))) listener(state, changed)
    },
    /** keys: an array, or nothing for all. */
    on: (keys, listener) => listeners.push({ keys, listener })
  }
}

const same = (a, b) =>
  a === b ||
  (Array.isArray(a) &&
    Array.isArray(b) &&
    a.length === b.length &&
    a.every((entry, i) => entry === b[i]))
