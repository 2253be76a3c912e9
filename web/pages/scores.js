/* Scores before the softmax, from the kept query and key [H, T, D] of a layer. Stages, with the value of ONNX's qk_matmul_output_mode:
 *   raw      q . k
 *   scaled   q . k / sqrt(D), mode 0; mode 1 adds softcap, which vision transformers have not
 *   masked   divided by the temperature and -Infinity where masks bar it, mode 2; the same as scaled where nothing is changed
 *   softmax  the weights, mode 3 */

export const scoreStages = { softmax: 'softmax', masked: '+ mask', scaled: 'q·k / √D', raw: 'q·k' }
export const stageWords = { masked: 'q·k / √D + mask (ONNX mode 2)', scaled: 'q·k / √D (ONNX mode 0)', raw: 'q·k, not scaled' }

/** One row (token is the query), or with reverse the column (token is the key), of one head. */
export function scoreRow({ query, key, head, tokens, token, reverse = false, stage }) {
  const size = query.shape.at(-1), fixed = reverse ? key.data : query.data, other = reverse ? query.data : key.data
  const from = (head * tokens + token) * size, factor = stage === 'raw' ? 1 : 1 / Math.sqrt(size)
  return Float32Array.from({ length: tokens }, (_, i) => {
    let sum = 0
    const to = (head * tokens + i) * size
    for (let d = 0; d < size; d++) sum += fixed[from + d] * other[to + d]
    return sum * factor
  })
}

export function meanOf(rows) {
  return Float32Array.from(rows[0], (_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length)
}
