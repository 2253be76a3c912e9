/* What lights up on the picture while it is new to the eye: arcs from the query to the five patches
 * that it gives most to, as wide as the weight is large, and the outlines of both twins when the one
 * finds the other. Drawn once after a choice, then faint; none while the pointer or the picture moves.
 * On arrival they show what the page is of. */
import { nothing, render, svg } from 'lit-html'
import { keyed } from 'lit-html/directives/keyed.js'
import { element } from '../../../shared/elements.js'
import { outline } from '../../../plot/outline.js'
import { topOf } from '../../../plot/caption.js'
import { keep, stored } from '../../../shared/page_settings.js'
import type { Drawn, Page } from '../../types.js'

const most = 5
/* Choices after which the eye knows what the light means; this browser remembers how many. */
const known = 25
/* Below this many times uniform a key is nothing that a line should lead to. */
const least = 2

/** The patches that a row gives most to, but the query's own: [{ patch, weight }]. */
export function keysOf({ row, token, shape: { prefixTokens, tokens } }: Drawn) {
  return topOf(row, most + prefixTokens + 1)
    .filter(
      ({ token: key, weight }) => key >= prefixTokens && key !== token && weight * tokens > least
    )
    .slice(0, most)
    .map(({ token: key, weight }) => ({ patch: key - prefixTokens, weight }))
}

/** The middle of one patch, that of another, and between them what a line bends to. */
function bentLine(from: number, to: number, columns: number) {
  const [x, y] = [(from % columns) + 0.5, Math.floor(from / columns) + 0.5],
    [u, v] = [(to % columns) + 0.5, Math.floor(to / columns) + 0.5]
  return { x, y, p: (x + u) / 2 - (v - y) / 5, q: (y + v) / 2 + (u - x) / 5, u, v }
}

/** From the middle of one patch to that of another, bent to the side. */
export function arc(from: number, to: number, columns: number) {
  const { x, y, p, q, u, v } = bentLine(from, to, columns)
  return `M${x} ${y}Q${p} ${q} ${u} ${v}`
}

/** The same with a point, whose tip is in the middle of the other patch: its line and its point. */
export function arrow(from: number, to: number, columns: number) {
  const { x, y, p, q, u, v } = bentLine(from, to, columns),
    far = Math.hypot(u - p, v - q),
    [along, across] = [0.62 / far, 0.32 / far],
    [a, b] = [u - (u - p) * along, v - (v - q) * along],
    [c, d] = [(v - q) * across, (p - u) * across]
  return {
    line: `M${x} ${y}Q${p} ${q} ${a} ${b}`,
    point: `M${u} ${v}L${a + c} ${b + d}L${a - c} ${b - d}z`
  }
}

/** Which of the picture's twins the query is on, where it finds the other: both of their outlines. */
export function twinsFound({ picture, engine }: Page, query: number, keys: { patch: number }[]) {
  const { twins, owner } = picture,
    { rows, columns } = engine.shape
  if (!twins || !owner || !keys.length || owner.length !== rows * columns) return ''
  const mine = twins.indexOf(owner[query])
  if (mine < 0 || owner[keys[0].patch] !== twins[1 - mine]) return ''
  return (twins as number[])
    .map((twin) =>
      outline(
        Array.from(owner, (one) => one === twin),
        rows,
        columns
      )
    )
    .join('')
}

export function createArcs(page: Page) {
  const { store } = page,
    marks = element('marks'),
    layer = marks.cloneNode() as SVGSVGElement
  layer.id = 'arcs'
  layer.setAttribute('aria-hidden', true)
  marks.before(layer)
  let seen = Number(stored('arcs') ?? 0) || 0,
    last = ''

  function draw() {
    const { drawn } = page,
      { hover, query, style } = store.get(),
      { reverse, rollout } = drawn.at
    if (
      hover ||
      drawn.of.light ||
      !Array.isArray(query) ||
      reverse ||
      rollout ||
      drawn.scores ||
      style !== 'colour' ||
      seen >= known
    )
      return render(nothing, layer)
    const { columns, rows, prefixTokens } = drawn.shape,
      from = drawn.token - prefixTokens,
      keys = keysOf(drawn),
      [{ weight: largest } = { weight: 1 }] = keys,
      now = `${drawn.title} ${keys.map(({ patch }) => patch)}`
    if (now === last && layer.childElementCount) return
    if (now !== last) keep('arcs', String(++seen))
    last = now
    layer.setAttribute('viewBox', `0 0 ${columns} ${rows}`)
    const arcs = keys.map(
      ({ patch, weight }) =>
        svg`<path class="arc" d=${arc(from, patch, columns)} stroke-width=${(1 + (5 * weight) / largest).toFixed(1)}/>`
    )
    const twins = svg`<path class="twins" d=${twinsFound(page, from, keys)}/>`
    render(keyed(now, [arcs, twins]), layer) // new ones light up again
  }
  store.on(['drawn', 'hover'], draw)
  if (page.drawn) draw()
}
