/* Heads that attend to a region: patches are painted on the picture, and heads are ranked by how
 * much of their attention lies there, for the query or on average over the patches outside. */
import { fixed } from '../../plot/parts/numbers.js'
import { outline } from '../../plot/outline.js'
import { percent } from '../../plot/caption.js'
import { slice } from '../model/attention_rows.js'
import { say } from '../../languages/say.js'
import type { MakeView, Page } from '../../../types/pages.js'

/* Heads in the list; all are ranked. */
const listed = 12

/** The part of a row's attention that lies on tokens. */
export function shareOn(row: ArrayLike<number>, tokens: Iterable<number>) {
  let sum = 0
  for (const token of tokens) sum += row[token]
  return sum
}

/**
 * The mean of that part over the patches that are not in the region themselves; 0 without any.
 * @param weights of a layer, [H, N, N]
 * @param region tokens
 */
export function meanShareOn(
  weights: Float32Array,
  head: number,
  { tokens, prefixTokens }: { tokens: number; prefixTokens: number },
  region: Set<number>
) {
  let sum = 0,
    count = 0
  for (let token = prefixTokens; token < tokens; token++) {
    if (region.has(token)) continue
    sum += shareOn(slice(weights, head, tokens, token), region)
    count++
  }
  return count ? sum / count : 0
}

/**
 * All heads, the one first that attends to the region most.
 * @param region tokens
 * @param all of all patches outside, not of the query alone
 */
async function ranked({ engine, store }: Page, region: Set<number>, all: boolean) {
  const { layers, heads } = engine.shape,
    rows = all ? null : await engine.rows({ query: store.get().query })
  return Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads])
    .map(([layer, head]) => ({
      layer,
      head,
      share: rows
        ? shareOn(rows[layer][head], region)
        : meanShareOn(
            (engine.result.attention as Float32Array[])[layer],
            head,
            engine.shape,
            region
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
  const marks = document.getElementById('marks'),
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
    layer.innerHTML = `<path class="under" d="${d}"/><path class="over" d="${d}"/>`
  }
}

const markup = `<p class="hint">${say('region.paintRegionImageHeads')}</p>
    <div class="row"><button type="button" name="paint" aria-pressed="true">${say('region.paintImage')}</button><button type="button" name="twin">${say('region.otherTwin')}</button><button type="button" name="clear">${say('region.clear')}</button></div>
    <div class="row after"><label>${say('region.attention')} <select name="of"><option value="query">${say('region.query')}</option><option value="all">${say('region.allPatchesOutside')}</option></select></label></div>
    <div class="scroll" tabindex="0" role="region" aria-label="${say('region.headsTheirAttentionRegion')}" hidden><table><thead><tr><th scope="col">${say('modelDifference.head')}</th><th scope="col">${say('region.region')}</th><th scope="col">× uniform</th></tr></thead><tbody class="shares"></tbody></table></div><p class="hint" aria-live="polite"></p>`

/**
 * A line of the list: a head that a press chooses, with its share.
 * @param uniform what equal attention would give
 */
function lineOf(
  { store }: Page,
  { layer, head, share }: { layer: number; head: number; share: number },
  uniform: number
) {
  const row = document.createElement('tr'),
    button = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: say('manyPictures.layerHead', { layer, head })
    }),
    cells = [button, percent(share), fixed(share / uniform, 2)].map((content) => {
      const cell = document.createElement('td')
      cell.append(content)
      return cell
    })
  button.dataset.head = `${layer}.${head}`
  button.addEventListener('click', () => store.set({ layer, head }))
  cells[1].style.setProperty('--share', `${share * 100}%`)
  row.append(...cells)
  return row
}

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

export const view: MakeView = (page, element, { left }) => {
  const { engine } = page
  element.innerHTML = markup
  const field = (name: string) => element.querySelector(`[name=${name}]`) as HTMLButtonElement
  const said = element.querySelectorAll('.hint')[1],
    list = element.querySelector('.scroll'),
    showRegion = createOutline(left),
    painting = () => field('paint').getAttribute('aria-pressed') === 'true'
  let patches: Set<number> = new Set(),
    adds = true
  page.paint = (row, column, how) => {
    if (!painting()) return false
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
  field('paint').addEventListener('click', () =>
    field('paint').setAttribute('aria-pressed', String(!painting()))
  )
  field('of').addEventListener('change', () => redraw())
  field('clear').addEventListener('click', () => redraw([]))
  field('twin').addEventListener('click', () => redraw(otherTwin(page)))

  /** @param region another one */
  function redraw(region?: number[]) {
    if (region) patches = new Set(region)
    draw(() => true).catch(page.showError)
  }

  async function draw(latest: () => boolean) {
    const { shape, result } = engine,
      { tokens, prefixTokens, rows, columns } = shape
    patches = new Set([...patches].filter((patch) => patch < rows * columns))
    showRegion(patches, shape)
    field('twin').hidden = !otherTwin(page).length
    field('of').disabled = !result.attention
    const all = field('of').value === 'all' && Boolean(result.attention)
    list.hidden = !patches.size
    if (!patches.size) return (said.textContent = say('region.nothingPaintedYetKeyboard'))
    const region = new Set([...patches].map((patch) => prefixTokens + patch)),
      found = await ranked(page, region, all)
    if (!latest()) return
    const uniform = region.size / tokens,
      [most] = found,
      focused = (document.activeElement as HTMLElement | null)?.dataset.head
    element
      .querySelector('tbody')
      .replaceChildren(...found.slice(0, listed).map((entry) => lineOf(page, entry, uniform)))
    if (focused) (list.querySelector(`[data-head="${focused}"]`) as HTMLElement | null)?.focus()
    said.textContent = wordsOf(page, most, patches.size, all)
  }
  /* Not of what is under the pointer, which paints. */
  return { keys: ['query', 'ran'], draw }
}
