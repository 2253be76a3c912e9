/* The modules of SPIR-V that a build has, and the pipelines of the self-check. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env.HEED_SPIRV ?? '',
  lister = process.env.HEED_PIPELINES ?? ''

export function skip(/** @type {string} */ why) {
  console.log(`skipped: ${why}`)
  process.exit(77)
}

/* Texel views, cooperative matrices and what measures a device are not for browsers. */
const forBrowsers = (/** @type {string} */ name) => !/_texel$|matrix|^ceiling_/.test(name)

export function readModule(/** @type {string} */ name) {
  const bytes = readFileSync(join(folder, `${name}.spv`))
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

/** Names of the modules for browsers. */
export function moduleNames() {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.spv'))
    .map((file) => file.slice(0, -4))
  if (!names.length) skip('no glslang compiled the shaders of this build')
  return names.filter(forBrowsers)
}

/** Every pipeline: the module's name, and the constants by their numbers. */
export function pipelines() {
  return execFileSync(lister, { encoding: 'utf8', maxBuffer: 1 << 26 })
    .trim()
    .split('\n')
    .map((line) => {
      const [name, ...constants] = line.split(' ')
      return { name, constants: constants.map(Number) }
    })
    .filter(({ name }) => forBrowsers(name))
}
