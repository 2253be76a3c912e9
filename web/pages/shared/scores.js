/* Scores before the softmax, from the kept query and key [H, T, D] of a layer. Stages, with the
 * value of ONNX's qk_matmul_output_mode:
 *   raw      q . k
 *   scaled   q . k / sqrt(D), mode 0; mode 1 adds softcap, which vision transformers have not
 *   masked   divided by the temperature and -Infinity where masks bar it, mode 2; the same as
 *   scaled where nothing is changed softmax  the weights, mode 3
 *   value    weight times the length of what the key's token gives, |v| (Kobayashi et al. 2020) */

/** @import {NamedArray} from '../../types/pages.js' */

/** @type {Record<string, string>} */
export const scoreStages = {
  value: 'softmax × |v|',
  softmax: 'softmax',
  masked: '+ mask',
  scaled: 'q·k / √D',
  raw: 'q·k'
}
/** @type {Record<string, string>} */
export const stageWords = {
  value: 'weight × |v|',
  masked: 'q·k / √D + mask (ONNX mode 2)',
  scaled: 'q·k / √D (ONNX mode 0)',
  raw: 'q·k, not scaled'
}

/**
 * One row (token is the query), or with reverse the column (token is the key), of one head.
 * @param {{query: NamedArray, key: NamedArray, head: number, tokens: number, token: number, reverse?: boolean, stage: string}} of
 */
export function scoreRow({ query, key, head, tokens, token, reverse = false, stage }) {
  const size = query.shape.at(-1),
    fixed = reverse ? key.data : query.data,
    other = reverse ? query.data : key.data
  const from = (head * tokens + token) * /** @type {number} */ (size),
    factor = stage === 'raw' ? 1 : 1 / Math.sqrt(/** @type {number} */ (size))
  return Float32Array.from({ length: tokens }, (_, i) => {
    let sum = 0
    const to = (head * tokens + i) * /** @type {number} */ (size)
    for (let d = 0; d < /** @type {number} */ (size); d++) sum += fixed[from + d] * other[to + d]
    return sum * factor
  })
}

/**
 * Weights of a row (or with reverse of the column of key `token`) of one head, each times the
 * length of the key's value [H, T, D].
 * @param {{weights: Float32Array, value: NamedArray, head: number, token: number, reverse?: boolean}} of
 */
export function valueRow({ weights, value, head, token, reverse = false }) {
  const size = value.shape.at(-1),
    first = head * weights.length,
    length = (/** @type {number} */ key) =>
      Math.hypot(
        ...value.data.subarray(
          (first + key) * /** @type {number} */ (size),
          (first + key + 1) * /** @type {number} */ (size)
        )
      )
  const own = reverse ? length(token) : 0
  return Float32Array.from(weights, (weight, key) => weight * (reverse ? own : length(key)))
}

/**
 * The mean over the rows that are not barred (-Infinity) there; -Infinity where all are.
 * @param {Float32Array[]} rows
 */
export function meanOf(rows) {
  return Float32Array.from(rows[0], (_, i) => {
    const open = rows.filter((row) => row[i] !== -Infinity)
    return open.length ? open.reduce((sum, row) => sum + row[i], 0) / open.length : -Infinity
  })
}
