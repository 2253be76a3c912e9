/* The pages' modules one by one, as they are written but for their types: PLAIN/ has those of
 * web/pages, PLAIN/plot and PLAIN/gpu those of web/plot and web/gpu, PLAIN/heed the library's beside
 * the package's modules.
 * What they import of npm is in PLAIN/npm. */
import { readFileSync } from 'node:fs'
import { cp, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import esbuild from 'esbuild'
import { definesOf, source } from './package.js'

const installed = Object.keys(
  JSON.parse(readFileSync(source('../package.json'), 'utf8')).dependencies
)
const isScript = (/** @type {string} */ file) => /(?<!\.d)\.[jt]s$/.test(file)

/** The files in a folder and its folders, as paths from it. @param {string} folder */
export const filesIn = async (folder) =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

/**
 * Leaves imports as they are; those of packages lead to npm/ of the folder.
 * @param {string} folder
 * @param {Set<string>} packages gets those that are imported
 * @returns {import('esbuild').Plugin}
 */
const apart = (folder, packages) => ({
  name: 'apart',
  setup: (build) =>
    build.onResolve({ filter: /./ }, ({ path, kind, importer }) => {
      if (kind === 'entry-point') return undefined
      if (!installed.some((name) => path === name || path.startsWith(`${name}/`)))
        return { path, external: true }
      const name = path.replace(/\.js$/, '')
      packages.add(name)
      return {
        path: `./${relative(dirname(importer), join(folder, 'npm', name))}.js`.replace(
          './..',
          '..'
        ),
        external: true
      }
    })
})

/**
 * @param {string} packageFolder
 * @param {string} plain
 */
export async function putPlain(packageFolder, plain) {
  const packages = /** @type {Set<string>} */ (new Set()),
    /* What all of the pages' own scripts are written with. */
    options = /** @satisfies {import('esbuild').BuildOptions} */ ({
      bundle: true,
      format: /** @type {const} */ ('esm'),
      target: 'es2022',
      charset: /** @type {const} */ ('utf8'),
      supported: { 'import-attributes': true },
      define: definesOf(packageFolder),
      logLevel: /** @type {const} */ ('warning')
    })
  await putFiles(packageFolder, plain)
  for (const [folder, to] of [
    ['pages', ''],
    ['plot', 'plot'],
    ['src', 'heed'],
    ['gpu', 'gpu']
  ])
    await esbuild.build({
      ...options,
      entryPoints: (await filesIn(source(folder)))
        .filter(isScript)
        .map((file) => join(source(folder), file)),
      outbase: source(folder),
      outdir: join(plain, to),
      plugins: [apart(source(folder), packages)]
    })
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
