/* node script.js WASM2JS MODULE OUT: the functions of a module as a script. A page runs it at once,
 * under any policy, before a module is fetched. binaryen's wasm2js writes it; what it writes around
 * functions for a memory is left out, so functions take numbers and return one. heed_scale_end is
 * exported as scaleEnd. The module imports functions of Math alone. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const [wasm2js, module, out] = process.argv.slice(2),
  /** @type {[string, string[]]} */
  [program, before] = readFileSync(wasm2js).subarray(0, 4).includes('ELF')
    ? [wasm2js, []]
    : [process.execPath, [wasm2js]]
const made = execFileSync(program, [...before, '-O2', module, '-o', '-'], { encoding: 'utf8' })

/** @param {string} name */
const inScript = (name) =>
  name.replace(/^heed_/, '').replace(/_(\w)/g, (_, letter) => letter.toUpperCase())

const exported = new Map(
    [...made.matchAll(/^ {2}"(\w+)": (\$\d+)/gm)].map(([, name, own]) => [own, inScript(name)])
  ),
  functions = [...made.matchAll(/^ function \$\d+\([^]*?^ \}\n/gm)].map(([text]) => text)
let script = functions.join('\n')
for (const [, own, name] of made.matchAll(/^ var (fimport\$\d+) = \w+\.(\w+);$/gm)) {
  if (!(name in Math)) throw new Error(`${module}: Math has no such function (found ${name})`)
  script = script.replaceAll(`${own}(`, `Math.${name}(`)
}
script = script
  .replace(/\bMath_(\w+)\(/g, 'Math.$1(')
  .replace(/\binfinity\b/g, 'Infinity') // as emcc's binaryen writes them
  .replace(/\bnan\b/g, 'NaN')
  .replace(/^ {2}(\$\w+) = (?:\+\1|\1 \| 0);\n/gm, '') // numbers are given, and numbers come of
  .replace(/(?<=[(=] |[(]|return )\+(?=[\w$(])/g, '')
for (const [own, name] of exported)
  script = script
    .replaceAll(`${own}(`, `${name}(`)
    .replace(`function ${name}(`, `export function ${name}(`)
const unknown = script.match(/\b(?:fimport|HEAP\w*|buffer\w*|wasm2js_\w+|\w*[sS]cratch\w*)\b/)
if (unknown || !exported.size)
  throw new Error(`${module}: more than numbers (found ${unknown ?? 'no function'})`)
writeFileSync(out, script.replace(/^ /gm, ''))
