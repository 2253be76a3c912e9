/* The package's size: these limits are gates. Figures and how they came about: web/README.md. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { packageFolder } from './package.js'

/** @param {Uint8Array} bytes */
const zipped = (bytes) => gzipSync(bytes, { level: 9 }).length

/**
 * @param {string} name
 * @param {Uint8Array} bytes
 * @param {number} rawLimit
 * @param {number} gzipLimit
 */
function fits(name, bytes, rawLimit, gzipLimit) {
  const raw = bytes.length,
    gzip = zipped(bytes)
  console.log(`${name}: ${raw} bytes, ${gzip} gzip`)
  assert.ok(raw <= rawLimit, `${name}: ${raw} bytes, at most ${rawLimit}`)
  assert.ok(gzip <= gzipLimit, `${name}: ${gzip} bytes gzip, at most ${gzipLimit}`)
}

for (const name of readdirSync(packageFolder).filter((name) => name.endsWith('.wasm')))
  test(name, () => fits(name, readFileSync(join(packageFolder, name)), 163840, 65536))

/* Scripts that few pages load, with the first call that needs them. */
const later = /^(case|colours|demo|folder|int8|maps|pickle|prepare|scene|text|tokenizer)[-.]/,
  scripts = readdirSync(packageFolder).filter((name) => name.endsWith('.js'))

for (const name of scripts.filter((name) => later.test(name))) {
  const [raw, gzip] = name.startsWith('text.') ? [9216, 4096] : [3072, 1024]
  test(name, () => fits(name, readFileSync(join(packageFolder, name)), raw, gzip))
}

test('all other JavaScript, as one bundle', () => {
  const files = scripts
    .filter((name) => !later.test(name))
    .map((name) => readFileSync(join(packageFolder, name)))
  fits('JavaScript', Buffer.concat(files), 40960, 13312)
})
