/* The package's types, by tsc: themselves, and in the hands of a user. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { packageFolder, repository } from '../package.js'

test('tsc accepts index.d.ts and what users write', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'heed-types-')),
    here = fileURLToPath(new URL('.', import.meta.url))
  mkdirSync(join(scratch, 'node_modules'))
  cpSync(packageFolder, join(scratch, 'node_modules/heed'), { recursive: true })
  cpSync(join(here, 'types.ts'), join(scratch, 'types.ts'))
  cpSync(join(repository, 'web/examples/vite/main.ts'), join(scratch, 'main.ts'))
  for (const name of ['@types/react', 'csstype'])
    cpSync(join(repository, 'node_modules', name), join(scratch, 'node_modules', name), {
      recursive: true
    })
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: []
  }
  writeFileSync(join(scratch, 'package.json'), '{"type": "module"}')
  writeFileSync(
    join(scratch, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['types.ts', 'main.ts'] })
  )
  try {
    execFileSync(
      process.execPath,
      [join(repository, 'node_modules/typescript/bin/tsc'), '-p', scratch],
      {
        encoding: 'utf8'
      }
    )
  } catch (error) {
    throw new Error(
      /** @type {Error} */ /** @type {any} */ (error).stdout +
        /** @type {Error} */ /** @type {any} */ (error).stderr
    )
  } finally {
    rmSync(scratch, { recursive: true })
  }
})

test('every subpath of exports has types, and the file that it names', () => {
  const { exports: paths } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  for (const [name, target] of Object.entries(paths)) {
    if (name === './package.json') continue
    for (const file of [target.types, target.default])
      assert.ok(existsSync(join(packageFolder, String(file))), `${name}: ${file}`)
  }
})
