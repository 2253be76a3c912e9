/* A module of SPIR-V, as glslang writes it without optimising, as WGSL whose constants are open. */
import { convertFunction } from './control.js'
import { Module } from './module.js'
import { readSpirv, refuse } from './spirv.js'
/** @import { Spirv, Template } from './types.js' */

/**
 * Texel buffers of which each fetch gives its first number alone: a float a texel.
 * @param {Spirv} spirv
 */
function findSingles(spirv) {
  const singles = /** @type {Set<number>} */ (new Set())
  const wide = /** @type {Set<number>} */ (new Set())
  for (const fn of spirv.functions) {
    const code = [...fn.blocks.values()].flatMap((block) => block.code)
    const from = new Map(
      code.flatMap(({ op, id, words }) => (op === 61 || op === 100 ? [[id, words[0]]] : []))
    )
    const texelsOf = (/** @type {number} */ id) => from.get(from.get(id) ?? 0) ?? 0
    for (const { op, id, words } of code) {
      if (op !== 95) continue
      const variable = texelsOf(words[0])
      const users = code.filter((user) => user.words.includes(id) && user !== undefined)
      if (users.every((user) => user.op === 81 && user.words[0] === id && user.words[1] === 0))
        singles.add(variable)
      else wide.add(variable)
    }
  }
  for (const variable of wide) singles.delete(variable)
  return singles
}

/** The workgroup's width, a constant. @param {Module} module */
function findWidth(module) {
  for (const [id, builtin] of module.spirv.builtins) {
    const value = module.spirv.values.get(id)
    if (builtin === 25 && value?.kind === 'composite') return module.constant(value.of[0])
  }
  return refuse('workgroup whose width is no constant')
}

/**
 * @param {Uint32Array} words of the module
 * @returns {Template}
 * @throws {import('./spirv.js').UnknownConstruct} with a sentence, for what the converter does not know
 */
export function convert(words) {
  const spirv = readSpirv(words),
    module = new Module(spirv)
  module.singles = findSingles(spirv)
  const order = new Map(spirv.functions.map(({ id }, i) => [id, i]))
  const functions = spirv.functions.map((fn) => convertFunction(module, fn, order))
  const width = findWidth(module)
  return {
    constants: module.constants,
    globals: module.globals,
    functions,
    entry: order.get(spirv.entry) ?? refuse('module without an entry'),
    width
  }
}
