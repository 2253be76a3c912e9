/* The benchmarks' models in 8 bits: as heed stores them, and as ONNX in two forms.
 *   int8  heed: int8, symmetric, one scale per output channel (docs/quantisation.md), made here from
 *         the format's description, not by `heed convert`
 *   s8    ONNX: int8, symmetric, one scale per tensor; the patch embedding stays in float
 *   u7    ONNX: uint8 of 0 to 127 with a zero point per output channel, the patch embedding too:
 *         the form of most q8 files that transformers.js loads
 * In ONNX, MatMul by weights becomes MatMulInteger with rows quantised per tensor on the way
 * (DynamicQuantizeLinear). Scores and values of attention stay in float everywhere. */

const roundEven = (x) => {
  const low = Math.floor(x),
    part = x - low
  return part > 0.5 || (part === 0.5 && low % 2) ? low + 1 : low
}
const largest = (values) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0)

/* One scale for these values; to: where they go. */
function quantiseSymmetric(values, to) {
  const scale = Math.fround(largest(values) / 127) || 1
  for (let i = 0; i < values.length; i++)
    to[i] = Math.max(-127, Math.min(127, roundEven(Math.fround(values[i] / scale))))
  return scale
}

/* 7 bits with a zero point, for the range of these values and 0. */
function quantiseRange(values, to) {
  let least = 0,
    most = 0
  for (const x of values) {
    least = Math.min(least, x)
    most = Math.max(most, x)
  }
  const scale = Math.fround((most - least) / 127) || 1,
    zero = roundEven(-least / scale)
  for (let i = 0; i < values.length; i++)
    to[i] = Math.max(0, Math.min(127, roundEven(values[i] / scale) + zero))
  return { scale, zero }
}

/** A table of tensors with the blocks' linear weights as heed keeps them: those of `names`. */
export function quantiseTable(table, names) {
  const entries = Object.entries(table).flatMap(([name, [shape, values]]) => {
    if (!names.has(name)) return [[name, [shape, values]]]
    const [rows, depth] = shape,
      numbers = new Int8Array(values.length),
      scale = new Float32Array(rows)
    for (let row = 0; row < rows; row++) {
      const part = [row * depth, (row + 1) * depth]
      scale[row] = quantiseSymmetric(values.subarray(...part), numbers.subarray(...part))
    }
    return [
      [name, [shape, numbers]],
      [`${name}_scale`, [[rows, 1], scale]]
    ]
  })
  return Object.fromEntries(entries)
}

/* Weights [rows, depth] transposed to [depth, rows], with their scales and zero points. */
function quantiseTransposed(form, [[rows, depth], values]) {
  const byRow = form === 's8' ? new Int8Array(values.length) : new Uint8Array(values.length),
    weights = new byRow.constructor(values.length)
  let scale = Float32Array.of(1),
    zero = Int8Array.of(0)
  if (form === 's8') scale[0] = quantiseSymmetric(values, byRow)
  else {
    scale = new Float32Array(rows)
    zero = new Uint8Array(rows)
    for (let row = 0; row < rows; row++) {
      const part = [row * depth, (row + 1) * depth],
        grid = quantiseRange(values.subarray(...part), byRow.subarray(...part))
      scale[row] = grid.scale
      zero[row] = grid.zero
    }
  }
  for (let i = 0; i < rows; i++)
    for (let k = 0; k < depth; k++) weights[k * rows + i] = byRow[i * depth + k]
  return { weights, scale, zero }
}

/* Rows quantised once for all products that take them. */
function quantisedRows(g, x) {
  g.quantisedRows ??= new Map()
  if (!g.quantisedRows.has(x))
    g.quantisedRows.set(
      x,
      g.add(
        'DynamicQuantizeLinear',
        [x],
        {},
        ['quantized', 'scale', 'zero_point'].map((part) => `${x}_${part}`)
      )
    )
  return g.quantisedRows.get(x)
}

/* The sums of a product of integers as floats. */
const widen = (g, sums, xScale, scale) =>
  g.add('Mul', [g.add('Cast', [sums], { to: 1 }), g.add('Mul', [xScale, scale])])

/** x times the weight [rows, depth] of this name, transposed: adds it and gives its output. */
export function addProduct(g, form, x, name, weight) {
  const [[rows, depth]] = weight,
    [bytes, xScale, xZero] = quantisedRows(g, x),
    { weights, scale, zero } = quantiseTransposed(form, weight)
  const axes = (data) => (data.length === 1 ? [] : [data.length])
  const sums = g.add('MatMulInteger', [
    bytes,
    g.constant(`${name}_quantized`, [depth, rows], weights),
    xZero,
    g.constant(`${name}_zero_point`, axes(zero), zero)
  ])
  return widen(g, sums, xScale, g.constant(`${name}_scale`, axes(scale), scale))
}

/** The convolution of x with a weight of 0 to 127, one zero point for all. */
export function addConvolution(g, x, name, [shape, values], attributes) {
  const numbers = new Uint8Array(values.length),
    { scale, zero } = quantiseRange(values, numbers),
    [bytes, xScale, xZero] = quantisedRows(g, x)
  const sums = g.add(
    'ConvInteger',
    [
      bytes,
      g.constant(`${name}_quantized`, shape, numbers),
      xZero,
      g.constant(`${name}_zero_point`, [], Uint8Array.of(zero))
    ],
    attributes
  )
  return widen(g, sums, xScale, g.constant(`${name}_scale`, [], Float32Array.of(scale)))
}
