/* node pack.js OUT FILE...: copies JavaScript files without their comments and indentation. Comments must be whole lines or start at " // ";
 * no text may hold a line that looks like one: the tests run on what comes out. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

const blocks = /^[ \t]*\/\*(?:[^*]|\*(?!\/))*\*\/[ \t]*\n/gm

const [out, ...files] = process.argv.slice(2)
await mkdir(out, { recursive: true })
for (const file of files) {
  const text = await readFile(file, 'utf8')
  await writeFile(join(out, basename(file)), text.replace(blocks, '').replace(/ \/\/ .*$/gm, '').replace(/^[ \t]+/gm, '').replace(/\n{2,}/g, '\n').trimStart())
}
