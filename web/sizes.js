/* What the page on embedding says about sizes: SITE/sizes.json, [{ name, what, bytes, gzip, brotli
 * }] of every module, the library's scripts, the element with what it imports, the demo model and
 * the explorer. */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/** @type {[file: string, what: string][]} */
const modules = [
  ['heed/heed-relaxed.wasm', 'relaxed SIMD, one thread'],
  ['heed/heed-relaxed-threads.wasm', 'relaxed SIMD, threads'],
  ['heed/heed.wasm', 'SIMD, one thread'],
  ['heed/heed-threads.wasm', 'SIMD, threads'],
  ['heed/heed-scalar.wasm', 'no SIMD'],
  ['heed/heed-scene.wasm', 'draws scenes, loaded by who asks for one'],
  ['heed/heed-check.wasm', 'checks case files, loaded by who asks for it']
]

/**
 * A script and what it imports from the start, as names in the site.
 * @param {string} site
 * @param {string} file
 * @param {Set<string>} [found]
 */
function importsOf(site, file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  for (const [, name] of readFileSync(join(site, file), 'utf8')
    .replace(/\/\*[^]*?\*\//g, '') // types are imported in comments
    .matchAll(/(?:\bfrom|\bimport)\s*["'](\.[^"']+)["']/g))
    importsOf(site, relative(site, join(site, dirname(file), name)), found)
  return found
}

/**
 * explorer: the name of its script in the site.
 * @param {string} site
 * @param {string} explorer
 */
export function weigh(site, explorer) {
  const read = (/** @type {string} */ file) => readFileSync(join(site, file)),
    isThere = (/** @type {[file: string, what: string]} */ [file]) => {
      try {
        return read(file)
      } catch {
        return false
      }
    }
  const withImports = (/** @type {string} */ file) => importsOf(site, file)
  const worker = withImports('heed/worker.js'),
    scripts = new Set([...withImports('heed/index.js'), ...worker])
  /** @type {[name: string, what: string, files: string[]][]} */
  const parts = [
    ...modules
      .filter(isThere)
      .map(
        ([file, what]) =>
          /** @type {[string, string, string[]]} */ ([file, `module: ${what}`, [file]])
      ),
    ['heed/*.js', 'the library and its worker', [...scripts]],
    [
      'attention-map.js',
      'the element and its plots, without the library',
      [...withImports('attention-map.js')].filter((file) => !scripts.has(file))
    ],
    ['heed/demo/model.safetensors', 'the demo model’s weights', ['heed/demo/model.safetensors']],
    [
      'index.html, shared/style.css, explorer.js …',
      'the explorer at its start, with the library and its worker',
      [...new Set(['index.html', 'shared/style.css', ...withImports(explorer), ...worker])]
    ]
  ]
  /**
   * @param {string[]} files
   * @param {(bytes: Buffer) => Uint8Array} measure
   */
  const sum = (files, measure) =>
    files.reduce((total, file) => total + measure(read(file)).length, 0)
  const table = parts.map(([name, what, files]) => ({
    name,
    what,
    bytes: sum(files, (bytes) => bytes),
    gzip: sum(files, (bytes) => gzipSync(bytes, { level: 9 })),
    brotli: sum(files, (bytes) => brotliCompressSync(bytes))
  }))
  writeFileSync(
    join(site, 'sizes.json'),
    `[\n${table.map((line) => JSON.stringify(line)).join(',\n')}\n]\n`
  )
}
