/* Heads that attend to a region: patches are painted on the picture, and heads are ranked by how
 * much of their attention lies there, for the query or on average over the patches outside. */
import { element } from '../../../shared/elements.js'
import { html, render, svg } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { outline } from '../../../plot/outline.js'
import { percent } from '../../../plot/caption.js'
import { mapOf } from '../../../shared/attention_rows.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page } from '../../types.js'
import type { Of } from '../../../shared/types.js'

/* Heads in the list; all are ranked. */
const listed = 12

/**
 * All heads, the one first that attends to the region most.
 * @param region [T] of 0 and 1
 * @param all of all patches outside, not of the query alone
 */
async function ranked({ engine, store }: Page, region: Uint8Array, all: boolean) {
  const { layers, heads, tokens, prefixTokens } = engine.shape,
    { explain, result } = engine,
    rows = all ? null : await engine.rows({ query: store.get().query })
  return Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads])
    .map(([layer, head]) => ({
      layer,
      head,
      share: rows
        ? explain.share(Float32Array.from(rows[layer][head]), region)
        : explain.meanShare(
            mapOf((result.attention as Float32Array[])[layer], head, tokens),
            region,
            prefixTokens
          )
    }))
    .sort((a, b) => b.share - a.share)
}

/** The patches of the twin that the query is not on, where the picture has twins. */
function otherTwin({ picture: { twins, owner }, engine, store }: Page) {
  const { rows, columns } = engine.shape,
    { query } = store.get()
  if (!twins || owner?.length !== rows * columns) return []
  const mine = Array.isArray(query) ? owner[query[0] * columns + query[1]] : -1,
    other = twins.find((twin: number) => twin !== mine)
  return Array.from(owner, (one, patch) => (one === other ? patch : -1)).filter(
    (patch) => patch >= 0
  )
}

/** The outline of the region over the picture, until the view is left. */
function createOutline(left: AbortSignal) {
  const marks = element('marks'),
    layer = marks.cloneNode() as SVGSVGElement
  layer.id = 'region'
  layer.setAttribute('aria-hidden', 'true')
  marks.before(layer)
  left.addEventListener('abort', () => layer.remove())
  return (patches: Set<number>, { rows, columns }: { rows: number; columns: number }) => {
    const d = outline(
      Array.from({ length: rows * columns }, (_, patch) => patches.has(patch)),
      rows,
      columns
    )
    layer.setAttribute('viewBox', `0 0 ${columns} ${rows}`)
    render(svg`<path class="under" d=${d} /><path class="over" d=${d} />`, layer)
  }
}

/**
 * A line of the list: a head that a press chooses, with its share.
 * @param uniform what equal attention would give
 */
const lineOf = (
  { store }: Page,
  { layer, head, share }: { layer: number; head: number; share: number },
  uniform: number
) =>
  html`<tr><td><button type="button" data-head=${`${layer}.${head}`} @click=${() => store.set({ layer, head })}>${say('manyPictures.layerHead', { layer, head })}</button></td><td .style=${`--share: ${share * 100}%`}>${percent(share)}</td><td>${fixed(share / uniform, 2)}</td></tr>`

/** @param size of the region */
const wordsOf = (
  { engine, store }: Page,
  { layer, head, share }: { layer: number; head: number; share: number },
  size: number,
  all: boolean
) =>
  say('region.patchesHeadAttendsThem', {
    size,
    of: engine.shape.rows * engine.shape.columns,
    layer,
    head,
    share: percent(share),
    all: all
      ? say('region.attentionMeanPatchesOutside')
      : say('region.attention2', { query: engine.nameOf(engine.token(store.get().query)) })
  })

export const view: MakeView = (page, element, { left, redraw }) => {
  const { engine } = page,
    showRegion = createOutline(left)
  let patches: Set<number> = new Set(),
    adds = true,
    painting = true,
    outside = false
  page.paint = (row, column, how) => {
    if (!painting) return false
    if (how === 'step') return true // steps move the focus, Enter paints
    const patch = row * engine.shape.columns + column
    if (how === 'press') adds = !patches.has(patch)
    if (adds) patches.add(patch)
    else patches.delete(patch)
    redraw()
    return true
  }
  left.addEventListener('abort', () => {
    page.paint = null
  })
  function choose(region: number[]) {
    patches = new Set(region)
    redraw()
  }
  function togglePainting() {
    painting = !painting
    redraw()
  }

  async function draw(latest: () => boolean) {
    const { shape, result } = engine,
      { tokens, prefixTokens, rows, columns } = shape
    patches = new Set([...patches].filter((patch) => patch < rows * columns))
    showRegion(patches, shape)
    const all = outside && Boolean(result.attention),
      size = patches.size,
      region = new Uint8Array(tokens),
      uniform = size / tokens
    for (const patch of patches) region[prefixTokens + patch] = 1
    const found = size ? await ranked(page, region, all) : []
    if (!latest()) return
    const list = html`<div class="scroll" tabindex="0" role="region" aria-label=${say('region.headsTheirAttentionRegion')} ?hidden=${!size}><table><thead><tr><th scope="col">${say('modelDifference.head')}</th><th scope="col">${say('region.region')}</th><th scope="col">× uniform</th></tr></thead><tbody class="shares">${repeat(
      found.slice(0, listed),
      ({ layer, head }) => `${layer}.${head}`,
      (entry) => lineOf(page, entry, uniform)
    )}</tbody></table></div>`
    render(
      html`<p class="hint">${say('region.paintRegionImageHeads')}</p>
      <div class="row"><button type="button" name="paint" aria-pressed=${painting} @click=${togglePainting}>${say('region.paintImage')}</button><button type="button" name="twin" ?hidden=${!otherTwin(page).length} @click=${() => choose(otherTwin(page))}>${say('region.otherTwin')}</button><button type="button" name="clear" @click=${() => choose([])}>${say('region.clear')}</button></div>
      <div class="row after"><label>${say('region.attention')} <select name="of" ?disabled=${!result.attention} @change=${({
        target
      }: Of<HTMLSelectElement>) => {
        outside = target.value === 'all'
        redraw()
      }}><option value="query">${say('region.query')}</option><option value="all">${say('region.allPatchesOutside')}</option></select></label></div>
      ${list}<p class="hint" aria-live="polite">${size ? wordsOf(page, found[0], size, all) : say('region.nothingPaintedYetKeyboard')}</p>`,
      element
    )
  }
  /* Not of what is under the pointer, which paints. */
  return { keys: ['query', 'ran'], draw }
}
