/* node run_bench.mjs PROGRAM.wasm [ARGUMENTS]: runs a WASI program with arguments. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { runProgram } from './program.mjs'

const [file, ...rest] = process.argv.slice(2)
process.exitCode = await runProgram(readFileSync(file), [basename(file), ...rest], (text) =>
  process.stdout.write(text)
)
