/* How weights become colours. One scale serves a whole figure, and its ends are written beside it: never a silent minimum-maximum.
 * A scale maps a weight to 0..1; `own` is the largest weight of the map that the weight is from, which only the kind 'own' looks at. */

export const scaleKinds = {
  uniform: '× uniform',
  share: '% of the row',
  log: '× uniform, logarithmic',
  own: 'share of each map’s largest',
  all: '× uniform, to all heads’ largest'
}

/** 1, 2, 2.5 or 5 times a power of ten, so that about `steps` of them reach `top`. */
export function stepTo(top, steps = 4) {
  const raw = top / steps, power = 10 ** Math.floor(Math.log10(raw))
  return power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw * 0.999)
}

const text = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3))))

function linear(kind, top, unit) {
  const step = stepTo(top), ticks = []
  for (let value = 0; value < top * 0.88; value += step) ticks.push({ at: value / top, text: text(value) + unit })
  ticks.push({ at: 1, text: text(top) + unit })
  return { kind, label: scaleKinds[kind], top, ticks }
}

/** tokens: N of the row; largest: the largest weight of all maps in the figure, for the kind 'all' that of every head and layer. */
export function makeScale(kind, { tokens, largest }) {
  const top = largest > 0 ? largest : 1 / tokens
  if (kind === 'own') return { ...linear('own', 1, ''), position: (weight, own = top) => weight / Math.max(own, 1e-12) }
  if (kind === 'share') return { ...linear('share', top * 100, ' %'), position: (weight) => weight / top }
  if (kind === 'log') return logarithmic(tokens, top)
  return { ...linear(kind === 'all' ? 'all' : 'uniform', top * tokens, ''), position: (weight) => weight / top }
}

/* From a hundredth of uniform to the largest weight. */
function logarithmic(tokens, largest) {
  const low = Math.log10(0.01), high = Math.max(Math.log10(largest * tokens), low + 1), ticks = []
  for (let power = Math.ceil(low); power < high - 0.1; power++) ticks.push({ at: (power - low) / (high - low), text: text(10 ** power) })
  ticks.push({ at: 1, text: text(10 ** high) })
  const position = (weight) => Math.max(0, (Math.log10(Math.max(weight * tokens, 1e-12)) - low) / (high - low))
  return { kind: 'log', label: scaleKinds.log, top: 10 ** high, ticks, position }
}

/** Numbers from 0 up that are no shares. */
export const plainScale = (label, largest) => { const top = largest > 0 ? largest : 1; return { ...linear('plain', top, ''), numbers: true, label, position: (value) => value / top } }

/** Scores of both signs: zero in the middle, both ends as far from it as the largest; for a diverging table. -Infinity has no place. */
export function signedScale(label, largest) {
  const end = largest > 0 ? largest : 1, ticks = [-1, -0.5, 0, 0.5, 1].map((share) => ({ at: (share + 1) / 2, text: text(share * end) }))
  return { kind: 'signed', signed: true, numbers: true, label, top: end, ticks, position: (value) => (value === -Infinity ? NaN : value / (2 * end) + 0.5) }
}
