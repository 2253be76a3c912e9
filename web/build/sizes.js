/* What the page on embedding says about sizes: [{ name, bytes, gzip, brotli }] of every module, the
 * library's scripts, the element with what it imports, the demo model and the explorer. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import esbuild from 'esbuild'

/**
 * Writes sizes.json.
 * @param {string} site
 * @param {string} explorer its script
 */
export async function weigh(site, explorer) {
  const scripts = ['heed/index.js', 'heed/worker.js', 'attention-map.js', explorer],
    { metafile } = await esbuild.build({
      entryPoints: scripts.map((name) => `./${name}`),
      absWorkingDir: site,
      bundle: true,
      format: 'esm',
      write: false,
      outdir: site,
      metafile: true,
      external: ['react'],
      logLevel: 'error'
    })
  /** Scripts and what they import from the start. @param {string[]} entries */
  function withImports(...entries) {
    const found = new Set(entries)
    for (const file of found)
      for (const { path, kind, external } of metafile.inputs[file].imports)
        if (kind === 'import-statement' && !external) found.add(path)
    return [...found]
  }
  const [index, worker, element] = scripts,
    library = withImports(index, worker),
    model = 'heed/demo/model.safetensors',
    modules = (await readdir(join(site, 'heed'))).filter((name) => name.endsWith('.wasm')).sort()
  const parts = /** @type {[string, string[]][]} */ ([
      ...modules.map((name) => [`heed/${name}`, [`heed/${name}`]]),
      ['heed/*.js', library],
      [element, withImports(element).filter((file) => !library.includes(file))],
      [model, [model]],
      ['index.html, styles, explorer.js …', ['index.html', ...withImports(explorer), worker]]
    ]),
    lines = parts.map(async ([name, files]) => {
      const sizes = { bytes: 0, gzip: 0, brotli: 0 }
      for (const file of files) {
        const bytes = await readFile(join(site, file))
        sizes.bytes += bytes.length
        sizes.gzip += (await promisify(gzip)(bytes, { level: 9 })).length
        sizes.brotli += (await promisify(brotliCompress)(bytes)).length
      }
      return JSON.stringify({ name, ...sizes })
    })
  await writeFile(join(site, 'sizes.json'), `[\n${(await Promise.all(lines)).join(',\n')}\n]\n`)
}
