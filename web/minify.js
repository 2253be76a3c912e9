/* esbuild, from npm (npm ci in the repository's root). Where it is not installed, scripts and style
 * sheets stay as they are written. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

/** @returns {typeof import('esbuild') | null} */
function find() {
  try {
    return createRequire(import.meta.url)('esbuild')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'MODULE_NOT_FOUND') throw error
    console.log('esbuild is not installed, so scripts and styles stay as they are written')
    return null
  }
}

/** esbuild, or null where it is not installed. */
export const esbuild = find()

/** What all scripts and style sheets are written with.
 * @satisfies {import('esbuild').TransformOptions} */
export const options = /** @type {const} */ ({
  minify: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none'
})

/**
 * @param {string} text
 * @param {'js' | 'css'} loader
 */
const minify = async (text, loader) =>
  esbuild ? (await esbuild.transform(text, { ...options, loader })).code : text

/**
 * A script of the library, without the lines in which the pattern `without` is found.
 * @param {string} file
 * @param {string} [without]
 */
export async function readScript(file, without) {
  const lines = (await readFile(file, 'utf8')).replace(/=>\n\s+/g, '=> ').split('\n')
  return lines.filter((line) => !without || !new RegExp(without).test(line)).join('\n')
}

/** @param {string} text */
export const minifyScript = (text) => minify(text, 'js')
/** @param {string} text */
export const minifyStyle = (text) => minify(text, 'css')
