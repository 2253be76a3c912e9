/* Heads that attend alike, in groups, each with its map of the query. Distances and groups are those
 * of heed.h: the Jensen-Shannon divergence of rows, mean over queries, and average linkage. */
import { html, nothing, render } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { heat } from '../../../plot/heat.js'
import { largestOf } from '../../../plot/raster.js'
import { pause } from '../../../shared/pause.js'
import { stoppable } from '../../controls/stoppable.js'
import { bar } from '../parts/bar.js'
import { showing } from '../parts/canvas.js'
import { scaleOfAll } from './heads.js'
import { say } from '../../../languages/say.js'
import type { Scale } from 'heed/plot'
import type { MakeView, Page } from '../../types.js'
import type { Of } from '../../../shared/types.js'

/* Weights that are read for all pairs of heads together: about a second. */
const work = 2e7

/** Every how many-th query is read. */
export const strideOf = (heads: number, tokens: number) =>
  Math.max(1, Math.ceil((heads * heads * tokens * tokens) / 2 / work))

/* Of which so many at once, a few ms, before the page goes on. */
const atOnce = 3e5

/** Heads of a block: the distances of two blocks are found at once. */
const blockOf = (weights: number) => Math.max(1, Math.floor(Math.sqrt((2 * atOnce) / weights) / 2))

/** Rows of every stride-th query, [Q, T] of each head; null where they are no longer wanted. */
async function rowsOf(
  engine: Page['engine'],
  stride: number,
  wanted: () => boolean,
  told: (done: number, total: number) => void
) {
  const { layers, heads, tokens } = engine.shape,
    total = Math.ceil(tokens / stride),
    maps = Array.from({ length: layers * heads }, () => new Float32Array(total * tokens))
  for (let done = 0; done < total; done++) {
    if (!wanted()) return null
    told(done, total)
    const rows = (await engine.rows({ token: done * stride })).slice(0, layers).flat()
    rows.forEach((row, head) => {
      maps[head].set(row, done * tokens)
    })
  }
  return maps
}

/** Of all pairs of maps [queries, tokens], [count, count]; null where they are no longer wanted. */
export async function distancesOf(
  { explain }: Pick<Page['engine'], 'explain'>,
  maps: Float32Array[],
  { tokens, queries }: { tokens: number; queries: number },
  wanted: () => boolean
) {
  const { length } = maps,
    block = blockOf(tokens * queries),
    all = new Float64Array(length * length)
  for (let a = 0; a < length; a += block)
    for (let b = a; b < length; b += block) {
      await pause()
      if (!wanted()) return null
      const of = [...new Set([a, b])].flatMap((from) =>
          Array.from({ length: Math.min(block, length - from) }, (_, i) => from + i)
        ),
        found = explain.mapDistances(
          of.map((i) => maps[i]),
          tokens
        )
      of.forEach((one, i) => {
        of.forEach((other, j) => {
          all[one * length + other] = found[i * of.length + j]
        })
      })
    }
  return all
}

/** Members by their groups' numbers, each in order. */
export function membersOf(group: ArrayLike<number>): number[][] {
  const members: number[][] = []
  for (let i = 0; i < group.length; i++) (members[group[i]] ??= []).push(i)
  return members
}

/**
 * A button that chooses a head, with its map.
 * @param index of the head, layers outer
 * @param weights of the query, on patches
 * @param scale of all heads
 */
function buttonOf(
  { store, engine, table }: Page,
  index: number,
  weights: Float32Array,
  scale: Scale
) {
  const { heads, rows, columns } = engine.shape,
    [layer, head] = [Math.floor(index / heads), index % heads],
    state = store.get()
  return html`<button type="button" data-head=${`${layer}.${head}`} aria-label=${`${layer}.${head}: ${say('manyPictures.layerHead', { layer, head })}`} aria-pressed=${state.layer === layer && state.head === head} @click=${() => store.set({ layer, head })}><canvas aria-hidden="true" ${showing(heat({ weights, rows, columns, scale, table }))}></canvas>${layer}.${head}</button>`
}

/** Asks for the distances of the last run's heads, which are found once; null where that was stopped. */
function createMeasure({ store, engine }: Page, left: AbortSignal, told: (text: string) => void) {
  let ran = -1,
    distances = Promise.resolve(null) as Promise<Float64Array | null>
  return () => {
    const { layers, heads, tokens } = engine.shape,
      { kept } = engine.result,
      now = store.get().ran
    if (ran === now) return distances
    ran = now
    distances = stoppable(left, async (signal) => {
      const wanted = () => !signal.aborted && store.get().ran === now,
        stride = strideOf(layers * heads, tokens),
        maps = await rowsOf(engine, stride, wanted, (done, total) => {
          if (!kept) told(say('groups.reading', { done: done + 1, total }))
        })
      return (
        maps && distancesOf(engine, maps, { tokens, queries: Math.ceil(tokens / stride) }, wanted)
      )
    })
    return distances
  }
}

export const view: MakeView = (page, element, { left, redraw }) => {
  const { engine } = page,
    measure = createMeasure(page, left, (text) => show(text))
  let limit = 0.15

  const show = (said: string, list: unknown = nothing, off = true) =>
    render(
      html`<div><label class="range">${say('groups.nearerThan')} <input type="range" name="limit" min="0.01" max="0.6" step="0.01" value="0.15" ?disabled=${off} @input=${({
        target
      }: Of<HTMLInputElement>) => {
        limit = Number(target.value)
        redraw()
      }}> <output>${say('groups.nats', { value: fixed(limit, 2) })}</output></label></div>
      ${list}<p class="hint" aria-live="polite">${said}</p>`,
      element
    )

  async function draw(latest: () => boolean) {
    if (engine.parts) return show(say('parts.only'))
    const { layers } = engine.shape,
      found = await measure()
    if (!latest()) return
    if (!found) return show(say('work.stopped'))
    const { reverse, score } = page.store.get(),
      rows = await engine.rows({ query: page.query(), reverse, score })
    if (!latest()) return
    const { list, said } = groupsOfHeads(rows.slice(0, layers), found)
    show(said, list, false)
  }

  function groupsOfHeads(rows: Float32Array[][], found: Float64Array) {
    const { layers, heads, tokens, prefixTokens } = engine.shape,
      maps = rows.map((layer) => layer.map((row) => row.subarray(prefixTokens))),
      scale = scaleOfAll(
        page,
        maps.map((layer) => layer.map(largestOf))
      ),
      stride = strideOf(layers * heads, tokens),
      groups = membersOf(engine.explain.mapGroups(found, limit))
    const several = groups.filter(({ length }) => length > 1),
      single = groups.filter(({ length }) => length === 1).flat(),
      line = (name: string, group: number[]) =>
        html`<div role="group" aria-label=${name}>${repeat(group, String, (index) => buttonOf(page, index, maps.flat()[index], scale))}</div>`
    const list = html`${bar(scale, page.table)}<div class="groups">${several.map((group, i) =>
      line(say('groups.groupHeads', { i: i + 1, group: group.length }), group)
    )}${single.length ? html`<p class="hint">${say('groups.single', { count: single.length })}</p>${line(say('groups.single', { count: single.length }), single)}` : nothing}</div>`
    return {
      list,
      said: say('groups.headsGroupsOneHead', {
        heads: layers * heads,
        groups: groups.length,
        alone: single.length,
        stride: stride === 1 ? say('groups.allQueries') : say('groups.eachThQuery', { stride })
      })
    }
  }
  return { keys: ['drawn'], draw }
}
