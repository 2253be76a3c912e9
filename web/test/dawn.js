/* The package beside npm's webgpu, as a user of Node has both: Dawn on a software driver. HEED_NPM names
 * the folder that webgpu is installed in. Without it, or without shaders, a test is skipped. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageFolder } from './package.js'
import { folderOf, install, loadDawn } from '../../tests/gpu/npm_packages.mjs'

/** @param {string} why */
export function skip(why) {
  console.log(`skipped: ${why}`)
  process.exit(77)
}

/** @typedef {typeof import('heed') & { demoModel: typeof import('heed/demo').demoModel, end: () => void }} Beside */

/** @returns {Promise<Beside>} */
export async function loadBesideDawn() {
  if (!existsSync(join(packageFolder, 'heed-gpu.wasm')))
    skip('this package was built without glslang, so without WebGPU')
  install()
  if (!(await loadDawn().create([]).requestAdapter()))
    skip('Dawn finds no Vulkan driver (VK_ICD_FILENAMES)')
  const scratch = mkdtempSync(join(tmpdir(), 'heed-webgpu-')),
    own = join(scratch, 'node_modules/heed')
  mkdirSync(own, { recursive: true })
  cpSync(packageFolder, own, { recursive: true })
  symlinkSync(folderOf('webgpu'), join(scratch, 'node_modules/webgpu'))
  const load = (/** @type {string} */ name) => import(pathToFileURL(join(own, name)).href)
  return {
    ...(await load('index.js')),
    ...(await load('demo.js')),
    end: () => rmSync(scratch, { recursive: true })
  }
}
