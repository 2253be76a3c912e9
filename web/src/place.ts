/* Where the package's own files lie: beside its scripts, or where setBase() or an option says. A
 * bundler that does not follow new URL('./file', import.meta.url) leaves them behind. */
import { HeedError } from './error.js'
import { address } from './options.js'

let chosen: URL | undefined

/* While they serve a page, Vite 5 to 7 put a package's scripts together in this folder, without its files. */
const prebundled = /^(.*\/node_modules\/)\.vite\/deps[^/]*\/[^/]*$/

/** The folder of the package where a server has moved this script out of it. */
function left() {
  const [, modules] = prebundled.exec(import.meta.url?.split('?')[0] ?? '') ?? []
  return modules ? new URL('heed/', modules) : undefined
}

/** The address of a folder, or of a script in it. */
function folderOf(where: string, given: string | URL) {
  const url = address(where, 'base', given)
  if (!/(\/|\.([cm]?[jt]sx?|html?))$/.test(url.pathname)) url.pathname += '/'
  return url
}

export function setBase(base?: string | URL) {
  chosen = base === undefined ? undefined : folderOf('setBase', base)
}

/** The base that a call was given, else the one of setBase(); undefined: beside the scripts. */
export const baseOf = (where: string, given?: string | URL) =>
  given === undefined ? (chosen ?? left()) : folderOf(where, given)

/**
 * The address of one of the package's files.
 * @param own with a literal address, which bundlers find; a script in a format without
 * import.meta has none
 */
export function placeOf(name: string, base: string | URL | undefined, own: () => URL) {
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
