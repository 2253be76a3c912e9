/* What the page on embedding says about sizes: SITE/sizes.json, [{ name, what, bytes, gzip, brotli
 * }] of every module, the library's scripts, the element with what it imports, the demo model and
 * the explorer. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

/** @type {[file: string, what: string][]} */
const modules = [
  ['heed/heed-relaxed.wasm', 'relaxed SIMD, one thread'],
  ['heed/heed-relaxed-threads.wasm', 'relaxed SIMD, threads'],
  ['heed/heed.wasm', 'SIMD, one thread'],
  ['heed/heed-threads.wasm', 'SIMD, threads'],
  ['heed/heed-scalar.wasm', 'no SIMD'],
  ['heed/heed-scene.wasm', 'draws scenes, loaded by who asks for one'],
  ['heed/heed-explain.wasm', 'definitions over arrays, loaded by the explorer and heed/explain'],
  ['heed/heed-picture.wasm', 'prepares pictures, loaded with the first of them'],
  ['heed/heed-text-relaxed.wasm', 'text towers: relaxed SIMD, one thread'],
  ['heed/heed-text-relaxed-threads.wasm', 'text towers: relaxed SIMD, threads'],
  ['heed/heed-text.wasm', 'text towers: SIMD, one thread'],
  ['heed/heed-text-threads.wasm', 'text towers: SIMD, threads'],
  ['heed/heed-text-scalar.wasm', 'text towers: no SIMD'],
  ['heed/heed-int8-relaxed.wasm', 'weights of int8: relaxed SIMD, one thread'],
  ['heed/heed-int8-relaxed-threads.wasm', 'weights of int8: relaxed SIMD, threads'],
  ['heed/heed-int8.wasm', 'weights of int8: SIMD, one thread'],
  ['heed/heed-int8-threads.wasm', 'weights of int8: SIMD, threads'],
  ['heed/heed-int8-scalar.wasm', 'weights of int8: no SIMD'],
  ['heed/heed-tokenizer.wasm', 'text as ids, loaded by who asks for it'],
  ['heed/heed-pickle.wasm', 'reads files of PyTorch, loaded with the first of them'],
  ['heed/heed-onnx.wasm', 'reads ONNX files, loaded with the first of them'],
  ['heed/heed-import.wasm', 'lowers ONNX graphs, loaded with the first of them'],
  ['heed/heed-import-more.wasm', 'its other part'],
  ['heed/heed-graph-relaxed.wasm', 'ONNX graphs: relaxed SIMD, one thread'],
  ['heed/heed-graph-relaxed-threads.wasm', 'ONNX graphs: relaxed SIMD, threads'],
  ['heed/heed-graph.wasm', 'ONNX graphs: SIMD, one thread'],
  ['heed/heed-graph-threads.wasm', 'ONNX graphs: SIMD, threads'],
  ['heed/heed-graph-scalar.wasm', 'ONNX graphs: no SIMD'],
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

/** @type {Map<string, Promise<number[]>>} */
const measured = new Map()

/**
 * A file's bytes, as it is and compressed: [bytes, gzip, brotli]. Several are compressed at once;
 * what lies in two sites, only once.
 * @param {Buffer} bytes
 */
function measure(bytes) {
  const key = createHash('sha256').update(bytes).digest('hex'),
    found =
      measured.get(key) ??
      Promise.all([
        bytes.length,
        promisify(gzip)(bytes, { level: 9 }).then(({ length }) => length),
        promisify(brotliCompress)(bytes).then(({ length }) => length)
      ])
  measured.set(key, found)
  return found
}

/**
 * explorer: the name of its script in the site.
 * @param {string} site
 * @param {string} explorer
 */
export async function weigh(site, explorer) {
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
  const table = await Promise.all(
    parts.map(async ([name, what, files]) => {
      const sizes = await Promise.all(files.map((file) => measure(read(file)))),
        [bytes, gzip, brotli] = [0, 1, 2].map((i) =>
          sizes.reduce((total, size) => total + size[i], 0)
        )
      return { name, what, bytes, gzip, brotli }
    })
  )
  writeFileSync(
    join(site, 'sizes.json'),
    `[\n${table.map((line) => JSON.stringify(line)).join(',\n')}\n]\n`
  )
}
