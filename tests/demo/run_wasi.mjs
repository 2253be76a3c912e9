// node run_wasi.mjs PROGRAM.wasm: runs a WASI command.
import { readFile } from 'node:fs/promises'
import { WASI } from 'node:wasi'

const wasi = new WASI({ version: 'preview1' })
const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {
  wasi_snapshot_preview1: wasi.wasiImport
})
process.exitCode = wasi.start(instance) ?? 0
