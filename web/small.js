/* Scripts and style sheets made small. What does it comes from npm (npm ci);
 * where that is not installed, scripts stay as they are written. */
import { createRequire } from 'node:module'

const installed = createRequire(import.meta.url)

/** A tool of package.json; null, and a line that says so, where it is not installed. */
export function findTool(name, without) {
  try {
    return installed(name)
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
    console.log(`${name} is not installed, so ${without}`)
    return null
  }
}

/* What bundlers are told in comments stays. */
const options = {
  module: true,
  ecma: 2022,
  compress: { passes: 2 },
  format: { comments: /@vite-ignore|webpackIgnore/ }
}
const terser = findTool('terser', 'JavaScript stays as it is written')

export const smallScript = async (text) =>
  terser ? (await terser.minify(text, options)).code : text

/* Comments and blanks that mean nothing; a blank before a colon may begin a selector, one beside +
 * or - is part of a sum. */
export const smallStyle = (text) =>
  text
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replace(/: /g, ':')
    .replace(/;}/g, '}')
    .trim()
