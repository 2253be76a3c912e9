/* The pages' modules one by one, as they are written but for their types: PLAIN/ has those of
 * web/pages, PLAIN/plot and PLAIN/gpu those of web/plot and web/gpu, PLAIN/heed the library's beside
 * the package's modules.
 * What they import of npm is in PLAIN/npm. */
import { cp, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { bundle, definesOf, source } from './package.js'

const isScript = (/** @type {string} */ file) => /(?<!\.d)\.[jt]s$/.test(file)

/** The files in a folder and its folders, as paths from it. @param {string} folder */
export const filesIn = async (folder) =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

/* The pages find the library in heed/, beside themselves. */
const beside = {
  name: 'beside',
  resolveId: (/** @type {string} */ id) =>
    /^\.[./]*\/heed\//.test(id)
      ? source(id.replace(/^\.[./]*\/heed\/(.*)\.js$/, 'src/$1.ts'))
      : null
}

/** Where a module lies, by its path from web/. @param {{name: string}} chunk */
const fileOf = ({ name }) =>
  `${name
    .replace(/^pages\//, '')
    .replace(/^src\//, 'heed/')
    .replace(/^.*node_modules\//, 'npm/')
    .replace(/\.json$/, '')}.js`

/**
 * @param {string} packageFolder
 * @param {string} plain
 */
export async function putPlain(packageFolder, plain) {
  await putFiles(packageFolder, plain)
  const input = await Promise.all(
    ['pages', 'plot', 'src', 'gpu'].map(async (folder) =>
      (await filesIn(source(folder))).filter(isScript).map((file) => join(source(folder), file))
    )
  )
  await bundle(
    {
      input: input.flat(),
      external: ['react', /^heed\//],
      treeshake: false,
      plugins: [beside],
      transform: { target: 'es2022', define: definesOf(packageFolder) }
    },
    {
      dir: plain,
      minify: false,
      comments: true,
      preserveModules: true,
      preserveModulesRoot: source('.'),
      entryFileNames: fileOf
    }
  )
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
