/* What WGSL's compilers say of every pipeline of the self-check, its constant loops kept and written
 * out: naga (Firefox; without subgroups, which it lacks), and Tint (Chromium) where Dawn finds a
 * Vulkan driver. Both come from npm, pinned, for this test alone; HEED_NPM names the folder. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { convert } from '../../web/gpu/convert.js'
import { fill } from '../../web/gpu/fill.js'
import { folderOf, install, loadDawn } from './npm_packages.mjs'
import { moduleNames, pipelines, readModule } from './spirv_modules.mjs'

/** Texts of all pipelines, each once. */
function texts() {
  const templates = new Map(moduleNames().map((name) => [name, convert(readModule(name))])),
    all = new Map()
  for (const { name, constants } of pipelines())
    for (const unroll of [0, 512]) {
      const filled = fill(templates.get(name), constants, { unroll })
      if (!all.has(filled.code)) all.set(filled.code, { ...filled, what: `${name} ${constants}` })
    }
  return [...all.values()]
}

/* What Dawn makes dies with this object. */
let dawn

install()
const every = texts()

test('naga takes every pipeline without subgroups', async () => {
  const naga = await import(pathToFileURL(join(folderOf('naga-wasm'), 'dist/node.js')).href)
  const plain = every.filter(({ features }) => !features.includes('subgroups'))
  assert.ok(plain.length >= 200, `found ${plain.length} texts`)
  for (const { code, what } of plain)
    try {
      naga.validate(naga.parseWgsl(code))
    } catch (error) {
      assert.fail(`${what}: ${error.formatted ?? error}`)
    }
})

test('Tint takes every pipeline, without a warning', async (context) => {
  const { create, globals } = loadDawn()
  Object.assign(globalThis, globals)
  dawn = create([])
  const adapter = await dawn.requestAdapter()
  if (!adapter) return context.skip('Dawn finds no Vulkan driver (VK_ICD_FILENAMES)')
  const hasSubgroups = adapter.features.has('subgroups'),
    device = await adapter.requestDevice({ requiredFeatures: hasSubgroups ? ['subgroups'] : [] })
  const fitting = every.filter(({ features }) => hasSubgroups || !features.length)
  for (const { code, what } of fitting) {
    device.pushErrorScope('validation')
    const { messages } = await device.createShaderModule({ code }).getCompilationInfo(),
      error = await device.popErrorScope()
    assert.deepEqual(
      messages.map(({ message }) => message),
      [],
      what
    )
    assert.equal(error, null, what)
  }
  device.destroy()
})
