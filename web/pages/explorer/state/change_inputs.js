/* What is changed in the attention, as the numbers that a session with `intervene` takes. Loaded
 * with the first change. */

/** @import {Changes, Shape} from '../../../types/pages.js' */

/**
 * The inputs [name, data] of heed_build_desc's `intervene` for these changes. means(layer): what
 * the heads of a layer give on average, [C], asked for where a head's mean stands in for it.
 * @param {Changes} changes
 * @param {Shape & {width: number}} shape
 * @param {(layer: number) => Float32Array} means
 * @returns {[name: string, data: Uint8Array | Float32Array][]}
 */
export function inputsOf(
  { off, how, dropped, cuts, gains = [] },
  { layers, heads, tokens, prefixTokens, width },
  means
) {
  const seen = new Uint8Array(tokens).fill(1),
    size = tokens * tokens,
    depth = width / heads
  for (const patch of dropped) seen[prefixTokens + patch] = 0
  /** @type {[name: string, data: Uint8Array | Float32Array][]} */
  const inputs = [['token_mask', seen]]
  for (let layer = 0; layer < layers; layer++) {
    const mask = new Uint8Array(heads * size).fill(1),
      offset = new Float32Array(width),
      gain = new Float32Array(heads).fill(1)
    for (let head = 0; head < heads; head++) {
      for (const cut of cuts) {
        const [query, key] = cut.split('.').map(Number)
        if (query < tokens && key < tokens) mask[head * size + query * tokens + key] = 0
      }
      if (!off.includes(`${layer}.${head}`)) continue
      mask.fill(0, head * size, (head + 1) * size)
      if (how === 'mean')
        offset.set(means(layer).subarray(head * depth, (head + 1) * depth), head * depth)
    }
    for (const text of gains) {
      const [of, head, percent] = text.split('.').map(Number)
      if (of === layer && head < heads) gain[head] = percent / 100
    }
    for (const [what, data] of Object.entries({ mask, offset, gain }))
      inputs.push([`layer.${layer}.attention.${what}`, data])
  }
  return inputs
}

/**
 * [T, C] -> the mean over tokens, [C].
 * @param {Float32Array} states
 * @param {number} width
 */
export function meanOverTokens(states, width) {
  const mean = new Float64Array(width),
    tokens = states.length / width
  for (let i = 0; i < states.length; i++) mean[i % width] += states[i] / tokens
  return Float32Array.from(mean)
}
