/* node pack.js [--short] [--without WORD] OUT FILE...: copies JavaScript files without their comments, indentation and lines with that word.
 * --short: private names (#name) become short ones, and spaces around signs go, as do line ends at brackets and commas. Comments must be whole
 * lines or start at " // "; no text may hold a line that looks like one, nor # before a letter, nor a template in a template: the tests run on
 * what comes out. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

const blocks = /^[ \t]*\/\*(?:[^*]|\*(?!\/))*\*\/[ \t]*\n/gm

/* A letter or two for each private name of a file, in the order of their appearance; then the spaces outside of texts. */
function shorten(text) {
  const names = [...new Set(text.match(/#[a-z]\w+/gi))]
  const short = text.replace(/#[a-z]\w+/gi, (name) => `#${names.indexOf(name).toString(36).replace(/^\d/, '_$&')}`)
  return short.replace(/([{([,])\n/g, '$1').replace(/\n([})\]])/g, '$1').replace(/('[^'\n]*'|`[^`]*`)|([,;:]) | ?([=!]==|=>|&&|\|\||[=<>?:{}]) ?/g, (all, text, mark, sign) => text ?? mark ?? sign)
}

const { values: { without, short }, positionals: [out, ...files] } = parseArgs({ allowPositionals: true, options: { without: { type: 'string' }, short: { type: 'boolean' } } })
await mkdir(out, { recursive: true })
for (const file of files) {
  const whole = await readFile(file, 'utf8'), text = without ? whole.split('\n').filter((line) => !line.includes(without)).join('\n') : whole
  const bare = text.replace(blocks, '').replace(/ \/\/ .*$/gm, '').replace(/^[ \t]+/gm, '').replace(/\n{2,}/g, '\n').trimStart()
  await writeFile(join(out, basename(file)), short ? shorten(bare) : bare)
}
