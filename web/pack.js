/* node pack.js [--without WORD] OUT FILE...: copies JavaScript files without their comments and indentation, nor lines with that word.
 * Comments must be whole lines or start at " // "; no text may hold a line that looks like one: the tests run on what comes out. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

const blocks = /^[ \t]*\/\*(?:[^*]|\*(?!\/))*\*\/[ \t]*\n/gm

const { values: { without }, positionals: [out, ...files] } = parseArgs({ allowPositionals: true, options: { without: { type: 'string' } } })
await mkdir(out, { recursive: true })
for (const file of files) {
  const whole = await readFile(file, 'utf8'), text = without ? whole.split('\n').filter((line) => !line.includes(without)).join('\n') : whole
  await writeFile(join(out, basename(file)), text.replace(blocks, '').replace(/ \/\/ .*$/gm, '').replace(/^[ \t]+/gm, '').replace(/\n{2,}/g, '\n').trimStart())
}
