/* The package's scripts, by the names under which others ask for them, and what they share as
 * chunks: node package.js OUT, beside the modules that are there. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** A file of web/. @param {string} name */
export const source = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

const entries = 'index demo look element react svelte vue tokenizer text engine explain/index',
  files = [...entries.split(' ').map((name) => `src/${name}`), 'plot/index']

/** What runs on threads of its own. */
export const workers = ['src/worker', 'src/thread']

/** What scripts know of the modules in a package. @param {string} folder */
export const definesOf = (folder) => ({
  HEED_RELAXED: String(existsSync(join(folder, 'heed-relaxed.wasm'))),
  HEED_WEBGPU: String(existsSync(join(folder, 'heed-gpu.wasm')))
})

/**
 * Scripts as small as they get, but for the comments by which bundlers leave an import() alone.
 * @param {import('rolldown').InputOptions} input
 * @param {import('rolldown').OutputOptions} output
 */
export async function bundle(input, output) {
  const bundler = await rolldown({
      resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
      checks: { ineffectiveDynamicImport: false },
      ...input
    }),
    written = await bundler.write({
      minify: true,
      comments: { annotation: true, legal: false, jsdoc: false },
      hashCharacters: 'hex',
      chunkFileNames: '[name]-[hash].js',
      ...output
    })
  await bundler.close()
  return written.output.flatMap((file) => (file.type === 'chunk' ? [file] : []))
}

/**
 * Scripts of web/ under their own names, for the package in this folder.
 * @param {string[]} files without their ends
 * @param {string} dir
 * @param {import('rolldown').OutputOptions} [output]
 */
export const bundleSources = (files, dir, output) =>
  bundle(
    {
      input: Object.fromEntries(
        files.map((file) => [file.replace('src/', ''), source(`${file}.ts`)])
      ),
      external: ['react', /^heed\//],
      transform: { target: 'es2022', define: definesOf(dir) }
    },
    { dir, entryFileNames: '[name].js', ...output }
  )

/** @param {string} out */
export async function packageScripts(out) {
  await bundleSources(files, out)
  /* One file each: Vite 5 to 7 write workers in a format that cannot be split. */
  for (const file of workers) await bundleSources([file], out, { codeSplitting: false })
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
