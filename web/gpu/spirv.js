/* Reads a module of SPIR-V as glslang writes it: types, constants, variables, and functions as
 * blocks of instructions. */
/** @import { Block, Instruction, Spirv, SpirvFunction, Type } from './types.js' */

/** What the converter does not know: names the construct. */
export class UnknownConstruct extends Error {}

/** @param {string} construct @returns {never} */
export const refuse = (construct) => {
  throw new UnknownConstruct(`SPIR-V to WGSL: this converter has no ${construct}`)
}

/* Numbers of the SPIR-V specification. */
export const storage = {
  constant: 0,
  input: 1,
  uniform: 2,
  workgroup: 4,
  private: 6,
  function: 7,
  push: 9,
  buffer: 12
}
const decoration = {
  specId: 1,
  bufferBlock: 3,
  builtIn: 11,
  nonWritable: 24,
  binding: 33,
  offset: 35
}

/* Instructions with a result but no type stand among the types; those here have neither. */
const plain = new Set([62, 63, 224, 225, 246, 247, 249, 250, 251, 252, 253, 254, 255])
/* Names, sources, capabilities and lines say nothing that WGSL has a word for. */
const skipped = new Set([3, 4, 5, 6, 7, 8, 10, 11, 14, 16, 17, 56, 317, 330])
const kinds = /** @type {const} */ ({ 19: 'void', 20: 'bool', 33: 'function' })

/**
 * The type that an instruction declares, or undefined.
 * @param {number} op
 * @param {number[]} w
 * @returns {Type | undefined}
 */
function typeOf(op, w) {
  switch (op) {
    case 19:
    case 20:
    case 33:
      return { kind: kinds[op] }
    case 21:
      return w[1] === 32 ? { kind: w[2] ? 'i32' : 'u32' } : refuse(`integer of ${w[1]} bits`)
    case 22:
      return w[1] === 32
        ? { kind: 'f32' }
        : w[1] === 16
          ? { kind: 'f16' }
          : refuse(`float of ${w[1]} bits`)
    case 23:
      return { kind: 'vector', of: w[1], count: w[2] }
    case 25:
      return w[2] === 5 ? { kind: 'texels', of: w[1] } : refuse('image other than a texel buffer')
    case 27:
      return { kind: 'texels', of: w[1] }
    case 28:
      return { kind: 'array', of: w[1], count: w[2] }
    case 29:
      return { kind: 'runtime', of: w[1] }
    case 30:
      return { kind: 'struct', of: w.slice(1) }
    case 32:
      return { kind: 'pointer', storage: w[1], of: w[2] }
  }
  return undefined
}

/**
 * Adds a constant, if the instruction is one.
 * @param {Spirv} m
 * @param {number} op
 * @param {number[]} w
 */
function addConstant(m, op, w) {
  const [type, id] = w
  if (op === 41 || op === 42 || op === 48 || op === 49)
    m.values.set(id, {
      kind: 'constant',
      type,
      bits: Number(op === 41 || op === 48),
      spec: op >= 48
    })
  else if (op === 43 || op === 50)
    m.values.set(id, { kind: 'constant', type, bits: w[2], spec: op === 50 })
  else if (op === 44 || op === 51) m.values.set(id, { kind: 'composite', type, of: w.slice(2) })
  else if (op === 46) m.values.set(id, { kind: 'null', type })
  else if (op === 52) m.values.set(id, { kind: 'operation', type, op: w[2], of: w.slice(3) })
  else return false
  return true
}

/**
 * @param {Spirv} m
 * @param {number[]} w
 */
function addDecoration(m, [id, what, value]) {
  if (what === decoration.specId) m.specs.set(id, value)
  else if (what === decoration.binding) m.bindings.set(id, value)
  else if (what === decoration.builtIn) m.builtins.set(id, value)
}

/**
 * @param {Spirv} m
 * @param {number[]} w
 */
function addMemberDecoration(m, [id, member, what, value]) {
  if (what === decoration.offset) {
    const offsets = m.offsets.get(id) ?? []
    offsets[member] = value
    m.offsets.set(id, offsets)
  } else if (what === decoration.nonWritable) m.readonly.add(id)
}

/**
 * The instructions one by one: opcode and the words after the first.
 * @param {Uint32Array} words
 * @returns {Generator<[number, number[]]>}
 */
function* instructions(words) {
  if (words[0] !== 0x07230203) refuse('module without the number of SPIR-V at its start')
  for (let i = 5; i < words.length; ) {
    const length = words[i] >>> 16
    if (length === 0 || i + length > words.length) refuse('module that ends within an instruction')
    yield [words[i] & 0xffff, Array.from(words.subarray(i + 1, i + length))]
    i += length
  }
}

/**
 * @param {Uint32Array} words
 * @returns {Spirv}
 * @throws {UnknownConstruct} for what the reader does not know
 */
export function readSpirv(words) {
  /** @type {Spirv} */
  const m = {
    types: new Map(),
    values: new Map(),
    specs: new Map(),
    bindings: new Map(),
    builtins: new Map(),
    offsets: new Map(),
    readonly: new Set(),
    globals: [],
    functions: [],
    entry: 0
  }
  /** @type {SpirvFunction | undefined} */
  let fn
  /** @type {Block | undefined} */
  let block
  for (const [op, w] of instructions(words)) {
    const type = typeOf(op, w)
    if (type) m.types.set(w[0], type)
    else if (op === 15) m.entry = w[1]
    else if (op === 71) addDecoration(m, w)
    else if (op === 72) addMemberDecoration(m, w)
    else if (op === 54) {
      fn = { id: w[1], returns: w[0], params: [], blocks: new Map(), first: 0 }
      block = undefined
      m.functions.push(fn)
    } else if (op === 55) {
      fn?.params.push({ id: w[1], type: w[0] })
      m.values.set(w[1], { kind: 'parameter', type: w[0] })
    } else if (op === 248 && fn) {
      block = { id: w[0], code: [] }
      fn.blocks.set(w[0], block)
      fn.first ||= w[0]
    } else if (op === 59 && !block) {
      if (w.length > 3) refuse('initialiser of a variable')
      m.values.set(w[1], { kind: 'variable', type: w[0], storage: w[2] })
      m.globals.push(w[1])
    } else if (!skipped.has(op) && !addConstant(m, op, w)) {
      if (block) block.code.push(instruction(op, w))
      else refuse(`instruction ${op} outside functions`)
    }
  }
  return m
}

/**
 * @param {number} op
 * @param {number[]} w
 * @returns {Instruction}
 */
const instruction = (op, w) =>
  plain.has(op) ? { op, type: 0, id: 0, words: w } : { op, type: w[0], id: w[1], words: w.slice(2) }

/**
 * The ids that an instruction reads, without the numbers among its words.
 * @param {Instruction} instruction
 * @returns {number[]}
 */
export function operandsOf({ op, words }) {
  switch (op) {
    case 12: // of GLSL's own instructions
      return words.slice(2)
    case 57:
      return words.slice(1)
    case 59:
    case 246:
    case 247:
    case 249:
    case 253:
    case 255:
      return []
    case 61:
    case 81:
      return words.slice(0, 1)
    case 62:
    case 79:
      return words.slice(0, 2)
    case 95:
    case 4450:
      return words.slice(0, 2)
    case 234:
      return [words[0], words[3]]
    case 245:
      return words.filter((_, i) => i % 2 === 0)
    case 250:
    case 251:
      return words.slice(0, 1)
  }
  return words
}
