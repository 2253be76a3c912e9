/* Products of int8 of a module for tests against plain numbers, bit for bit; runs in Node
 * and in a page. docs/quantisation.md says how rows are quantised. */

/**
 * @typedef {Record<string, (...numbers: number[]) => number> & {memory: WebAssembly.Memory}} Checks
 * @typedef {{rows: number, depth: number, columns: number, x: string, weight: string}} Case
 */

/** @param {number} seed */
function randomOf(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) / 16777216
  }
}

/** @type {Record<string, (i: number, random: () => number) => number>} */
const rowKinds = {
  normal: (_, random) => (random() + random() + random() - 1.5) * 2,
  largest: () => 3,
  smallest: () => -2.5,
  alternating: (i) => (i % 2 ? 1 : -1),
  zeros: () => 0,
  outlier: (i, random) => (i === 5 ? 3e30 : random() - 0.5),
  positive: (_, random) => random() + 7,
  tiny: (_, random) => 1e-42 * random(),
  infinite: (i, random) => (i === 0 ? Infinity : random()),
  nan: (i, random) => (i === 0 ? Number.NaN : random())
}
/** @type {Record<string, (i: number, random: () => number) => number>} */
const weightKinds = {
  any: (_, random) => Math.floor(random() * 256) - 128,
  largest: () => 127,
  smallest: () => -128,
  alternating: (i) => (i % 2 ? 127 : -128),
  zeros: () => 0
}

/** @param {number} x */
function toEven(x) {
  const near = Math.round(x)
  return near - x === 0.5 && near % 2 !== 0 ? near - 1 : near
}

/**
 * @param {Float32Array} x one row
 * @returns {{step: number, zero: number, q: number[]}}
 */
function quantise(x) {
  const round = Math.fround,
    least = Math.min(0, ...x),
    most = Math.max(0, ...x)
  if (!x.every(Number.isFinite)) return { step: Number.NaN, zero: 0, q: [] }
  let step = round(round(most / 255) - round(least / 255))
  if (step < 2 ** -126) step = 1
  const inverse = round(1 / step),
    zero = Math.min(255, toEven(round(-least * inverse))),
    q = Array.from(x, (value) => Math.min(255, Math.max(0, toEven(round(value * inverse)) + zero)))
  return { step, zero, q }
}

/**
 * @param {Case} c
 * @param {Float32Array} x
 * @param {Int8Array} weight
 * @param {Float32Array} scale
 */
function expected({ rows, depth, columns }, x, weight, scale) {
  const y = new Float32Array(rows * columns)
  for (let row = 0; row < rows; row++) {
    const { step, zero, q } = quantise(x.subarray(row * depth, (row + 1) * depth))
    for (let n = 0; n < columns; n++) {
      let sum = 0
      for (let k = 0; k < q.length; k++) sum += (q[k] - zero) * weight[n * depth + k]
      y[row * columns + n] = Math.fround(sum) * Math.fround(step * scale[n])
    }
  }
  return y
}

/**
 * @param {Checks} checks
 * @param {number} web
 * @param {ArrayBufferView} array
 */
function lend(checks, web, array) {
  const at = checks.alloc(web, array.byteLength)
  new Uint8Array(checks.memory.buffer, at, array.byteLength).set(
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
  )
  return at
}

/** @type {Case[]} */
const cases = []
const columns = [1, 3, 4, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 47, 48, 49]
for (const rows of [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13])
  for (const depth of [1, 2, 3, 4, 5, 63, 64, 65, 131])
    cases.push({
      rows,
      depth,
      columns: columns[cases.length % columns.length],
      x: 'normal',
      weight: 'any'
    })
for (const x of Object.keys(rowKinds))
  for (const weight of Object.keys(weightKinds))
    cases.push({ rows: 7, depth: 70, columns: 26, x, weight })
for (const weight of ['largest', 'smallest', 'alternating'])
  for (const x of ['largest', 'alternating'])
    cases.push({ rows: 2, depth: 65000, columns: 3, x, weight })
cases.push({ rows: 600, depth: 24, columns: 36, x: 'normal', weight: 'any' })
cases.push({ rows: 1100, depth: 12, columns: 25, x: 'normal', weight: 'any' })

/** @param {Uint8Array | ArrayBuffer} bytes of the module */
export async function runProducts(bytes) {
  const nothing = () => 0,
    heed = { read: nothing, progress: nothing, cancelled: nothing, take: nothing },
    { instance } = await WebAssembly.instantiate(/** @type {ArrayBuffer} */ (bytes), {
      heed
    }),
    checks = /** @type {Checks} */ (/** @type {unknown} */ (instance.exports))
  checks._initialize()
  const web = checks.create(1),
    levels = [],
    wrong = []
  const text = (/** @type {number} */ at) => {
    const all = new Uint8Array(checks.memory.buffer)
    return new TextDecoder().decode(all.slice(at, all.indexOf(0, at)))
  }
  for (let i = 0, at = checks.int8_level(0); at; at = checks.int8_level(++i)) {
    const level = text(at)
    levels.push(level)
    for (const [seed, c] of cases.entries()) {
      const found = runCase(checks, web, at, c, seed)
      if (found !== undefined) wrong.push(`${level} ${JSON.stringify(c)}: ${found}`)
    }
  }
  return { levels, wrong, count: cases.length }
}

/**
 * @param {Checks} checks
 * @param {number} web
 * @param {number} level
 * @param {Case} c
 * @param {number} seed
 * @returns {string | undefined} the first element that differs
 */
function runCase(checks, web, level, c, seed) {
  const random = randomOf(seed + 1),
    x = Float32Array.from({ length: c.rows * c.depth }, (_, i) =>
      rowKinds[Math.floor(i / c.depth) % 3 === 2 ? 'normal' : c.x](i % c.depth, random)
    ),
    weight = Int8Array.from({ length: c.columns * c.depth }, (_, i) =>
      weightKinds[c.weight](i % c.depth, random)
    ),
    scale = Float32Array.from({ length: c.columns }, () => 0.001 + random() / 50),
    want = expected(c, x, weight, scale),
    y = new Float32Array(want.length).fill(-1),
    blocks = [x, weight, scale, y].map((array) => lend(checks, web, array)),
    status = checks.int8_linear(web, level, c.rows, c.depth, c.columns, ...blocks),
    got = new Float32Array(checks.memory.buffer, blocks[3], want.length).slice()
  for (const block of blocks) checks.free(web, block)
  const at = got.findIndex((value, i) => !Object.is(value, want[i]) && value !== want[i])
  if (status !== 0) return `status ${status}`
  return at < 0 ? undefined : `element ${at} is ${got[at]}, expected ${want[at]}`
}
