// near.mjs FOUND EXPECTED TOLERANCE [LEFT,OUT]: is each tensor of EXPECTED but those left out in FOUND, of the same shape and within TOLERANCE?
// Both are safetensors files of F32 and F64. A name may begin with "expect." in EXPECTED. Ends with 1 and a sentence where not.
import { readFileSync } from 'node:fs'

const kinds = { F32: Float32Array, F64: Float64Array }

/** Tensors by name: shape and values. */
function tensors(path) {
  const bytes = readFileSync(path)
  const length = Number(bytes.readBigUInt64LE(0))
  const header = JSON.parse(bytes.subarray(8, 8 + length).toString())
  const found = new Map()
  for (const [name, tensor] of Object.entries(header)) {
    if (!kinds[tensor.dtype]) continue
    const data = bytes.subarray(
      8 + length + tensor.data_offsets[0],
      8 + length + tensor.data_offsets[1]
    )
    found.set(name.replace(/^expect\./, ''), {
      shape: tensor.shape.join(),
      values: new kinds[tensor.dtype](new Uint8Array(data).buffer)
    })
  }
  return found
}

const [found, expected] = process.argv.slice(2, 4).map(tensors)
const tolerance = Number(process.argv[4]),
  leftOut = (process.argv[5] ?? '').split(',')
let compared = 0
const failures = []
for (const [name, { shape, values }] of expected) {
  if (leftOut.includes(name) || (name === 'pixel_values' && !found.has(name))) continue
  const other = found.get(name)
  if (!other) failures.push(`${name}: missing (found ${[...found.keys()].join(' ')})`)
  else if (other.shape !== shape) failures.push(`${name}: shape ${other.shape}, expected ${shape}`)
  else {
    const largest = values.reduce(
      (most, value, i) =>
        Math.max(most, Object.is(value, other.values[i]) ? 0 : Math.abs(value - other.values[i])),
      0
    )
    compared++
    if (!(largest <= tolerance))
      failures.push(`${name}: off by ${largest}, expected ${tolerance} at most`)
  }
}
if (compared === 0) failures.push('nothing was compared')
for (const failure of failures) console.log(failure)
process.exit(failures.length ? 1 : 0)
