/* A module's types, constants and variables in WGSL. */
import { floatOfBits, fold, canFold, literal } from './fold.js'
import { refuse, storage } from './spirv.js'
import { join, t } from './text.js'
/** @import { Constant, Global, Scalar, Spirv, Text, Type } from './types.js' */
/** @import { Known } from './fold.js' */

/* Values that a device gives an invocation, by SPIR-V's number. */
/** @type {Record<number, string>} */
const builtins = {
  24: 'num_workgroups',
  26: 'workgroup_id',
  27: 'local_invocation_id',
  28: 'global_invocation_id',
  29: 'local_invocation_index',
  36: 'subgroup_size',
  38: 'num_subgroups',
  40: 'subgroup_id',
  41: 'subgroup_invocation_id'
}

export class Module {
  /** @type {Constant[]} */
  constants = []
  /** @type {Map<string, number>} */
  #places = new Map()
  /** @type {Map<number, number>} */
  #globals = new Map()
  /** @type {Global[]} */
  globals = []
  /** Texel buffers of which one element a texel is read. @type {Set<number>} */
  singles = new Set()

  /** @param {Spirv} spirv */
  constructor(spirv) {
    this.spirv = spirv
  }

  /** @param {number} id @returns {Type} */
  type(id) {
    return this.spirv.types.get(id) ?? refuse(`type of id ${id}`)
  }

  /** The type of an element, or the type itself. @param {number} id @returns {Scalar} */
  scalar(id) {
    const type = this.type(id),
      kind = type.kind === 'vector' ? this.type(type.of).kind : type.kind
    return kind === 'u32' || kind === 'i32' || kind === 'f32' || kind === 'bool'
      ? kind
      : refuse(`arithmetic on the type ${kind}`)
  }

  /** @param {number} id @returns {Text} */
  typeText(id) {
    const type = this.type(id)
    switch (type.kind) {
      case 'vector':
        return t`vec${String(type.count)}<${this.scalar(id)}>`
      case 'array':
        return t`array<${this.typeText(type.of)},${this.lengthText(type.count)}>`
      case 'runtime':
        return t`array<${this.typeText(type.of)}>`
      case 'pointer':
        return t`ptr<function,${this.typeText(type.of)}>`
      case 'u32':
      case 'i32':
      case 'f32':
      case 'bool':
        return t`${type.kind}`
    }
    return refuse(`variable of type ${type.kind}`)
  }

  /** @param {number} id of an array's length */
  lengthText(id) {
    const known = this.known(id)
    return known === undefined ? t`${{ constant: this.constant(id) }}` : t`${String(known)}`
  }

  /** Whether an id is a scalar constant, open or not. @param {number} id */
  isConstant(id) {
    const kind = this.spirv.values.get(id)?.kind
    return kind === 'constant' || kind === 'operation'
  }

  /** The value of a constant that no specialisation changes. @param {number} id @returns {Known | undefined} */
  known(id) {
    const value = this.spirv.values.get(id)
    if (value?.kind === 'constant')
      return value.spec ? undefined : this.#decode(value.type, value.bits)
    if (value?.kind !== 'operation') return undefined
    if (value.op === 81) return this.known(this.#extracted(value.of))
    const of = value.of.map((operand) => this.known(operand)),
      all = of.filter((operand) => operand !== undefined)
    if (all.length < of.length || !canFold(value.op)) return undefined
    return fold(value.op, this.scalar(value.type), all)
  }

  /**
   * @param {number} type
   * @param {number} bits
   * @returns {Known}
   */
  #decode(type, bits) {
    const scalar = this.scalar(type)
    if (scalar === 'bool') return bits !== 0
    return scalar === 'f32' ? floatOfBits(bits) : scalar === 'i32' ? bits | 0 : bits >>> 0
  }

