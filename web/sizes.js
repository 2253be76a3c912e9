/* What the page on embedding says about sizes: SITE/sizes.json, [{ name, bytes, gzip, brotli }] of every module, the library's scripts, the element with what it imports, the demo model and
 * the explorer. */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

const modules = [
  'heed/heed-relaxed.wasm',
  'heed/heed-relaxed-threads.wasm',
  'heed/heed.wasm',
  'heed/heed-threads.wasm',
  'heed/heed-scalar.wasm',
  'heed/heed-scene.wasm',
  'heed/heed-explain.wasm',
  'heed/heed-picture.wasm',
  'heed/heed-text-relaxed.wasm',
  'heed/heed-text-relaxed-threads.wasm',
  'heed/heed-text.wasm',
  'heed/heed-text-threads.wasm',
  'heed/heed-text-scalar.wasm',
  'heed/heed-int8-relaxed.wasm',
  'heed/heed-int8-relaxed-threads.wasm',
  'heed/heed-int8.wasm',
  'heed/heed-int8-threads.wasm',
  'heed/heed-int8-scalar.wasm',
  'heed/heed-tokenizer.wasm',
  'heed/heed-pickle.wasm',
  'heed/heed-onnx.wasm',
  'heed/heed-import.wasm',
  'heed/heed-import-more.wasm',
  'heed/heed-graph-relaxed.wasm',
  'heed/heed-graph-relaxed-threads.wasm',
  'heed/heed-graph.wasm',
  'heed/heed-graph-threads.wasm',
  'heed/heed-graph-scalar.wasm',
  'heed/heed-check.wasm'
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
    isThere = (/** @type {string} */ file) => {
      try {
        return read(file)
      } catch {
        return false
      }
    }
  const withImports = (/** @type {string} */ file) => importsOf(site, file)
  const worker = withImports('heed/worker.js'),
    scripts = new Set([...withImports('heed/index.js'), ...worker])
  const styles = String(read('index.html')).includes('<style>') ? [] : ['shared/style.css']
  /** @type {[name: string, files: string[]][]} */
  const parts = [
    ...modules.filter(isThere).map((file) => /** @type {[string, string[]]} */ ([file, [file]])),
    ['heed/*.js', [...scripts]],
    ['attention-map.js', [...withImports('attention-map.js')].filter((file) => !scripts.has(file))],
    ['heed/demo/model.safetensors', ['heed/demo/model.safetensors']],
    [
      'index.html, styles, explorer.js …',
      [...new Set(['index.html', ...styles, ...withImports(explorer), ...worker])]
    ]
  ]
  const table = await Promise.all(
    parts.map(async ([name, files]) => {
      const sizes = await Promise.all(files.map((file) => measure(read(file)))),
        [bytes, gzip, brotli] = [0, 1, 2].map((i) =>
          sizes.reduce((total, size) => total + size[i], 0)
        )
      return { name, bytes, gzip, brotli }
    })
  )
  writeFileSync(
    join(site, 'sizes.json'),
    `[\n${table.map((line) => JSON.stringify(line)).join(',\n')}\n]\n`
  )
}
