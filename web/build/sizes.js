/* What the page on embedding says about sizes: [{ name, bytes, gzip, brotli }] of every module, the
 * library's scripts, the element with what it imports, the demo model and the explorer. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import esbuild from 'esbuild'

/**
 * Of scripts in a folder: those that they import from the start, themselves with them.
 * @param {string} folder
 * @param {string[]} scripts
 */
async function importsIn(folder, scripts) {
  const { metafile } = await esbuild.build({
    entryPoints: scripts.map((name) => `./${name}`),
    absWorkingDir: folder,
    bundle: true,
    format: 'esm',
    write: false,
    outdir: folder,
    metafile: true,
    external: ['react'],
    logLevel: 'error'
  })
  return (/** @type {string[]} */ ...entries) => {
    const found = new Set(entries)
    for (const file of found)
      for (const { path, kind, external } of metafile.inputs[file].imports)
        if (kind === 'import-statement' && !external) found.add(path)
    return [...found]
  }
}

/**
 * Writes sizes.json.
 * @param {string} site
 * @param {string} explorer its script
 * @param {string} packageFolder whose workers are whole; those of the site come in parts
 */
export async function weigh(site, explorer, packageFolder) {
  const worker = 'heed/worker.js',
    element = 'attention-map.js',
    ofSite = await importsIn(site, ['heed/index.js', worker, element, explorer]),
    ofPackage = await importsIn(packageFolder, ['index.js', 'worker.js']),
    inSite = (/** @type {string[]} */ files) => files.map((file) => join(site, file)),
    shared = ofSite('heed/index.js', worker),
    model = 'heed/demo/model.safetensors',
    modules = (await readdir(join(site, 'heed'))).filter((name) => name.endsWith('.wasm')).sort()
  const parts = /** @type {[string, string[]][]} */ ([
      ...modules.map((name) => [`heed/${name}`, inSite([`heed/${name}`])]),
      ['heed/*.js', ofPackage('index.js', 'worker.js').map((file) => join(packageFolder, file))],
      [element, inSite(ofSite(element).filter((file) => !shared.includes(file)))],
      [model, inSite([model])],
      [
        'index.html, styles, explorer.js …',
        inSite(['index.html', ...ofSite(explorer), ...ofSite(worker)])
      ]
    ]),
    lines = parts.map(async ([name, files]) => {
      const sizes = { bytes: 0, gzip: 0, brotli: 0 }
      for (const file of files) {
        const bytes = await readFile(file)
        sizes.bytes += bytes.length
        sizes.gzip += (await promisify(gzip)(bytes, { level: 9 })).length
        sizes.brotli += (await promisify(brotliCompress)(bytes)).length
      }
      return JSON.stringify({ name, ...sizes })
    })
  await writeFile(join(site, 'sizes.json'), `[\n${(await Promise.all(lines)).join(',\n')}\n]\n`)
}
