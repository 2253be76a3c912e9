/* All tokens of the row below the picture, on its scale: CLS and registers, which have no place in
 * it, as cells with their shares, then the patches in reading order as a thin strip. A patch under
 * the pointer is ringed in the picture and named; a press makes it the query. The strip says
 * nothing that the patches' grid does not: it is hidden from screen readers. */
import { nothing, render, svg } from 'lit-html'
import { element } from '../../../shared/elements.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { toggleCls } from '../../controls/controls.js'
import { createGrid, nth } from '../../controls/button_grid.js'
import { percent, times } from '../../../plot/caption.js'
import { largestOf } from '../../../plot/raster.js'
import { strip } from '../../../plot/strip.js'
import { put } from '../parts/canvas.js'
import { say } from '../../../languages/say.js'
import type { Scale } from 'heed/plot'
import type { Page } from '../../types.js'
import type { PageQuery } from '../../../shared/types.js'

/** Black or white, whichever has more contrast with a colour (WCAG relative luminance, the threshold
 * where both have the same). */
const inkOn = (rgb: ArrayLike<number>) =>
  [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => sum + share * (rgb[i] / 255) ** 2.2, 0) > 0.179
    ? '#000'
    : '#fff'

/** A token's name. */
const nameOf = ({ engine }: Page, token: number) => engine.nameOf(token)
/** What the stage shows of it. */
const numberOf = ({ drawn }: Page, token: number) =>
  drawn.scores ? fixed(drawn.scores[token], 2) : percent(drawn.row[token])

/** Rings the patch that the pointer is on, and names the token. */
function showToken(page: Page, token: number | null, beyond: string) {
  const { prefixTokens, columns, tokens } = page.engine.shape,
    patch = token === null ? -1 : token - prefixTokens
  const ring = `M${patch % columns} ${Math.floor(patch / columns)}h1v1h-1z`
  render(
    patch < 0
      ? nothing
      : svg`<path class="ring under" d=${ring}/><path class="ring over" d=${ring}/>`,
    element('marks').querySelector('g')
  )
  element('token-said').textContent =
    token === null
      ? say('strip.allTokensAbove', { tokens, beyond })
      : `${nameOf(page, token)}: ${numberOf(page, token)}${page.drawn.scores ? '' : ` = ${times(page.drawn.row[token], tokens)}`}`
}

/** The patch under a pointer on the line. */
function patchAt({ engine }: Page, line: HTMLElement, { clientX }: PointerEvent) {
  const { left, width } = line.getBoundingClientRect(),
    { tokens, prefixTokens } = engine.shape
  return nth(clientX - left, width, tokens - prefixTokens)
}

function connectLine(page: Page, line: HTMLElement, look: (token: number | null) => void) {
  line.addEventListener('pointermove', (event) => {
    if (page.drawn) look(page.engine.shape.prefixTokens + patchAt(page, line, event))
  })
  line.addEventListener('pointerdown', ({ pointerId }) => line.setPointerCapture(pointerId))
  line.addEventListener('pointerup', (event) => {
    const { columns } = page.engine.shape,
      patch = patchAt(page, line, event)
    if (event.button === 0 && page.drawn)
      page.store.set({ query: [Math.floor(patch / columns), patch % columns], hover: null })
  })
  for (const type of ['pointerleave', 'pointercancel'])
    line.addEventListener(type, () => {
      if (page.drawn) look(null)
    })
}

/** CLS and registers as cells; in words, which of them are beyond the bar. */
function drawPrefix(
  page: Page,
  row: Float32Array,
  { scale, table, own }: { scale: Scale; table: Uint8Array; own: number }
) {
  const { prefixTokens } = page.engine.shape
  element('prefix').hidden = prefixTokens === 0
  const over = Array.from({ length: prefixTokens }, (_, token) => token).filter(
    (token) => Math.abs(scale.position(row[token], own) - 0.5) > 0.5001
  )
  for (const [token, cell] of element('prefix').querySelectorAll('button').entries()) {
    const t = scale.position(row[token], own),
      place = 3 * Math.round(Math.min(1, Math.max(0, t || 0)) * 255),
      rgb = table.slice(place, place + 3)
    const name = nameOf(page, token).replace(/egister |illation/, '') // r1, dist
    cell.textContent = token && prefixTokens > 2 ? name : `${name} ${numberOf(page, token)}` // where there are more, `said` has their shares
    cell.style.background = `rgb(${rgb.join()})`
    cell.style.color = inkOn(rgb)
  }
  return over.length
    ? say('strip.beyondBar', { token: over.map((token) => nameOf(page, token)).join(', ') })
    : ''
}

export function createStrip(page: Page) {
  const { store, engine } = page,
    line = element('line'),
    canvas = line.querySelector('canvas'),
    mark = line.querySelector('i')
  let beyond = '' // the bar ends at the largest patch
  let width = 0 // of the line, in the screen's pixels; asked for while drawing it would have the page laid out a second time
  new ResizeObserver(([{ contentRect }]) => {
    width = Math.round(contentRect.width * devicePixelRatio)
    if (page.drawn) drawLine()
  }).observe(line)
  const grid = createGrid(element('prefix'), {
    name: (_: unknown, token: number) =>
      `${nameOf(page, token)}, ${numberOf(page, token)}, ${times(page.drawn.row[token], engine.shape.tokens).replace('×', 'times')}`,
    onPick: (_: unknown, token: number) => {
      look(token)
      if (store.get().query !== (token || 'cls')) toggleCls(page, token)
    },
    onHover: (_, token) => look(token ?? null)
  })

  /** @param token what the pointer is on */
  const look = (token: number | null) => showToken(page, token, beyond)
  page.look = look
  connectLine(page, line, look)

  function drawLine() {
    const { row, scores, scale, table } = page.drawn,
      weights = (scores ?? row).subarray(engine.shape.prefixTokens)
    put(canvas, strip({ weights, width: width || weights.length, scale, table }))
  }

  /** row: the weights or scores of all tokens, as page.drawn has them. */
  return function draw(
    row: Float32Array,
    { scale, table, query }: { scale: Scale; table: Uint8Array; query: PageQuery | null }
  ) {
    const { prefixTokens, rows, columns } = engine.shape,
      patches = row.subarray(prefixTokens)
    grid.resize(1, prefixTokens)
    beyond = drawPrefix(page, row, { scale, table, own: largestOf(patches) })
    drawLine()
    line.style.setProperty('--rows', rows)
    mark.hidden = !Array.isArray(query)
    if (Array.isArray(query))
      mark.style.left = `${((query[0] * columns + query[1] + 0.5) / patches.length) * 100}%`
    look(null)
    if (store.get().hover) return
    const { token } = page.drawn
    grid.select(token >= 0 && token < prefixTokens ? 0 : null, token)
    grid.relabel()
  }
}
