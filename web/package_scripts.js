/* node package_scripts.js [--without PATTERN] OUT ENTRY...: the scripts of the package by
 * which others ask for it, minified, and what they share as chunks; without the lines in which the
 * pattern is found. Where esbuild is not installed, all scripts beside the entries as they are written. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { esbuild, options, readScript } from './minify.js'

/* Scripts of workers are one file each: Vite 5 to 7 write them in a format that cannot be split. */
const alone = /\/(worker|thread)\.js$/

const {
  values: { without },
  positionals: [out, ...entries]
} = parseArgs({
  allowPositionals: true,
  options: { without: { type: 'string' } }
})

/**
 * A script that imports at its start what it asks for later.
 * @param {string} text
 */
function inOne(text) {
  const asked = new Map(
    [...text.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, path], i) => [path, `$asked${i}`])
  )
  return (
    [...asked].map(([path, name]) => `import * as ${name} from '${path}'\n`).join('') +
    text.replace(/\bimport\('(\.[^']+)'\)/g, (_, path) => `Promise.resolve(${asked.get(path)})`)
  )
}

/**
 * @param {boolean} splitting
 * @returns {import('esbuild').Plugin}
 */
const withoutLines = (splitting) => ({
  name: 'without-lines',
  setup: (build) =>
    build.onLoad({ filter: /\.js$/ }, async ({ path }) => {
      const text = await readScript(path, without)
      return { contents: splitting ? text : inOne(text) }
    })
})

/* The element is a page's file, which finds the library and its plots beside itself. */
const element = join(dirname(fileURLToPath(import.meta.url)), 'pages/attention-map.js'),
  source = dirname(entries[0])

/** @type {import('esbuild').Plugin} */
const withElement = {
  name: 'with-element',
  setup(build) {
    build.onResolve({ filter: /^\.\.\/attention-map\.js$/ }, () => ({
      path: element,
      sideEffects: true
    }))
    /* an entry, which finds its module from its own folder: not to be part of a chunk */
    build.onResolve({ filter: /^\.\/explain\/index\.js$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined
    )
    build.onResolve({ filter: /^\.\/(heed|plot)\// }, ({ path, importer }) =>
      importer === element
        ? {
            path: resolve(
              source,
              path.startsWith('./heed/') ? path.replace('heed/', '') : `.${path}`
            )
          }
        : undefined
    )
  }
}

/**
 * A script as it is written, which lies beside plot/ in the package.
 * @param {string} text
 */
const besidePlot = (text) =>
  text.replace(/'\.\.\/(?=plot\/|attention-map)/g, "'./").replace(/'\.\/heed\//g, "'./")

/**
 * With the comments that other bundlers read and esbuild leaves out: a built-in module of Node is
 * none of the package's.
 * @param {string} text
 */
const forBundlers = (text) =>
  text.replace(/import\(`(?=node:|\$)/g, 'import(/*@vite-ignore*//*webpackIgnore:true*/`')

/** @returns {Promise<[name: string, text: string][]>} */
async function asWritten() {
  const folder = dirname(entries[0]),
    names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.js'))
  const scripts = await Promise.all(
    names.map(
      async (name) =>
        /** @type {[string, string]} */ ([
          name,
          besidePlot(await readScript(join(folder, name), without))
        ])
    )
  )
  return names.includes('element.js')
    ? [...scripts, ['attention-map.js', besidePlot(await readScript(element, without))]]
    : scripts
}

/**
 * @param {typeof import('esbuild')} bundler
 * @returns {Promise<[name: string, text: string][]>}
 */
async function bundled({ build }) {
  const files = []
  for (const splitting of [true, false]) {
    const { outputFiles } = await build({
      ...options,
      entryPoints: entries.filter((entry) => alone.test(entry) !== splitting),
      outdir: out,
      bundle: true,
      splitting,
      write: false,
      plugins: [withElement, withoutLines(splitting)],
      external: ['react', 'heed/*'],
      logLevel: 'warning'
    })
    files.push(...outputFiles)
  }
  return files.map(({ path, text }) => [relative(out, path), forBundlers(text)])
}

for (const [name, text] of await (esbuild ? bundled(esbuild) : asWritten())) {
  await mkdir(dirname(join(out, name)), { recursive: true })
  await writeFile(join(out, name), text)
}
