/* Heads grouped by how alike their maps are: the Jensen-Shannon divergence of rows, mean over
 * queries, and groups of average linkage (Sokal and Michener 1958): the two nearest groups become
 * one while they are nearer than a limit. */
import { divergence } from './row_distance.js'

/* Weights that are read for all pairs of heads together: about a second. */
const work = 2e7

/**
 * Every how many-th query is read.
 * @param {number} heads
 * @param {number} tokens
 */
export const strideOf = (heads, tokens) =>
  Math.max(1, Math.ceil((heads * heads * tokens * tokens) / 2 / work))

/**
 * How far apart all pairs of maps are, [heads, heads], in nats.
 * @param {Float32Array[]} maps of each head, [T, T]
 * @param {number} tokens
 * @returns {number[][]}
 */
export function distancesOf(maps, tokens) {
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

/**
 * Groups of entries nearer than `limit`, the largest first, each in the entries' order.
 * @param {number[][]} distances
 * @param {number} limit
 * @returns {number[][]}
 */
export function groupsOf(distances, limit) {
  const groups = distances.map((_, i) => [i])
  const apart = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
    a.reduce((sum, i) => sum + b.reduce((s, j) => s + distances[i][j], 0), 0) /
    (a.length * b.length)
  for (;;) {
    let nearest = limit,
      pair = /** @type {[number, number] | null} */ (null)
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
