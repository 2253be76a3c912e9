/* The package's scripts, by the names under which others ask for them, and what they share as
 * chunks: node package.js OUT [--without PATTERN]. The pattern leaves out lines of the library, for
 * a package without some of the modules. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
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
  'tokenizer',
  'text',
  'engine',
  'explain/index'
]

/**
 * @param {string} without
 * @returns {import('esbuild').Plugin}
 */
export const leaving = (without) => ({
  name: 'without-lines',
  setup: (build) =>
    build.onLoad({ filter: /\/web\/src\/[\w/]+\.[jt]s$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .split('\n')
        .filter((line) => !new RegExp(without).test(line))
        .join('\n'),
      loader: 'ts'
    }))
})

/**
 * Whitespace stays: with it go the comments by which bundlers leave an import() alone.
 * @param {string} out
 * @param {string} [without]
 */
export async function packageScripts(out, without) {
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
    plugins: without ? [leaving(without)] : [],
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
  await esbuild.build({ ...options, entryPoints: at(['worker', 'thread']) })
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [out, , without] = process.argv.slice(2)
  await packageScripts(resolve(out), without)
}
