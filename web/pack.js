/* node pack.js [--without WORD] OUT FILE...: JavaScript modules made small (small.js), without the
 * lines that hold the word. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { smallScript } from './small.js'

const {
  values: { without },
  positionals: [out, ...files]
} = parseArgs({ allowPositionals: true, options: { without: { type: 'string' } } })
await mkdir(out, { recursive: true })
for (const file of files) {
  const lines = (await readFile(file, 'utf8')).replace(/=>\n\s+/g, '=> ').split('\n')
  await writeFile(
    join(out, basename(file)),
    await smallScript(lines.filter((line) => !without || !line.includes(without)).join('\n'))
  )
}
