/* What a query may see, as factors [Tq, Tk] of true and false that are ANDed, as Keras's MultiHeadAttention joins them: query padding by
 * row, key padding by column, causal, sliding window, and one painted by hand. And what a row without any key becomes. */

export const factorNames = { query: 'Query padding', key: 'Key padding', causal: 'Causal', window: 'Window', painted: 'Painted' }

/** setting: { queries, keys (true = real token), causal, window: null or [left, right], painted: rows or null }. */
export function factors({ queries, keys, causal, window, painted }) {
  const table = (may) => queries.map((_, i) => keys.map((_, j) => may(i, j)))
  return {
    query: queries.includes(false) ? table((i) => queries[i]) : null, key: keys.includes(false) ? table((_, j) => keys[j]) : null,
    causal: causal ? table((i, j) => j <= i) : null, window: window ? table((i, j) => j >= i - window[0] && j <= i + window[1]) : null,
    painted: painted?.flat().includes(false) ? table((i, j) => painted[i][j]) : null
  }
}

export const allOf = (parts, queries, keys) => queries.map((_, i) => keys.map((_, j) => Object.values(parts).every((part) => part === null || part[i][j])))

/** Weights of a fully masked row of raw scores by the conventions in use. */
export const emptyRows = {
  zero: { name: 'zero', who: 'heed, ONNX 1.23', row: (scores) => scores.map(() => 0) },
  uniform: { name: 'uniform', who: '−1e9 added in float32 (Keras)', row: (scores) => scores.map(() => 1 / scores.length) },
  nan: { name: 'not a number', who: '−∞ added (PyTorch’s plain softmax)', row: (scores) => scores.map(() => NaN) },
  unmasked: { name: 'nearly unmasked', who: '−10 000 added (old BERT code)', row: (scores, softmax) => softmax(scores.map((score) => Math.fround(Math.fround(score) - 10000))) }
}

/** Patches of a picture that no query sees when the keys stand for equal runs of them in raster order: [first, last] of each run that is
 * hidden. mask: rows of true and false. */
export function hiddenPatches(mask, patches) {
  const keys = mask[0].length, runs = [], start = (key) => Math.round((key * patches) / keys)
  for (let key = 0; key < keys; key++) {
    if (mask.some((row) => row[key])) continue
    if (runs.at(-1)?.[1] === start(key) - 1) runs.at(-1)[1] = start(key + 1) - 1
    else runs.push([start(key), start(key + 1) - 1])
  }
  return runs
}
