/* Heads that attend alike, in groups, each with its map of the query. Alike is the Jensen-Shannon
 * divergence of rows, mean over queries. Groups are of average linkage (Sokal and Michener 1958):
 * the two nearest become one while they are nearer than a limit. */
import { html, nothing, render } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { divergence } from '../../model/row_distance.js'
import { heat } from '../../../plot/heat.js'
import { showing } from '../parts/canvas.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page } from '../../types.js'
import type { Of } from '../../../shared/types.js'

/* Weights that are read for all pairs of heads together: about a second. */
const work = 2e7

/** Every how many-th query is read. */
export const strideOf = (heads: number, tokens: number) =>
  Math.max(1, Math.ceil((heads * heads * tokens * tokens) / 2 / work))

/**
 * How far apart all pairs of maps are, [heads, heads], in nats.
 * @param maps of each head, [T, T]
 */
export function distancesOf(maps: Float32Array[], tokens: number): number[][] {
  const stride = strideOf(maps.length, tokens),
    distances = maps.map(() => new Array(maps.length).fill(0))
  for (let a = 0; a < maps.length; a++)
    for (let b = 0; b < a; b++) {
      let sum = 0,
        count = 0
      for (let query = 0; query < tokens; query += stride, count++)
        sum += divergence(
          maps[a].subarray(query * tokens, (query + 1) * tokens),
          maps[b].subarray(query * tokens, (query + 1) * tokens)
        )
      distances[a][b] = distances[b][a] = sum / count
    }
  return distances
}

/** Groups of entries nearer than `limit`, the largest first, each in the entries' order. */
export function groupsOf(distances: number[][], limit: number): number[][] {
  const groups = distances.map((_, i) => [i])
  const apart = (a: number[], b: number[]) =>
    a.reduce((sum, i) => sum + b.reduce((s, j) => s + distances[i][j], 0), 0) /
    (a.length * b.length)
  for (;;) {
    let nearest = limit,
      pair = null as [number, number] | null
    for (let a = 0; a < groups.length; a++)
      for (let b = 0; b < a; b++) {
        const found = apart(groups[a], groups[b])
        if (found < nearest) [nearest, pair] = [found, [a, b]]
      }
    if (!pair) break
    const [a, b] = pair
    groups[b] = [...groups[b], ...groups[a]].sort((x, y) => x - y)
    groups.splice(a, 1)
  }
  return groups.sort((a, b) => b.length - a.length || a[0] - b[0])
}

/**
 * A button that chooses a head, with its map.
 * @param index of the head, layers outer
 * @param map row of the query
 */
function buttonOf({ store, engine, drawn, table }: Page, index: number, map: Float32Array) {
  const { heads, rows, columns, prefixTokens } = engine.shape,
    [layer, head] = [Math.floor(index / heads), index % heads],
    state = store.get(),
    weights = map.subarray(prefixTokens)
  return html`<button type="button" data-head=${`${layer}.${head}`} aria-label=${`${layer}.${head}: ${say('manyPictures.layerHead', { layer, head })}`} aria-pressed=${state.layer === layer && state.head === head} @click=${() => store.set({ layer, head })}><canvas aria-hidden="true" ${showing(heat({ weights, rows, columns, scale: drawn.scale, table }))}></canvas>${layer}.${head}</button>`
}

export const view: MakeView = (page, element, { redraw }) => {
  const { store, engine } = page
  let ran = -1,
    limit = 0.15,
    distances: number[][] = []

  async function draw(latest: () => boolean) {
    const { attention } = engine.result,
      { layers } = engine.shape,
      maps = attention && (await engine.rows({ query: page.query() })).slice(0, layers).flat()
    if (!latest()) return
    const { list = nothing, said } = maps
      ? groupsOfHeads(maps, attention)
      : { said: say('groups.headsGroupedWhereAll') }
    render(
      html`<div><label class="range">${say('groups.nearerThan')} <input type="range" name="limit" min="0.01" max="0.6" step="0.01" value="0.15" ?disabled=${!attention} @input=${({
        target
      }: Of<HTMLInputElement>) => {
        limit = Number(target.value)
        redraw()
      }}> <output>${say('groups.nats', { value: fixed(limit, 2) })}</output></label></div>
      ${list}<p class="hint" aria-live="polite">${said}</p>`,
      element
    )
  }

  function groupsOfHeads(maps: Float32Array[], attention: Float32Array[]) {
    const { layers, heads, tokens } = engine.shape
    if (ran !== store.get().ran) {
      distances = distancesOf(
        attention.flatMap((layer) =>
          Array.from({ length: heads }, (_, head) =>
            layer.subarray(head * tokens * tokens, (head + 1) * tokens * tokens)
          )
        ),
        tokens
      )
      ran = store.get().ran
    }
    const groups = groupsOf(distances, limit),
      stride = strideOf(layers * heads, tokens)
    const list = html`<div class="groups">${groups.map(
      (group, i) =>
        html`<div role="group" aria-label=${say('groups.groupHeads', { i: i + 1, group: group.length })}>${repeat(group, String, (index) => buttonOf(page, index, maps[index]))}</div>`
    )}</div>`
    return {
      list,
      said: say('groups.headsGroupsOneHead', {
        heads: layers * heads,
        groups: groups.length,
        alone: groups.filter(({ length }) => length === 1).length,
        stride: stride === 1 ? say('groups.allQueries') : say('groups.eachThQuery', { stride })
      })
    }
  }
  return { keys: ['drawn'], draw }
}
