/* What is changed in the model's attention, as a session with `intervene` takes it: heads taken out, patches that nobody looks at, pairs
 * of tokens that are cut, a temperature; what a head gives taken by a share. Heads are "layer.head", patches numbers in raster order, cuts
 * "query.key" (tokens), gains "layer.head.percent". */

/** How a head is taken out: what stands in its place. */
export const replacements = { zero: 'zeros', mean: 'its mean over the tokens', uniform: 'equal attention to all' }

export const unchanged = Object.freeze({ off: [], how: 'zero', temperature: 1, dropped: [], cuts: [], gains: [] })
export const keysOfChanges = Object.keys(unchanged)

export const isChanged = ({ off, temperature, dropped, cuts, gains = [] }) => off.length + dropped.length + cuts.length + gains.length > 0 || temperature !== 1

/** In words, for titles: "" where nothing is changed. */
export function wordsOfChanges({ off = [], how, temperature = 1, dropped = [], cuts = [], gains = [] }) {
  const several = (count, one) => `${count} ${one}${count === 1 ? '' : 's'}`
  return [
    off.length && `without ${off.length > 3 ? `${off.length} heads` : off.join(', ')}${how === 'zero' || !how ? '' : ` (${how})`}`,
    dropped.length && `${several(dropped.length, 'patch').replace('patchs', 'patches')} dropped`, cuts.length && `${several(cuts.length, 'pair')} cut`,
    gains.length && (gains.length > 2 ? `${gains.length} heads by a share` : gains.map((gain) => gain.replace(/^(\d+\.\d+)\.(\d+)$/, 'head $1 at $2 %')).join(', ')),
    temperature !== 1 && `temperature ${temperature}`
  ].filter(Boolean).map((text) => `, ${text}`).join('')
}

/** Those of the changes that a model of this shape has. */
export function changesWithin({ off, dropped, cuts, gains = [] }, { layers, heads, tokens, rows, columns }) {
  const isHead = (text) => { const [layer, head] = text.split('.'); return layer < layers && head < heads }
  return { off: off.filter(isHead), gains: gains.filter(isHead), dropped: dropped.filter((patch) => patch < rows * columns), cuts: cuts.filter((pair) => pair.split('.').every((token) => token < tokens)) }
}

/** As options of heed run, [name, value]; what the model has not is left out. */
export function optionsOfChanges({ how, temperature, ...changes }, shape) {
  const { off, dropped, cuts, gains } = changesWithin(changes, shape), { columns } = shape
  return Object.entries({
    ablate: off.join(), replace: off.length && how !== 'zero' ? how : '', gain: gains.map((text) => text.replace(/\.(\d+)$/, (_, percent) => `=${percent / 100}`)).join(),
    drop: dropped.map((patch) => `${Math.floor(patch / columns)},${patch % columns}`).join(';'),
    cut: cuts.join(), temperature: temperature === 1 ? '' : temperature
  }).filter(([, value]) => value !== '').map(([name, value]) => [`--${name}`, String(value)])
}

/** The inputs [name, data] of heed_build_desc's `intervene` for these changes. means(layer): what the heads of a layer give on average,
 * [C], asked for where a head's mean stands in for it. */
export function inputsOf({ off, how, dropped, cuts, gains = [] }, { layers, heads, tokens, prefixTokens, width }, means) {
  const seen = new Uint8Array(tokens).fill(1), size = tokens * tokens, depth = width / heads
  for (const patch of dropped) seen[prefixTokens + patch] = 0
  const inputs = [['token_mask', seen]]
  for (let layer = 0; layer < layers; layer++) {
    const mask = new Uint8Array(heads * size).fill(1), offset = new Float32Array(width), gain = new Float32Array(heads).fill(1)
    for (let head = 0; head < heads; head++) {
      for (const cut of cuts) {
        const [query, key] = cut.split('.').map(Number)
        if (query < tokens && key < tokens) mask[head * size + query * tokens + key] = 0
      }
      if (!off.includes(`${layer}.${head}`)) continue
      mask.fill(0, head * size, (head + 1) * size)
      if (how === 'mean') offset.set(means(layer).subarray(head * depth, (head + 1) * depth), head * depth)
    }
    for (const text of gains) {
      const [of, head, percent] = text.split('.').map(Number)
      if (of === layer && head < heads) gain[head] = percent / 100
    }
    for (const [what, data] of Object.entries({ mask, offset, gain })) inputs.push([`layer.${layer}.attention.${what}`, data])
  }
  return inputs
}

/** Whether the masks of a layer keep this head's query from this key. */
export function barredBy({ off, dropped, cuts }, layer, prefixTokens) {
  const keys = new Set(dropped.map((patch) => patch + prefixTokens)), pairs = new Set(cuts), heads = new Set(off)
  return (head, query, key) => keys.has(key) || pairs.has(`${query}.${key}`) || heads.has(`${layer}.${head}`)
}

/** [T, C] -> the mean over tokens, [C]. */
export function meanOverTokens(states, width) {
  const mean = new Float64Array(width), tokens = states.length / width
  for (let i = 0; i < states.length; i++) mean[i % width] += states[i] / tokens
  return Float32Array.from(mean)
}
