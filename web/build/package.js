/* The package's scripts, by the names under which others ask for them, and what they share as
 * chunks: node package.js OUT, beside the modules that are there. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'

/** A file of web/. @param {string} name */
export const source = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

const names = [
  'index',
  'demo',
  'look',
  'element',
  'react',
  'svelte',
  'vue',
  'tokenizer',
  'text',
  'engine',
  'explain/index'
]

/** What runs on threads of its own. */
export const workers = ['worker', 'thread']

/** What scripts know of the modules in a package. @param {string} folder */
export const definesOf = (folder) => ({
  HEED_RELAXED: String(existsSync(join(folder, 'heed-relaxed.wasm'))),
  HEED_WEBGPU: String(existsSync(join(folder, 'heed-gpu.wasm')))
})

/**
 * Whitespace stays: with it go the comments by which bundlers leave an import() alone.
 * @param {string} out
 */
export async function packageScripts(out) {
  /** @satisfies {import('esbuild').BuildOptions} */
  const options = {
    absWorkingDir: source('.'),
    outdir: out,
    bundle: true,
    format: /** @type {const} */ ('esm'),
    target: 'es2022',
    charset: /** @type {const} */ ('utf8'),
    minifySyntax: true,
    minifyIdentifiers: true,
    legalComments: /** @type {const} */ ('none'),
    external: ['react', 'heed/*'],
    define: definesOf(out),
    logLevel: /** @type {const} */ ('warning')
  }
  /** @param {string[]} entries */
  const at = (entries) => entries.map((name) => ({ in: `./src/${name}`, out: name }))
  await esbuild.build({
    ...options,
    entryPoints: [...at(names), { in: './plot/index', out: 'plot/index' }],
    splitting: true,
    chunkNames: '[name]-[hash]'
  })
  /* One file each: Vite 5 to 7 write workers in a format that cannot be split. */
  await esbuild.build({ ...options, entryPoints: at(workers) })
}

/** Leaves out of `exports` the modules that this machine's tools did not make. @param {string} folder */
function onlyWhatIsThere(folder) {
  const path = join(folder, 'package.json'),
    said = JSON.parse(readFileSync(path, 'utf8')),
    there = Object.entries(said.exports).filter(
      ([name]) => !name.endsWith('.wasm') || existsSync(join(folder, name))
    )
  if (there.length === Object.keys(said.exports).length) return
  writeFileSync(
    path,
    `${JSON.stringify({ ...said, exports: Object.fromEntries(there) }, null, 2)}\n`
  )
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await packageScripts(resolve(process.argv[2]))
  onlyWhatIsThere(resolve(process.argv[2]))
}
