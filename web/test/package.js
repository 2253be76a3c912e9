/* Where the tests find what was built; HEED_WEB_PACKAGE names another folder. */
import { pathToFileURL } from 'node:url'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'

export const repository = fileURLToPath(new URL('../..', import.meta.url))
export const packageFolder = process.env.HEED_WEB_PACKAGE ?? join(repository, 'build/web/package')
/** Modules that are built for tests alone. */
export const testModules = process.env.HEED_WEB_MODULES ?? join(repository, 'build/wasm/modules')
/** What createRuntime takes for the modules without SIMD, in the place of those with it. */
export const scalar = {
  threads: 1,
  simd: /** @type {const} */ ('simd'),
  base: pathToFileURL(join(testModules, 'scalar/'))
}
export const native = process.env.HEED_NATIVE ?? join(repository, 'build/release/heed')
export const vectors = join(repository, 'tests/vectors')

/** @param {string} name */
const load = (name) => import(pathToFileURL(join(packageFolder, name)).href)
/** @type {typeof import('heed')} */
export const { createRuntime, HeedError, look, release, sceneShapes, sceneColours, tapName } =
  await load('index.js')
/** @type {typeof import('heed/demo')} */
export const { demoModel } = await load('demo.js')
/** @type {typeof import('heed/explain')} */
export const { loadExplain } = await load('explain/index.js')
export const explain = await loadExplain()
/** @type {typeof import('heed/plot')} */
export const plot = await load('plot/index.js')
/**
 * A module of the pages with the package beside it.
 * @param {string} name
 */
export const loadPage = (name) => import(pathToFileURL(join(packageFolder, '../plain', name)).href)
