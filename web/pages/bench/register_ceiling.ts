/* How fast one thread multiplies and adds when all numbers stay in registers: a WebAssembly loop of
 * independent sums, put together here byte by byte. What kernels reach is compared with it. Binary
 * format: WebAssembly core specification 2.0, section 5; relaxed SIMD. */

/* Enough to fill two units of 4 cycles, few enough for 16 registers. An engine's code for one loop
 * may be half as fast as for another (V8: 12 and 24 GFLOP/s of SIMD on one machine, by turns), so
 * several are tried. */
const lengths = [8, 9, 10, 12]
const leb = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]
const section = (id: number, bytes: number[]) => [id, ...leb(bytes.length), ...bytes]
const number = (value: number) => [0x43, ...new Uint8Array(Float32Array.of(value).buffer)]
const get = (local: number) => [0x20, local],
  set = (local: number) => [0x21, local]

/* lanes; the type of locals; a number into all lanes; sum * x + y; sum + other; its first lane. */
const kinds: Record<
  string,
  {
    lanes: number
    type: number
    splat: number[]
    step: (sum: number, x: number, y: number) => number[]
    add: number[]
    first: number[]
  }
> = {
  simd: {
    lanes: 4,
    type: 0x7b,
    splat: [0xfd, 0x13],
    step: (sum, x, y) => [...get(sum), ...get(x), 0xfd, 0xe6, 0x01, ...get(y), 0xfd, 0xe4, 0x01],
    add: [0xfd, 0xe4, 0x01],
    first: [0xfd, 0x1f, 0x00]
  },
  relaxed: {
    lanes: 4,
    type: 0x7b,
    splat: [0xfd, 0x13],
    step: (sum, x, y) => [...get(sum), ...get(x), ...get(y), 0xfd, 0x85, 0x02],
    add: [0xfd, 0xe4, 0x01],
    first: [0xfd, 0x1f, 0x00]
  }
}

/** The module's bytes; it exports run(rounds). */
export function ceilingModule(kind: string, sums = 12) {
  const { type, splat, step, add, first } = kinds[kind],
    x = sums + 1,
    y = sums + 2,
    all = Array.from({ length: sums }, (_, i) => i + 1)
  const start = [...all.map((sum) => [sum, sum / 16]), [x, 0.999], [y, 0.001]].flatMap(
    ([local, value]) => [...number(value), ...splat, ...set(local)]
  )
  const loop = [
    0x03,
    0x40,
    ...all.flatMap((sum) => [...step(sum, x, y), ...set(sum)]),
    ...get(0),
    0x41,
    1,
    0x6b,
    0x22,
    0,
    0x0d,
    0,
    0x0b
  ]
  const body = [
    1,
    sums + 2,
    type,
    ...start,
    ...loop,
    ...get(1),
    ...all.slice(1).flatMap((sum) => [...get(sum), ...add]),
    ...first,
    0x0b
  ]
  return Uint8Array.from([
    0,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7d]),
    ...section(3, [1, 0]),
    ...section(7, [1, 3, 0x72, 0x75, 0x6e, 0, 0]),
    ...section(10, [1, ...leb(body.length), ...body])
  ])
}

/** GFLOP/s of one loop, the best of some turns of about 10 ms. */
async function loopCeiling(bytes: Uint8Array<ArrayBuffer>, operations: number, turns: number) {
  const {
      instance: {
        exports: { run }
      }
    } = (await WebAssembly.instantiate(bytes)) as unknown as {
      instance: { exports: { run: (rounds: number) => void } }
    },
    time = (rounds: number) => {
      const before = performance.now()
      run(rounds)
      return performance.now() - before
    }
  let rounds = 1 << 14,
    best = Infinity
  while (time(rounds) < 10 && rounds < 1 << 28) rounds *= 2
  for (let turn = 0; turn < turns; turn++) {
    best = Math.min(best, time(rounds))
    await new Promise((done) => setTimeout(done))
  }
  return (operations * rounds) / best / 1e6
}

/** GFLOP/s of one thread, the best of `turns` of each loop. null where this engine has no such
 * instructions. */
export async function registerCeiling(kind: string, turns = 8) {
  if (!WebAssembly.validate(ceilingModule(kind))) return null
  let best = 0
  for (const sums of lengths)
    best = Math.max(
      best,
      await loopCeiling(ceilingModule(kind, sums), 2 * sums * kinds[kind].lanes, turns)
    )
  return best
}
