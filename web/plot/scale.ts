/* How weights become colours, by the rule that all of heed has: runtime/explain/colour_rule.h. One
 * scale serves a whole figure, and its ends are written beside it: never a silent minimum-maximum.
 * A scale maps a weight to 0..1; `own` is the largest weight of the map that the weight is from,
 * which only the kind 'own' looks at. Figures of the command line are held to the same table,
 * tests/vectors/scale/cases.json. */
import { scaleKinds } from './caption_words.js'
import { linearPlace, logPlace, logTick, scaleEnd, scaleStep } from './parts/colour_rule.js'
import { fixed } from './parts/numbers.js'

export { scaleKinds }

import type { BarLength, Scale, ScaleKind, Tick } from 'heed/plot'

/** How the bar of a scale is written: `beyond` puts "≥" before its end. */
export type ScaleBar = BarLength & { unit?: string; beyond?: number | boolean }

/* Characters that a bar has room for where nobody says how long it is: the explorer's on a
 * phone. */
const usual = 40

/** The step of about `steps` numbers from 0 to `top`. */
export const stepTo = (top: number, steps = 4) => scaleStep(top / steps)

const text = (value: number) =>
  Math.abs(value) >= 100 ? fixed(value, 0) : fixed(Number(value.toPrecision(3)), 0, 20)

/** Those of `ticks`, whose last is at 1, whose labels do not meet on a bar of `length` characters;
 * the last always stands. A label takes its characters and a gap, or `label` where that is given:
 * at the middle of its tick, but within the bar at both ends. */
export function ticksThatFit(ticks: Tick[], length: number, label?: number) {
  const size = ({ text }: { text: string }) => label ?? text.length + 1,
    start = (tick: Tick) =>
      tick.at === 0 ? 0 : tick.at === 1 ? length - size(tick) : tick.at * length - size(tick) / 2
  const end = ticks.at(-1) as Tick,
    kept = []
  let taken = 0
  for (const tick of ticks.slice(0, -1))
    if (start(tick) >= taken && start(tick) + size(tick) <= start(end)) {
      kept.push(tick)
      taken = start(tick) + size(tick)
    }
  return [...kept, end]
}

/** top: the end in the bar's own unit, which is a weight times `factor`; values: where ticks stand
 * before it. */
const build = (
  kind: Scale['kind'],
  top: number,
  factor: number,
  position: (weight: number) => number,
  values: number[],
  { unit = '', beyond, length = usual, label }: ScaleBar = {}
): Scale => ({
  kind,
  label: scaleKinds[kind as ScaleKind], // other kinds have a label of their own
  top,
  end: top / factor,
  ticks: ticksThatFit(
    [
      ...values.map((value) => ({ at: position(value / factor), text: text(value) + unit })),
      { at: 1, text: (beyond ? '≥ ' : '') + text(top) + unit }
    ],
    length,
    label
  ),
  position
})

function linear(kind: Scale['kind'], top: number, factor: number, how?: ScaleBar) {
  const step = stepTo(top),
    values = []
  while (values.length * step < top) values.push(values.length * step)
  return build(kind, top, factor, (weight) => linearPlace(weight, top / factor), values, how)
}

function logarithmic(end: number, tokens: number, how: ScaleBar) {
  const top = end * tokens,
    values = []
  for (let tick = logTick(0); tick < top * (1 - 1e-9); tick = logTick(tick)) values.push(tick)
  return build('log', top, tokens, (weight) => logPlace(weight, tokens, end), values, how)
}

/** tokens: N of the row; largest: the largest weight of all maps in the figure, for the kind 'all'
 * that of every head and layer; locked: the weight where the scale ends whatever is largest, once
 * uniform at least; beyond: the largest that is drawn with it although the scale ends before, which
 * its last tick says. length and label: as for ticksThatFit. */
export function makeScale(
  kind: ScaleKind,
  {
    tokens,
    largest,
    locked = 0,
    beyond = 0,
    ...how
  }: BarLength & { tokens: number; largest: number; locked?: number; beyond?: number }
): Scale {
  const end = scaleEnd(tokens, largest, locked),
    share = kind === 'share',
    factor = share ? 100 : tokens
  if (kind === 'own')
    return {
      ...linear(kind, 1, 1, how),
      position: (weight, own = end) => linearPlace(weight, own)
    }
  Object.assign(how, { beyond: beyond > end, unit: share ? ' %' : '' })
  return kind === 'log' ? logarithmic(end, tokens, how) : linear(kind, end * factor, factor, how)
}

/** Numbers from 0 up that are no shares. */
export const plainScale = (label: string, largest: number): Scale => ({
  ...linear('plain', largest > 0 ? largest : 1, 1),
  numbers: true,
  label
})

/** Scores of both signs: zero in the middle, both ends as far from it as the largest; for a
 * diverging table. -Infinity has no place. */
export function signedScale(label: string, largest: number): Scale {
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
