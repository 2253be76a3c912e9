/* node split.js WASM_SPLIT WASM_OPT MODULE MORE: a module with the names of its functions in two. MORE
 * gets the functions behind the first half of the code; MODULE calls them through its table, where
 * they stand once MORE is instantiated with MODULE's exports. Without names and, where WASM_OPT is
 * there, each made small once more. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const [split, optimise, file, more] = process.argv.slice(2),
  share = 0.5
const features = [
  '--mvp-features',
  '--enable-simd',
  '--enable-sign-ext',
  '--enable-mutable-globals'
]

/** Reads what a module's sections are made of. */
class Reader {
  at = 0
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes
  }
  number() {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++]
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  part() {
    const size = this.number()
    this.at += size
    return this.bytes.subarray(this.at - size, this.at)
  }
  text() {
    return new TextDecoder().decode(this.part())
  }
}

/** The names of functions by their numbers. @param {Uint8Array} section */
function namesOf(section) {
  const reader = new Reader(section),
    names = /** @type {string[]} */ ([])
  reader.text()
  while (reader.at < section.length) {
    const kind = reader.number(),
      list = new Reader(reader.part())
    if (kind !== 1) continue
    for (let left = list.number(); left > 0; left--) names[list.number()] = list.text()
  }
  return names
}

/** The functions of the code, in its order: [name, bytes]. */
function functionsOf() {
  const module = new Reader(readFileSync(file)),
    imported = WebAssembly.Module.imports(new WebAssembly.Module(module.bytes)).filter(
      ({ kind }) => kind === 'function'
    ).length,
    sizes = /** @type {number[]} */ ([])
  let names = /** @type {string[]} */ ([])
  for (module.at = 8; module.at < module.bytes.length; ) {
    const kind = module.number(),
      section = new Reader(module.part())
    if (kind === 10)
      for (let left = section.number(); left > 0; left--) sizes.push(section.part().length)
    if (kind === 0 && section.text() === 'name') names = namesOf(section.bytes)
  }
  return sizes.map((size, i) => /** @type {const} */ ([names[imported + i], size]))
}

const functions = functionsOf(),
  total = functions.reduce((sum, [, size]) => sum + size, 0)
let before = 0
const moved = functions.filter(([, size]) => (before += size) > share * total)
execFileSync(split, [
  file,
  `--split-funcs=${moved.map(([name]) => name).join(',')}`,
  `--primary-output=${file}`,
  `--secondary-output=${more}`,
  ...features
])
if (existsSync(optimise))
  for (const part of [file, more])
    execFileSync(process.execPath, [
      optimise,
      part,
      '-o',
      part,
      '-Oz',
      '--strip-debug',
      '--strip-producers',
      '--strip-target-features',
      ...features
    ])
