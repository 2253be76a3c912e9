/* The whole matrix of one head: row = query, column = key, with a crosshair at the query. */
import { percent, times, tokenName } from '../plot/caption.js'
import { heat } from '../plot/heat.js'
import { largestOf } from '../plot/raster.js'
import { put } from './stage.js'

export function matrixView(page, element) {
  const { store, engine } = page
  element.innerHTML = '<p class="hint">Row = query, column = key; CLS and registers first. A click takes the row as the query.</p><div class="raster"><canvas tabindex="-1"></canvas></div><p class="hint"></p>'
  const canvas = element.querySelector('canvas'), said = element.lastElementChild
  let matrix = null, held = '', turn = 0

  const at = (event) => {
    const box = canvas.getBoundingClientRect(), { tokens } = engine.shape
    const index = (share) => Math.min(tokens - 1, Math.max(0, Math.floor(share * tokens)))
    return { query: index((event.clientY - box.top) / box.height), key: index((event.clientX - box.left) / box.width) }
  }
  canvas.addEventListener('pointermove', (event) => {
    const { query, key } = at(event), { tokens, prefixTokens, columns } = engine.shape, weight = matrix[query * tokens + key]
    said.textContent = `${tokenName(query, prefixTokens, columns)} to ${tokenName(key, prefixTokens, columns)}: ${percent(weight)} = ${times(weight, tokens)}`
  })
  canvas.addEventListener('click', (event) => {
    const { query } = at(event), { prefixTokens, columns } = engine.shape
    store.set({ query: query < prefixTokens ? 'cls' : [Math.floor((query - prefixTokens) / columns), (query - prefixTokens) % columns] })
  })

  async function draw() {
    const mine = ++turn, { layer, head, ran } = store.get(), { tokens } = engine.shape
    const wanted = `${ran} ${layer} ${head}`
    if (wanted !== held) {
      const found = await engine.matrix(layer, head)
      if (mine !== turn) return
      matrix = found
      held = wanted
    }
    const largest = largestOf(matrix), { scale } = page.drawn
    put(canvas, heat({ weights: matrix, rows: tokens, columns: tokens, scale, table: page.table }))
    const context = canvas.getContext('2d'), row = page.drawn.token
    context.fillStyle = '#ff5a36'
    context.fillRect(0, row, 2, 1)
    context.fillRect(tokens - 2, row, 2, 1)
    said.textContent = `Layer ${layer}, ${head === 'mean' ? 'mean of the heads' : `head ${head}`}: ${tokens} × ${tokens} weights on the picture’s scale, the largest ${percent(largest)} = ${times(largest, tokens)}`
    canvas.setAttribute('aria-label', said.textContent)
    canvas.setAttribute('role', 'img')
  }
  return { keys: ['drawn'], draw }
}
