/* For whoever has no compiler: what npm runs on a package that somebody built.
 *   npm run dev [-- --package FOLDER --port 8080]    serves the pages, made anew with each change
 *   npm test [-- --package FOLDER] [NAME...]         tests in Node, of files that have a NAME
 * The modules are the package's (build/web/package without --package), all scripts the tree's. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { watch } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { serve } from '../serve.js'
import { drawFirst } from './first.js'
import { packageScripts, source } from './package.js'
import { putPages } from './pages.js'
import { putPlain } from './plain.js'
import { plainScript } from './site.js'
import { weigh } from './sizes.js'

const built = source('../build/web/package'),
  { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      test: { type: 'boolean' },
      package: { type: 'string', default: built },
      port: { type: 'string', default: '8080' }
    }
  }),
  folder = resolve(values.package),
  plain = join(built, values.test ? '../plain' : '../dev')
if (!existsSync(join(folder, 'heed.wasm'))) {
  console.error(
    `${folder}: no package of heed (found no heed.wasm; ./dev web builds it, and --package takes the folder of a release, as npm pack unpacks it)`
  )
  process.exit(2)
}

/** The pages as they are now; what is drawn stays that of the start. */
async function put() {
  await putPlain(folder, plain)
  await putPages(plain, first, plainScript)
}

async function serveAndWatch() {
  await weigh(plain, plainScript('index', 'en').script, folder)
  console.log((await serve(plain, { port: Number(values.port) })).address)
  for await (const { filename } of watch(source('.'), { recursive: true }))
    if (/^(pages|parts|plot|src|examples)\b/.test(filename ?? '')) await put().catch(console.error)
}

/** The tests that ask for nothing else that a compiler makes. */
function runTests() {
  if (folder !== built) cpSync(folder, built, { recursive: true })
  const files = ['unit', 'api'].flatMap((room) =>
    readdirSync(source(`test/${room}`))
      .filter(
        (name) =>
          name.endsWith('.test.js') &&
          (!positionals.length || positionals.some((part) => name.includes(part)))
      )
      .map((name) => source(`test/${room}/${name}`))
      .filter(
        (file) => !/\b(native|checks)\b.*from '.*\/package\.js'/.test(readFileSync(file, 'utf8'))
      )
  )
  if (!files.length) {
    console.error(`${positionals.join(' ')}: no test in Node has such a name`)
    return 2
  }
  return spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' }).status ?? 1
}

rmSync(plain, { recursive: true, force: true })
await putPlain(folder, plain)
const first = await drawFirst(plain)
await putPages(plain, first, plainScript)
if (values.test) {
  await packageScripts(built)
  process.exit(runTests())
}
await serveAndWatch()
