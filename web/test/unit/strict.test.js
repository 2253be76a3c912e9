/* The types of all scripts in web/, by tsc over tsconfig.json; and the list of the pages'
 * elements by their ids, which the types take from types/elements.d.ts, held to the .html files. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { repository } from '../package.js'

const tsc = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc'
)
const read = (/** @type {string[]} */ ...path) =>
  readFileSync(join(repository, 'web', ...path), 'utf8')

test('tsc --strict accepts web/', () => {
  try {
    execFileSync(process.execPath, [tsc, '-p', repository], { encoding: 'utf8' })
  } catch (error) {
    throw new Error(/** @type {{stdout: string}} */ (error).stdout)
  }
})

test('tsconfig.json is strict', () => {
  const { compilerOptions } = JSON.parse(read('../tsconfig.json'))
  assert.equal(compilerOptions.strict, true)
  assert.equal(compilerOptions.checkJs, true)
})

test('elements.d.ts names the ids of the pages', () => {
  const [, list] = /** @type {RegExpExecArray} */ (
    /interface PageElements \{([^}]*)\}/.exec(read('types/elements.d.ts'))
  )
  const listed = [...list.matchAll(/^ {2}'?([\w-]+)'?:/gm)].map(([, id]) => id)
  const pages = ['pages', 'parts'].flatMap((folder) =>
    readdirSync(join(repository, 'web', folder))
      .filter((name) => name.endsWith('.html'))
      .map((name) => read(folder, name))
  )
  /* What is made when it is asked for. */
  const made = [
    'controls/key_list',
    'controls/menus',
    'controls/tour',
    'open/camera',
    'zoom/zoom'
  ].map((name) => read('pages/explorer', `${name}.ts`))
  const ids = [...pages, ...made, read('examples/script/index.html')].flatMap((text) =>
    [...text.matchAll(/<[a-z][\w-]*\b[^>]*?\sid="([^"]+)"/g)].map(([, id]) => id)
  )
  assert.deepEqual(listed.sort(), [...new Set(ids)].sort())
})
