/* node pack.js [--without WORD] OUT FILE...: JavaScript modules made small by terser, without the lines that hold the word. Where terser is not
 * installed (npm ci --prefix web/wasm), files are copied as they are. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

const tools = createRequire(new URL('./wasm/package.json', import.meta.url))
/* What bundlers are told in comments stays. */
const options = { module: true, ecma: 2022, compress: { passes: 2 }, format: { comments: /@vite-ignore|webpackIgnore/ } }

function findTerser() {
  try {
    return tools('terser')
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
    console.log('pack: terser is not installed, so JavaScript stays as it is written')
    return { minify: (code) => ({ code }) }
  }
}

const { values: { without }, positionals: [out, ...files] } = parseArgs({ allowPositionals: true, options: { without: { type: 'string' } } })
const { minify } = findTerser()
await mkdir(out, { recursive: true })
for (const file of files) {
  const lines = (await readFile(file, 'utf8')).split('\n')
  const { code } = await minify(lines.filter((line) => !without || !line.includes(without)).join('\n'), options)
  await writeFile(join(out, basename(file)), code)
}
