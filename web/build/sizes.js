/* What the page on embedding says about sizes: [{ name, bytes, gzip, brotli }] of every module, the
 * library's scripts, the element with what it imports, the demo model and the explorer. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import esbuild from 'esbuild'

/**
 * Scripts and what they import from the start, as names in the site.
 * @param {string} site
 * @param {string[]} entries
 */
async function withImports(site, ...entries) {
  const { metafile } = await esbuild.build({
      entryPoints: entries.map((name) => `./${name}`),
      absWorkingDir: site,
      bundle: true,
      format: 'esm',
      write: false,
      outdir: site,
      metafile: true,
      external: ['react'],
      logLevel: 'error'
    }),
    found = new Set(entries)
  for (const file of found)
    for (const { path, kind, external } of metafile.inputs[file].imports)
      if (kind === 'import-statement' && !external) found.add(path)
  return [...found]
}

/** @param {Buffer} bytes @returns {Promise<number[]>} as it is and compressed */
const measure = async (bytes) => [
  bytes.length,
  (await promisify(gzip)(bytes, { level: 9 })).length,
  (await promisify(brotliCompress)(bytes)).length
]

/**
 * Writes sizes.json.
 * @param {string} site
 * @param {string} explorer its script
 */
export async function weigh(site, explorer) {
  const library = await withImports(site, 'heed/index.js', 'heed/worker.js'),
    element = await withImports(site, 'attention-map.js'),
    start = await withImports(site, explorer),
    model = 'heed/demo/model.safetensors'
  const parts = [
    ...(await readdir(join(site, 'heed')))
      .filter((name) => name.endsWith('.wasm'))
      .sort()
      .map((name) => [`heed/${name}`, [`heed/${name}`]]),
    ['heed/*.js', library],
    ['attention-map.js', element.filter((file) => !library.includes(file))],
    [model, [model]],
    ['index.html, styles, explorer.js …', ['index.html', ...start, 'heed/worker.js']]
  ]
  const table = await Promise.all(
    parts.map(async ([name, files]) => {
      const sizes = await Promise.all(
          /** @type {string[]} */ (files).map(async (file) =>
            measure(await readFile(join(site, file)))
          )
        ),
        [bytes, gzip, brotli] = [0, 1, 2].map((i) => sizes.reduce((sum, size) => sum + size[i], 0))
      return { name, bytes, gzip, brotli }
    })
  )
  await writeFile(
    join(site, 'sizes.json'),
    `[\n${table.map((line) => JSON.stringify(line)).join(',\n')}\n]\n`
  )
}
