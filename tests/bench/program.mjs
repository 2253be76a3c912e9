/* A program of WASI (bench_ops.wasm) in any engine, Node or a page: arguments, a clock and output
 * are all that it gets. */

class Exit extends Error {
  constructor(code) {
    super(`exit code ${code}`)
    this.code = code
  }
}

/** Runs the program of these bytes with its arguments, the first its name; `write` gets what it
 * prints, as text. Returns its exit code. */
export async function runProgram(bytes, args, write) {
  const words = args.map((word) => new TextEncoder().encode(`${word}\0`)),
    decoder = new TextDecoder()
  let memory
  const view = () => new DataView(memory.buffer),
    put = (at, value) => view().setUint32(at, value, true)
  const calls = {
    args_sizes_get(count, size) {
      put(count, words.length)
      put(
        size,
        words.reduce((sum, { length }) => sum + length, 0)
      )
      return 0
    },
    args_get(pointers, text) {
      for (const [i, word] of words.entries()) {
        put(pointers + 4 * i, text)
        new Uint8Array(memory.buffer).set(word, text)
        text += word.length
      }
      return 0
    },
    clock_time_get(clock, precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true)
      return 0
    },
    fd_write(file, parts, count, written) {
      let size = 0
      for (let i = 0; i < count; i++) {
        const at = view().getUint32(parts + 8 * i, true),
          length = view().getUint32(parts + 8 * i + 4, true)
        write(decoder.decode(new Uint8Array(memory.buffer, at, length), { stream: true }))
        size += length
      }
      put(written, size)
      return 0
    },
    fd_close: () => 0,
    fd_seek: () => 29 /* a pipe cannot */,
    proc_exit(code) {
      throw new Exit(code)
    }
  }
  const imports = { wasi_snapshot_preview1: calls, env: { emscripten_notify_memory_growth() {} } }
  const { instance } = await WebAssembly.instantiate(bytes, imports)
  memory = instance.exports.memory
  try {
    instance.exports._start()
  } catch (error) {
    if (!(error instanceof Exit)) throw error
    return error.code
  }
  return 0
}