  /** The element of a constant composite. @param {number[]} of */
  #extracted([composite, ...indices]) {
    let id = composite
    for (const index of indices) {
      const value = this.spirv.values.get(id)
      id = value?.kind === 'composite' ? value.of[index] : refuse('element of such a constant')
    }
    return id
  }

  /** The place of a constant in the template's table. @param {number} id @returns {number} */
  constant(id) {
    const value = this.spirv.values.get(id),
      known = this.known(id)
    if (value?.kind === 'operation' && value.op === 81)
      return this.constant(this.#extracted(value.of))
    if (value?.kind !== 'constant' && value?.kind !== 'operation') return refuse(`constant ${id}`)
    const type = this.scalar(value.type)
    if (known !== undefined) return this.#place({ type, value: known })
    if (value.kind === 'constant') {
      const spec = this.spirv.specs.get(id) ?? refuse('specialisation constant without a number')
      return this.#place({ type, spec, value: this.#decode(value.type, value.bits) })
    }
    if (!canFold(value.op)) refuse(`constant by operation ${value.op}`)
    return this.#place({
      type,
      op: value.op,
      of: value.of.map((operand) => this.constant(operand))
    })
  }

  /** Whether a constant has a value. @param {number} id @param {Known} value */
  constantIs(id, value) {
    const constant = this.constant(id),
      other = this.#place({ type: this.constants[constant].type, value })
    return this.#place({ type: 'bool', op: 170, of: [constant, other] })
  }

  /** @param {Constant} constant */
  #place(constant) {
    const key = JSON.stringify(constant)
    let place = this.#places.get(key)
    if (place === undefined) {
      place = this.constants.push(constant) - 1
      this.#places.set(key, place)
    }
    return place
  }

  /** A constant as an expression. @param {number} id @returns {Text} */
  constantText(id) {
    const value = this.spirv.values.get(id)
    if (value?.kind === 'null') return t`${this.typeText(value.type)}()`
    if (value?.kind === 'composite')
      return t`${this.typeText(value.type)}(${join(
        value.of.map((part) => this.constantText(part)),
        ','
      )})`
    const known = this.known(id)
    if (known === undefined) return t`${{ constant: this.constant(id) }}`
    return t`${literal(this.scalar(/** @type {{type: number}} */ (value).type), known)}`
  }

  /** The name of a builtin variable, or undefined. @param {number} id */
  builtin(id) {
    const number = this.spirv.builtins.get(id)
    return number === undefined
      ? undefined
      : (builtins[number] ?? refuse(`builtin variable ${number}`))
  }

  /** The place of a variable among the template's. @param {number} id */
  global(id) {
    let place = this.#globals.get(id)
    if (place === undefined) {
      place = this.globals.push(this.#declare(id)) - 1
      this.#globals.set(id, place)
    }
    return place
  }

  /** @param {number} id @returns {Global} */
  #declare(id) {
    const value = this.spirv.values.get(id)
    if (value?.kind !== 'variable') return refuse(`variable ${id}`)
    const pointer = this.type(value.type),
      of = pointer.kind === 'pointer' ? pointer.of : refuse('variable that is no pointer')
    const slot = this.spirv.bindings.get(id) ?? 0
    switch (value.storage) {
      case storage.private:
        return { space: 'private', type: this.typeText(of) }
      case storage.workgroup:
        return { space: 'workgroup', type: this.typeText(of) }
      case storage.constant:
        return {
          slot,
          writes: false,
          type: t`array<${this.singles.has(id) ? 'f32' : this.texelText(of)}>`
        }
      case storage.buffer:
      case storage.uniform:
        return this.#buffer(slot, of)
    }
    return refuse(`variable of storage class ${value.storage}`)
  }

  /** @param {number} slot @param {number} of @returns {Global} */
  #buffer(slot, of) {
    const block = this.type(of)
    if (block.kind !== 'struct' || block.of.length !== 1)
      return refuse('storage buffer of several members')
    const member = block.of[0]
    if (this.type(member).kind === 'u32') return { slot, writes: true, type: t`atomic<u32>` }
    if (this.type(member).kind !== 'runtime') refuse('storage buffer that is no array')
    return { slot, writes: !this.spirv.readonly.has(of), type: this.typeText(member) }
  }

  /** Four elements of a texel buffer. @param {number} id @returns {Text} */
  texelText(id) {
    const type = this.type(id)
    return type.kind === 'texels' ? this.texelText(type.of) : t`vec4<${this.scalar(id)}>`
  }
}
