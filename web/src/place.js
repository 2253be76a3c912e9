/* Where the package's own files lie: beside its scripts, or where setBase() or an option says. A
 * bundler that does not follow new URL('./file', import.meta.url) leaves them behind. */
import { HeedError } from './error.js'
import { address } from './options.js'

/** @type {URL | undefined} */
let chosen

/* While they serve a page, Vite 5 to 7 put a package's scripts together in this folder, without its files. */
const prebundled = /^(.*\/node_modules\/)\.vite\/deps[^/]*\/[^/]*$/

/** The folder of the package where a server has moved this script out of it. */
function left() {
  const [, modules] = prebundled.exec(import.meta.url?.split('?')[0] ?? '') ?? []
  return modules ? new URL('heed/', modules) : undefined
}

/**
 * The address of a folder, or of a script in it.
 * @param {string} where
 * @param {string | URL} given
 */
function folderOf(where, given) {
  const url = address(where, 'base', given)
  if (!/(\/|\.([cm]?[jt]sx?|html?))$/.test(url.pathname)) url.pathname += '/'
  return url
}

/** @param {string | URL} [base] */
export function setBase(base) {
  chosen = base === undefined ? undefined : folderOf('setBase', base)
}

/**
 * The base that a call was given, else the one of setBase(); undefined: beside the scripts.
 * @param {string} where
 * @param {string | URL} [given]
 */
export const baseOf = (where, given) =>
  given === undefined ? (chosen ?? left()) : folderOf(where, given)

/**
 * The address of one of the package's files.
 * @param {string} name
 * @param {string | URL | undefined} base
 * @param {() => URL} own with a literal address, which bundlers find; a script in a format without
 * import.meta has none
 */
export function placeOf(name, base, own) {
  if (base) return new URL(name, base)
  try {
    return own()
  } catch {
    throw new HeedError(
      'IO',
      `${name}: no address (found a script that does not know its own, expected setBase() or the option base to name the folder of the package's files)`
    )
  }
}
