/* What `heed run --json` says of one row of a scene, for the numbers that the zoom shows beside it. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, native } from './package.js'

const folder = mkdtempSync(join(tmpdir(), 'heed-row-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

/** @param {number[]} logits */
export function softmax(logits) {
  const raised = logits.map((one) => Math.exp(one - Math.max(...logits))),
    sum = raised.reduce((a, b) => a + b)
  return raised.map((one) => one / sum)
}

/**
 * Asks the command of a scene.
 * @param {any} scene a seed, or a scene in objects
 * @returns {(...options: string[]) => any} the first result
 */
function asking(scene) {
  const seed = typeof scene === 'number'
  if (!seed) writeFileSync(join(folder, 'scene.json'), JSON.stringify(scene))
  const words = ['run', '--scene', seed ? String(scene) : 'scene.json', '--backend', 'cpu']
  return (...options) => {
    execFileSync(native, [...words, '--layer', 'all', '--json', 'out.json', ...options], {
      cwd: folder,
      stdio: 'ignore'
    })
    return JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')).results[0]
  }
}

/**
 * The tokens of the twin that a row's query is not on, where its first key lies on it; else null.
 * @param {any} scene
 * @param {{token: number, prefixTokens: number, weights: number[]}} row
 */
async function twinOf(scene, { token, prefixTokens, weights }) {
  const runtime = await createRuntime(),
    { owner, twins } = await runtime.scene(scene),
    mine = twins?.indexOf(owner[token - prefixTokens]) ?? -1,
    other = mine < 0 ? -1 : /** @type {number[]} */ (twins)[1 - mine],
    [first] = [...weights.keys()]
      .filter((key) => key >= prefixTokens && key !== token && weights[key] * weights.length > 2)
      .sort((a, b) => weights[b] - weights[a])
  runtime.close()
  if (other < 0 || owner[first - prefixTokens] !== other) return null
  return Array.from(owner, (one, patch) => (one === other ? patch + prefixTokens : -1)).filter(
    (key) => key >= 0
  )
}

/**
 * The model without each head: the share of a class, the row of a head, and how much of the first
 * token's attention moves in each head where that one is out.
 * @param {(...options: string[]) => any} ask
 * @param {{best: number, query: string, layer: number, head: number}} row
 */
function withoutEach(ask, { best, query, layer, head }) {
  const without = /** @type {Record<string, number>} */ ({}),
    rows = /** @type {Record<string, number[]>} */ ({}),
    moved = /** @type {Record<string, number>} */ ({}),
    whole = ask('--query', 'cls').heads,
    cut = ask('--query', 'cls', '--ablate', `${layer}.${head}`).heads
  whole.forEach((/** @type {any} */ { layer: l, head: h, row }, /** @type {number} */ i) => {
    const name = `${l}.${h}`,
      { logits, heads } = ask('--query', query, '--ablate', name)
    without[name] = softmax(logits)[best]
    rows[name] = heads.find(
      (/** @type {any} */ one) => one.layer === layer && one.head === head
    ).row
    moved[name] = row.reduce(
      (/** @type {number} */ sum, /** @type {number} */ weight, /** @type {number} */ key) =>
        sum + Math.abs(weight - cut[i].row[key]) / 2,
      0
    )
  })
  return { without, rows, moved }
}

/**
 * The numbers of a row.
 * @param {any} scene a seed, or a scene in objects
 * @param {{layer?: number, head?: number, row?: number, column?: number}} [at]
 */
export async function commandRow(scene, { layer = 3, head = 0, row = 2, column = 10 } = {}) {
  const ask = asking(scene),
    query = `${row},${column}`,
    whole = ask('--query', query, '--score', 'scaled'),
    { tokens, prefix_tokens: prefixTokens, query_token: token } = whole,
    { row: weights, scores } = whole.heads.find(
      (/** @type {any} */ one) => one.layer === layer && one.head === head
    ),
    names = ['query', 'key', 'value', 'attention.output'].map((name) => `layer.${layer}.${name}`),
    states = `layer.${Math.max(0, layer - 1)}.output`,
    { values } = ask('--save-only', [...names, states].join()),
    [queries, keys, all] = names.map((name) => values[name][head]),
    depth = queries[0].length,
    shares = softmax(whole.logits),
    best = shares.indexOf(Math.max(...shares))
  return {
    target: await twinOf(scene, { token, prefixTokens, weights }),
    token,
    tokens,
    prefixTokens,
    columns: /** @type {number} */ (whole.grid[1]),
    weights: /** @type {number[]} */ (weights),
    scores: /** @type {number[]} */ (scores),
    depth: /** @type {number} */ (depth),
    shares,
    best,
    label: /** @type {string} */ (whole.top[0].label),
    state: /** @type {number[]} */ (values[states][token]),
    query: /** @type {number[]} */ (queries[token]),
    ownKey: /** @type {number[]} */ (keys[token]),
    value: /** @type {number[]} */ (all[token]),
    mixed: /** @type {number[]} */ (
      values[names[3]][token].slice(head * depth, (head + 1) * depth)
    ),
    keyOf: (/** @type {number} */ other) => keys[other],
    valueOf: (/** @type {number} */ other) => all[other],
    /** The answer's share without a head. */
    without: (/** @type {string} */ name) =>
      softmax(ask('--query', query, '--ablate', name).logits)[best],
    each: () => withoutEach(ask, { best, query, layer, head })
  }
}
