/* The package's size: these limits are gates. Figures and how they came about: web/README.md. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import test from 'node:test'
import { packageFolder } from '../package.js'

/**
 * By gzip itself: Node's own zlib is a faster variant, which gives half a per cent more bytes.
 * @param {Uint8Array} bytes
 */
const zipped = (bytes) => execFileSync('gzip', ['-9nc'], { input: bytes }).length

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
  test(name, () => fits(name, readFileSync(join(packageFolder, name)), 1 << 20, 400e3))

/**
 * A script with what it imports from the start.
 * @param {string} name
 * @param {Set<string>} [found]
 */
function importsOf(name, found = new Set()) {
  if (found.has(name)) return found
  found.add(name)
  for (const [, other] of readFileSync(join(packageFolder, name), 'utf8').matchAll(
    /(?:\bfrom|\bimport)\s*["']\.\/([^"']+)["']/g
  ))
    importsOf(other, found)
  return found
}

/* What createRuntime and a run load, in the page and in its worker; the rest are scripts that few pages
 * load, with the first call that needs them. */
test('all JavaScript that a run loads, as one bundle', () => {
  const first = new Set(
    ['index.js', 'engine.js', 'worker.js', 'thread.js'].flatMap((name) => [...importsOf(name)])
  )
  assert.ok(first.size > 6, 'index.js imports chunks')
  const files = [...first].map((name) => readFileSync(join(packageFolder, name)))
  fits('JavaScript', Buffer.concat(files), 512e3, 150e3)
})

test('the page on embedding says the size of the package, not of the site’s own workers', () => {
  const files = new Set([...importsOf('index.js'), ...importsOf('worker.js')]),
    bytes = [...files].reduce((sum, name) => sum + statSync(join(packageFolder, name)).size, 0),
    sizes = JSON.parse(readFileSync(join(packageFolder, '../site/sizes.json'), 'utf8'))
  assert.equal(
    sizes.find((/** @type {{name: string}} */ { name }) => name === 'heed/*.js').bytes,
    bytes
  )
})

/* What nobody loads who does not ask for it: the modules with everything, the demo model. */
const optional = /^(demo|heed-all)\b/

/* What device: 'webgpu' fetches; without glslang a package has none of it. */
test('the shaders for WebGPU', () => {
  const chunks = readdirSync(packageFolder).filter((name) => /^gpu-.*[.]deflate$/.test(name))
  if (!chunks.length) return
  fits(
    'gpu-*.deflate',
    Buffer.concat(chunks.map((name) => readFileSync(join(packageFolder, name)))),
    95e3,
    95e3
  )
})

test('unpacked: at most 6.9 MB', () => {
  const names = readdirSync(packageFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const bytes = (/** @type {string[]} */ of) =>
      of.reduce((sum, name) => sum + statSync(name).size, 0),
    own = bytes(names.filter((name) => !optional.test(relative(packageFolder, name)))),
    all = bytes(names)
  console.log(`unpacked: ${all} bytes, ${own} without optional modules and the demo model`)
  assert.ok(all <= 6.9e6, `${all} bytes`)
})
