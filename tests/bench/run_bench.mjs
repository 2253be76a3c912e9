/* node run_bench.mjs PROGRAM.wasm [ARGUMENTS]: runs a WASI program with arguments. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { WASI } from 'node:wasi'

const [file, ...rest] = process.argv.slice(2)
const wasi = new WASI({ version: 'preview1', args: [basename(file), ...rest] })
const module = new WebAssembly.Module(readFileSync(file))
const imports = { wasi_snapshot_preview1: wasi.wasiImport, env: { emscripten_notify_memory_growth() {} } }
process.exitCode = wasi.start(new WebAssembly.Instance(module, imports)) ?? 0
