/* Heads that attend alike, in groups, each with its map of the query. Alike is the Jensen-Shannon
 * divergence of rows, mean over queries. Groups are of average linkage (Sokal and Michener 1958):
 * the two nearest become one while they are nearer than a limit. */
import { fixed } from '../../plot/parts/numbers.js'
import { divergence } from '../model/row_distance.js'
import { heat } from '../../plot/heat.js'
import { put } from './canvas.js'
import { say } from '../../languages/say.js'
import type { MakeView, Page } from '../../../types/pages.js'

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
    button = Object.assign(document.createElement('button'), { type: 'button' }),
    canvas = document.createElement('canvas'),
    weights = map.subarray(prefixTokens)
  put(canvas, heat({ weights, rows, columns, scale: drawn.scale, table }))
  canvas.setAttribute('aria-hidden', 'true')
  button.dataset.head = `${layer}.${head}`
  button.setAttribute(
    'aria-label',
    `${layer}.${head}: ${say('manyPictures.layerHead', { layer, head })}`
  )
  button.setAttribute('aria-pressed', String(state.layer === layer && state.head === head))
  button.append(canvas, `${layer}.${head}`)
  button.addEventListener('click', () => store.set({ layer, head }))
  return button
}

export const view: MakeView = (page, element) => {
  const { store, engine } = page
  element.innerHTML = `<div><label class="range">${say('groups.nearerThan')} <input type="range" name="limit" min="0.01" max="0.6" step="0.01" value="0.15"> <output></output></label></div>
    <div class="groups"></div><p class="hint" aria-live="polite"></p>`
  const limit = element.querySelector('input') as HTMLInputElement,
    list = element.querySelector('.groups'),
    said = element.querySelector('p')
  let ran = -1,
    distances: number[][] = []
  limit.addEventListener('input', () => draw(() => true).catch(page.showError))

  async function draw(latest: () => boolean) {
    const state = store.get(),
      { layers, heads, tokens } = engine.shape,
      { attention } = engine.result
    element.querySelector('output').textContent = say('groups.nats', {
      value: fixed(Number(limit.value), 2)
    })
    list.hidden = limit.disabled = !attention
    if (!attention) return (said.textContent = say('groups.headsGroupedWhereAll'))
    const maps = (await engine.rows({ query: page.query() })).slice(0, layers).flat()
    if (!latest()) return
    if (ran !== state.ran) {
      distances = distancesOf(
        attention.flatMap((layer) =>
          Array.from({ length: heads }, (_, head) =>
            layer.subarray(head * tokens * tokens, (head + 1) * tokens * tokens)
          )
        ),
        tokens
      )
      ran = state.ran
    }
    const groups = groupsOf(distances, Number(limit.value)),
      focused = (document.activeElement as HTMLElement | null)?.dataset.head
    list.replaceChildren(
      ...groups.map((group, i) => {
        const row = document.createElement('div')
        row.setAttribute('role', 'group')
        row.setAttribute('aria-label', say('groups.groupHeads', { i: i + 1, group: group.length }))
        row.append(...group.map((index) => buttonOf(page, index, maps[index])))
        return row
      })
    )
    if (focused) (list.querySelector(`[data-head="${focused}"]`) as HTMLElement | null)?.focus()
    const stride = strideOf(layers * heads, tokens),
      alone = groups.filter(({ length }) => length === 1).length
    said.textContent = say('groups.headsGroupsOneHead', {
      heads: layers * heads,
      groups: groups.length,
      alone,
      stride: stride === 1 ? say('groups.allQueries') : say('groups.eachThQuery', { stride })
    })
  }
  return { keys: ['drawn'], draw }
}
