/* How weights become colours. One scale serves a whole figure, and its ends are written beside it:
 * never a silent minimum-maximum. No scale of weights but 'own' ends below four times uniform, or
 * where somebody locked it below once: what has next to nothing has the colour of nothing.
 * A scale maps a weight to 0..1; `own` is the largest weight of the map that the weight is from,
 * which only the kind 'own' looks at. native/figure/scale.c has the same in C;
 * tests/vectors/scale/cases.json holds both to one table. */
import { scaleKinds } from './caption_words.js'
import { fixed } from './parts/numbers.js'

export { scaleKinds }

/** @import {BarLength, Scale, ScaleKind, Tick} from './index.js' */

/* Where a logarithmic scale begins, as a power of ten of times uniform. */
const low = -2

/**
 * How the bar of a scale is written: `beyond` puts "≥" before its end.
 * @typedef {BarLength & {unit?: string, beyond?: number | boolean}} ScaleBar
 */

/* Characters that a bar has room for where nobody says how long it is: the explorer's on a
 * phone. */
const usual = 40

/**
 * 1, 2, 2.5 or 5 times a power of ten, so that about `steps` of them reach `top`.
 * @param {number} top
 */
export function stepTo(top, steps = 4) {
  const raw = top / steps,
    power = 10 ** Math.floor(Math.log10(raw))
  return (
    power *
    /** @type {number} */ ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw * 0.999))
  )
}

/** @param {number} value */
const text = (value) =>
  Math.abs(value) >= 100 ? fixed(value, 0) : fixed(Number(value.toPrecision(3)), 0, 20)

/**
 * Those of `ticks`, whose last is at 1, whose labels do not meet on a bar of `length` characters;
 * the last always stands. A label takes its characters and a gap, or `label` where that is given:
 * at the middle of its tick, but within the bar at both ends.
 * @param {Tick[]} ticks
 * @param {number} length
 * @param {number} [label]
 */
export function ticksThatFit(ticks, length, label) {
  const size = (/** @type {{text: string}} */ { text }) => label ?? text.length + 1,
    start = (/** @type {Tick} */ tick) =>
      tick.at === 0 ? 0 : tick.at === 1 ? length - size(tick) : tick.at * length - size(tick) / 2
  const end = /** @type {Tick} */ (ticks.at(-1)),
    kept = []
  let taken = 0
  for (const tick of ticks.slice(0, -1))
    if (start(tick) >= taken && start(tick) + size(tick) <= start(end)) {
      kept.push(tick)
      taken = start(tick) + size(tick)
    }
  return [...kept, end]
}

/**
 * at: the place of a value of the bar's own unit, which is a weight times `factor`; values: where
 * ticks stand before the end.
 * @param {Scale['kind']} kind
 * @param {number} top
 * @param {number} factor
 * @param {(value: number) => number} at
 * @param {number[]} values
 * @param {ScaleBar} [how]
 * @returns {Scale}
 */
const build = (
  kind,
  top,
  factor,
  at,
  values,
  { unit = '', beyond, length = usual, label } = {}
) => ({
  kind,
  label: scaleKinds[kind],
  top,
  end: top / factor,
  ticks: ticksThatFit(
    [
      ...values.map((value) => ({ at: at(value), text: text(value) + unit })),
      { at: 1, text: (beyond ? '≥ ' : '') + text(top) + unit }
    ],
    length,
    label
  ),
  position: (weight) => at(weight * factor)
})

/**
 * @param {Scale['kind']} kind
 * @param {number} top
 * @param {number} factor
 * @param {ScaleBar} [how]
 */
function linear(kind, top, factor, how) {
  const step = stepTo(top),
    values = []
  while (values.length * step < top) values.push(values.length * step)
  return build(kind, top, factor, (value) => value / top, values, how)
}

/**
 * @param {number} top
 * @param {number} factor
 * @param {ScaleBar} how
 */
function logarithmic(top, factor, how) {
  const reach = Math.log10(top) - low,
    powers = Array.from({ length: 12 }, (_, i) => 10 ** (i + low))
  return build(
    'log',
    top,
    factor,
    (value) => Math.max(0, (Math.log10(Math.max(value, 1e-12)) - low) / reach),
    powers.filter((power) => power < top * (1 - 1e-9)),
    how
  )
}

/**
 * tokens: N of the row; largest: the largest weight of all maps in the figure, for the kind 'all'
 * that of every head and layer; locked: the weight where the scale ends whatever is largest, once
 * uniform at least; beyond: the largest that is drawn with it although the scale ends before, which
 * its last tick says. length and label: as for ticksThatFit.
 * @param {ScaleKind} kind
 * @param {BarLength & {tokens: number, largest: number, locked?: number, beyond?: number}} options
 * @returns {Scale}
 */
export function makeScale(kind, { tokens, largest, locked = 0, beyond = 0, ...how }) {
  const least = Math.min(4, tokens) / tokens // no weight is above 1
  const end =
      locked > 0
        ? Math.min(1, Math.max(locked, 1 / tokens))
        : largest < Infinity
          ? Math.max(largest, least)
          : least,
    share = kind === 'share',
    factor = share ? 100 : tokens
  if (kind === 'own')
    return {
      ...linear(kind, 1, 1, how),
      position: (weight, own = end) => (own > 0 ? weight / own : 0)
    }
  Object.assign(how, { beyond: beyond > end, unit: share ? ' %' : '' })
  return kind === 'log'
    ? logarithmic(end * factor, factor, how)
    : linear(kind, end * factor, factor, how)
}

/**
 * Numbers from 0 up that are no shares.
 * @param {string} label
 * @param {number} largest
 * @returns {Scale}
 */
export const plainScale = (label, largest) => ({
  ...linear('plain', largest > 0 ? largest : 1, 1),
  numbers: true,
  label
})

/**
 * Scores of both signs: zero in the middle, both ends as far from it as the largest; for a
 * diverging table. -Infinity has no place.
 * @param {string} label
 * @param {number} largest
 * @returns {Scale}
 */
export function signedScale(label, largest) {
  const end = largest > 0 ? largest : 1,
    ticks = [-1, -0.5, 0, 0.5, 1].map((share) => ({
      at: (share + 1) / 2,
      text: text(share * end).replace('-', '−')
    }))
  return {
    kind: 'signed',
    signed: true,
    numbers: true,
    label,
    top: end,
    end,
    ticks: ticksThatFit(ticks, usual),
    position: (value) => (value === -Infinity ? NaN : value / (2 * end) + 0.5)
  }
}
