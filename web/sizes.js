/* What the page on embedding says about sizes: node sizes.js SITE writes SITE/sizes.json, [{ name, what, bytes, gzip, brotli }] of every module,
 * the library's scripts, the element with what it imports, the demo model and the explorer. */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const site = resolve(process.argv[2])
const read = (file) => readFileSync(join(site, file))

/* A script and what it imports from the start. */
function withImports(file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  for (const [, name] of read(file).toString().matchAll(/(?:\bfrom|\bimport)\s*["'](\.[^"']+)["']/g)) withImports(relative(site, join(site, dirname(file), name)), found)
  return found
}

const library = withImports('heed/index.js'), worker = withImports('heed/worker.js'), element = withImports('attention-map.js'), whole = withImports('explorer.js')
const scripts = new Set([...library, ...worker])
const modules = [
  ['heed/heed-relaxed.wasm', 'relaxed SIMD, one thread'], ['heed/heed-relaxed-threads.wasm', 'relaxed SIMD, threads'], ['heed/heed.wasm', 'SIMD, one thread'],
  ['heed/heed-threads.wasm', 'SIMD, threads'], ['heed/heed-scalar.wasm', 'no SIMD'], ['heed/heed-scene.wasm', 'draws scenes, loaded by who asks for one'],
  ['heed/heed-relaxed-check.wasm', 'checks case files, loaded by who asks for it; one beside each module']
].filter(([file]) => { try { return read(file) } catch { return false } })
const parts = [
  ...modules.map(([file, what]) => [file, `module: ${what}`, [file]]),
  ['heed/*.js', 'the library and its worker', [...scripts]],
  ['attention-map.js', 'the element and its plots, without the library', [...element].filter((file) => !scripts.has(file))],
  ['heed/demo/model.safetensors', 'the demo model’s weights', ['heed/demo/model.safetensors']],
  ['index.html, style.css, explorer.js …', 'the explorer at its start, without the library', ['index.html', 'style.css', ...[...whole].filter((file) => !scripts.has(file))]]
]
const sum = (files, weigh) => files.reduce((total, file) => total + weigh(read(file)).length, 0)
const table = parts.map(([name, what, files]) => ({ name, what, bytes: sum(files, (bytes) => bytes), gzip: sum(files, (bytes) => gzipSync(bytes, { level: 9 })), brotli: sum(files, (bytes) => brotliCompressSync(bytes)) }))
writeFileSync(join(site, 'sizes.json'), `[\n${table.map((line) => JSON.stringify(line)).join(',\n')}\n]\n`)
