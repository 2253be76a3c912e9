/* Packages of npm that tests of WebGPU take, pinned, in a folder of their own, which HEED_NPM names. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const packages = ['naga-wasm@30.1.0', 'webgpu@0.6.2'],
  folder = process.env.HEED_NPM ?? ''

export const folderOf = (/** @type {string} */ name) => join(folder, 'node_modules', name)

/** Ends the process as skipped where npm does not give them. */
export function install() {
  if (existsSync(folderOf('naga-wasm')) && existsSync(folderOf('webgpu'))) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent']
  try {
    execFileSync('npm', ['install', ...quiet, ...packages], { cwd: folder, stdio: 'ignore' })
  } catch {
    console.log(`skipped: npm gives no ${packages.join(', ')} here`)
    process.exit(77)
  }
}

/** Dawn: { create, globals }. */
export const loadDawn = () => createRequire(join(folder, 'package.json'))('webgpu')
