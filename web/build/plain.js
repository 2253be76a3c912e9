/* The pages' modules one by one, as they are written but for their types: PLAIN/ has those of
 * web/pages, PLAIN/plot those of web/plot, PLAIN/heed the library's beside the package's modules.
 * What they import of npm is in PLAIN/npm. */
import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import esbuild from 'esbuild'
import { leaving, source } from './package.js'

export const isScript = (/** @type {string} */ file) => /(?<!\.d)\.[jt]s$/.test(file)

/** The files in a folder and its folders, as paths from it. @param {string} folder */
export const filesIn = async (folder) =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

/**
 * Leaves imports as they are; those of packages lead to npm/ of the folder.
 * @param {string} folder
 * @param {Set<string>} packages gets those that are imported
 * @param {string[]} installed
 * @returns {import('esbuild').Plugin}
 */
const apart = (folder, packages, installed) => ({
  name: 'apart',
  setup(build) {
    build.onResolve({ filter: /./ }, ({ path, kind, importer }) => {
      if (kind === 'entry-point') return undefined
      if (!installed.some((name) => path === name || path.startsWith(`${name}/`)))
        return { path, external: true }
      const name = path.replace(/\.js$/, '')
      packages.add(name)
      const up = relative(dirname(importer), folder) || '.'
      return { path: `${up.startsWith('.') ? up : `./${up}`}/npm/${name}.js`, external: true }
    })
  }
})

/** What all of the pages' own scripts are written with. */
const options = /** @type {const} */ ({
  bundle: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  supported: { 'import-attributes': true },
  logLevel: 'warning'
})

/**
 * Writes the scripts of a folder of web/, and keeps doing so with `watch`.
 * @param {string} folder
 * @param {string} to
 * @param {{without?: string, watch?: boolean, packages?: Set<string>}} [given]
 */
async function putScripts(folder, to, { without, watch, packages = new Set() } = {}) {
  const from = source(folder),
    { dependencies = {} } = JSON.parse(await readFile(source('../package.json'), 'utf8')),
    context = await esbuild.context({
      ...options,
      entryPoints: (await filesIn(from)).filter(isScript).map((file) => join(from, file)),
      outbase: from,
      outdir: to,
      plugins: [
        apart(from, packages, Object.keys(dependencies)),
        ...(without ? [leaving(without)] : [])
      ]
    })
  await context.rebuild()
  await (watch ? context.watch() : context.dispose())
}

/**
 * @param {string} packageFolder
 * @param {string} plain
 * @param {{watch?: boolean}} [given]
 */
export async function putPlain(packageFolder, plain, { watch } = {}) {
  await rm(plain, { recursive: true, force: true })
  await putFiles(packageFolder, plain)
  const relaxed = existsSync(join(packageFolder, 'heed-relaxed.wasm')),
    packages = /** @type {Set<string>} */ (new Set())
  await putScripts('pages', plain, { watch, packages })
  await putScripts('plot', join(plain, 'plot'), { watch })
  await putScripts('src', join(plain, 'heed'), {
    watch,
    without: relaxed ? undefined : '\\./heed-(all-)?relaxed'
  })
  if (packages.size)
    await esbuild.build({
      ...options,
      entryPoints: [...packages].map((name) => ({
        in: name.includes('/') ? `${name}.js` : name,
        out: name
      })),
      outdir: join(plain, 'npm'),
      absWorkingDir: source('..'),
      splitting: true,
      minify: true
    })
}

/**
 * What is no script, with the package.
 * @param {string} packageFolder
 * @param {string} to
 */
export async function putFiles(packageFolder, to) {
  await cp(source('pages'), to, {
    recursive: true,
    filter: (file) => !isScript(file) && !file.endsWith('.html')
  })
  await cp(source('examples'), join(to, 'examples'), { recursive: true })
  await cp(packageFolder, join(to, 'heed'), { recursive: true })
}
