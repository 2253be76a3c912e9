/* The shaders for browsers as templates of WGSL, in three deflated files of JSON by what a device has: node gpu_chunks.js
 * SPIRV OUT, with the modules of SPIR-V as glslang wrote them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { convert } from '../gpu/convert.js'

/* Texel views, cooperative matrices and what measures a device are not for browsers. */
const isForBrowsers = (/** @type {string} */ name) => !/_texel$|matrix|^ceiling_/.test(name)

/** The file of a shader. @param {string} name */
const chunkOf = (name) =>
  name.endsWith('_subgroup') ? 'subgroup' : /int8|quantise/.test(name) ? 'int8' : 'floor'

const [, , spirv, out] = process.argv
/** @type {Record<string, Record<string, object>>} */
const chunks = { floor: {}, subgroup: {}, int8: {} }
for (const file of readdirSync(spirv)
  .filter((name) => name.endsWith('.spv'))
  .sort()) {
  const name = file.slice(0, -4)
  if (!isForBrowsers(name)) continue
  const bytes = readFileSync(join(spirv, file)),
    words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
  chunks[chunkOf(name)][name] = convert(words)
}
for (const [name, templates] of Object.entries(chunks))
  writeFileSync(
    join(out, `gpu-${name}.deflate`),
    deflateSync(JSON.stringify(templates), { level: 9 })
  )
