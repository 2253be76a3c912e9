/* Values as expressions of WGSL.
 *
 * An expression that one instruction of the same block uses stands where it is used. One that reads
 * memory gets a name at the latest before memory is written. */
import { literal } from './fold.js'
import { operandsOf, refuse } from './spirv.js'
import { join, t } from './text.js'
import { comparisons, functions, operators, signs } from './words.js'
/** @import { Module } from './module.js' */
/** @import { Block, Instruction, Scalar, SpirvFunction, Statement, Text } from './types.js' */

/**
 * @typedef {object} Expression
 * @property {Text} text
 * @property {number} type
 * @property {boolean} whole that it needs no parentheses
 * @property {boolean} reads that it reads memory, and has no name yet
 */

export const letters = 'xyzw'

export class Values {
  /** @type {Map<number, Expression>} */
  expressions = new Map()
  /** @type {Map<number, number>} */
  uses = new Map()
  /** Blocks that use a value. @type {Map<number, Set<number>>} */
  #users = new Map()
  /** Expressions that read memory and stand nowhere yet. @type {Set<number>} */
  pending = new Set()
  /** Texel buffers by the ids of what was loaded from them. @type {Map<number, number>} */
  texels = new Map()
  names = 0
  /** @type {Text[]} */
  locals = []
  /** @type {Statement[]} */
  lines = []
  #block = 0

  /**
   * @param {Module} module
   * @param {SpirvFunction} fn
   */
  constructor(module, fn) {
    this.module = module
    for (const block of fn.blocks.values()) this.#countUses(block)
  }

  /** @param {Block} block */
  #countUses(block) {
    for (const instruction of block.code) {
      for (const [i, id] of operandsOf(instruction).entries()) {
        /* an operand of a choice is used at the end of the block that it comes from */
        const user = instruction.op === 245 ? instruction.words[2 * i + 1] : block.id
        this.uses.set(id, (this.uses.get(id) ?? 0) + 1)
        this.#users.set(id, (this.#users.get(id) ?? new Set()).add(user))
      }
    }
  }

  /** @param {number} block whose instructions come now */
  enter(block) {
    this.#block = block
  }

  /** A new variable of the function. @param {Text} type */
  addLocal(type) {
    return this.locals.push(type) - 1
  }

  /** @param {number} id @param {number} type @param {Text} text */
  name(id, type, text) {
    this.expressions.set(id, { text, type, whole: true, reads: false })
  }

  /** @param {number} id @returns {Expression} */
  take(id) {
    const known = this.expressions.get(id)
    if (known) {
      this.pending.delete(id)
      return known
    }
    const value = this.module.spirv.values.get(id)
    if (!value) return refuse(`value ${id} of such an instruction`)
    return { text: this.module.constantText(id), type: value.type, whole: true, reads: false }
  }

  /** A value where it is used. @param {number} id */
  text(id) {
    return this.take(id).text
  }

  /** The same in parentheses, where it needs them. @param {number} id */
  factor(id) {
    const { text, whole } = this.take(id)
    return whole ? text : t`(${text})`
  }

  /** @param {number} id */
  typeOf(id) {
    return (
      this.expressions.get(id)?.type ??
      this.module.spirv.values.get(id)?.type ??
      refuse(`type of value ${id}`)
    )
  }

  /** A value as a type of the same bits. @param {number} id @param {Scalar | ''} to @param {boolean} [factor] */
  as(id, to, factor) {
    const type = this.typeOf(id)
    if (!to || this.module.scalar(type) === to) return factor ? this.factor(id) : this.text(id)
    const described = this.module.type(type),
      name = described.kind === 'vector' ? `vec${described.count}<${to}>` : to
    return t`bitcast<${name}>(${this.text(id)})`
  }

  /** Names what reads memory and stands nowhere yet: memory is about to change, or the block ends. */
  flush() {
    for (const id of this.pending) this.nameIt(id)
    this.pending.clear()
  }

  /** @param {number} id */
  nameIt(id) {
    const expression = /** @type {Expression} */ (this.expressions.get(id)),
      name = `v${this.names++}`
    this.lines.push(t`let ${name}=${expression.text}`)
    this.expressions.set(id, { text: t`${name}`, type: expression.type, whole: true, reads: false })
  }

  /**
   * @param {Instruction} instruction
   * @param {Text} text
   * @param {{ whole?: boolean, reads?: boolean }} how
   */
  set({ id, type }, text, { whole = false, reads = false }) {
    const uses = this.uses.get(id) ?? 0
    if (uses === 0) return
    const users = this.#users.get(id),
      here = users?.size === 1 && users.has(this.#block)
    this.expressions.set(id, { text, type, whole, reads })
    if (uses > 1 || !here) this.nameIt(id)
    else if (reads) this.pending.add(id)
  }

  /** Whether a value is an expression that reads memory. @param {number} id */
  isReading(id) {
    return this.pending.has(id)
  }

  /** Whether what an instruction uses reads memory. @param {Instruction} instruction */
  reads(instruction) {
    return operandsOf(instruction).some((id) => this.pending.has(id))
  }

  /** @param {Instruction} instruction */
  pure(instruction) {
    const reads = this.reads(instruction)
    const { text, whole } = this.#value(instruction)
    this.set(instruction, text, {
      whole,
      reads: reads || instruction.op === 95 || instruction.op === 346
    })
  }

  /**
   * @param {Instruction} instruction
   * @returns {{ text: Text, whole: boolean }}
   */
  #value({ op, type, words }) {
    const whole = (/** @type {Text} */ text) => ({ text, whole: true })
    const scalar = () => this.module.scalar(type),
      name = () => this.module.typeText(type)
    if (op in operators) return this.#operator(op, scalar(), words)
    if (op in comparisons) return this.#comparison(op, words)
    if (op in signs) return { text: t`${signs[op]}${this.factor(words[0])}`, whole: false }
    switch (op) {
      case 12:
        return whole(this.#function(words[1], scalar(), words.slice(2)))
      case 79:
        return whole(this.#shuffle(type, words))
      case 80: {
        const parts = words.map((id) => this.text(id))
        const first = JSON.stringify(parts[0])
        const same =
          this.module.type(type).kind === 'vector' &&
          parts.every((part) => JSON.stringify(part) === first)
        return whole(t`${name()}(${same ? parts[0] : join(parts, ',')})`)
      }
      case 81:
        return whole(this.#extract(words))
      case 95:
        return whole(this.#fetch(words))
      case 109:
      case 110:
        return whole(t`${name()}(${this.text(words[0])})`)
      case 111:
        return whole(t`${name()}(${this.as(words[0], 'i32')})`)
      case 112:
        return whole(t`${name()}(${this.as(words[0], 'u32')})`)
      case 124:
        return whole(this.#bitcast(type, words[0]))
      case 154:
        return whole(t`any(${this.text(words[0])})`)
      case 155:
        return whole(t`all(${this.text(words[0])})`)
      case 169:
        return whole(this.#select(words))
      case 346:
        return whole(
          t`${{ enable: 'subgroups' }}subgroupShuffleXor(${this.text(words[1])},${this.text(words[2])})`
        )
      case 4450:
        return whole(t`dot4I8Packed(${this.text(words[0])},${this.text(words[1])})`)
    }
    return refuse(`instruction ${op}`)
  }

  /** @param {number} op @param {Scalar} result @param {number[]} words */
  #operator(op, result, [a, b]) {
    const [sign, type] = operators[op],
      left = this.as(a, type || result, true)
    const shift = sign === '>>' || sign === '<<',
      right = this.as(b, shift ? 'u32' : type || result, true),
      text = t`${left}${sign}${right}`
    if (type && type !== result) return { text: t`bitcast<${result}>(${text})`, whole: true }
    return { text, whole: false }
  }

  /** @param {number} op @param {number[]} words */
  #comparison(op, [a, b]) {
    const [sign, type] = comparisons[op],
      to = type || this.module.scalar(this.typeOf(a))
    return { text: t`${this.as(a, to, true)}${sign}${this.as(b, to, true)}`, whole: false }
  }

  /** @param {number} number @param {Scalar} result @param {number[]} of */
  #function(number, result, of) {
    const [name, type] = functions[number] ?? refuse(`function ${number} of GLSL`),
      call = t`${name}(${join(
        of.map((id) => this.as(id, type)),
        ','
      )})`
    return type && type !== result && number !== 58 && number !== 62
      ? t`bitcast<${result}>(${call})`
      : call
  }

  /** @param {number[]} words */
  #extract([composite, ...indices]) {
    const value = this.module.spirv.values.get(composite)
    if (value?.kind === 'composite' && indices.length === 1)
      return this.module.constantText(value.of[indices[0]])
    let type = this.typeOf(composite),
      text = this.factor(composite)
    for (const index of indices) {
      const of = this.module.type(type)
      if (of.kind !== 'vector' && of.kind !== 'array')
        return refuse(`element of the type ${of.kind}`)
      text = of.kind === 'vector' ? t`${text}.${letters[index]}` : t`${text}[${String(index)}]`
      type = of.of
    }
    return text
  }

  /** @param {number} type @param {number[]} words */
  #shuffle(type, [a, b, ...indices]) {
    const described = this.module.type(this.typeOf(a)),
      count = described.kind === 'vector' ? described.count : refuse('shuffle of no vector')
    if (indices.every((i) => i < count))
      return t`${this.factor(a)}.${indices.map((i) => letters[i]).join('')}`
    const left = this.factor(a),
      right = this.factor(b)
    const parts = indices.map((i) =>
      i < count ? t`${left}.${letters[i]}` : t`${right}.${letters[i - count]}`
    )
    return t`${this.module.typeText(type)}(${join(parts, ',')})`
  }

  /** @param {number[]} words */
  #fetch([texels, at]) {
    const variable = this.texels.get(texels) ?? refuse('texels that no variable has'),
      element = t`${{ global: this.module.global(variable) }}[${this.text(at)}]`
    return this.module.singles.has(variable) ? t`vec4<f32>(${element})` : element
  }

  /** @param {number} type @param {number} of */
  #bitcast(type, of) {
    const known = this.module.known(of),
      to = this.module.scalar(type)
    if (known === undefined || typeof known === 'boolean')
      return t`bitcast<${this.module.typeText(type)}>(${this.text(of)})`
    /* NaN and Inf are no constants of WGSL: a function makes them */
    if (to === 'f32') return t`bits(${literal('u32', known)})`
    if (this.module.scalar(this.typeOf(of)) === 'f32') return t`bitcast<${to}>(${this.text(of)})`
    return t`${literal(to, known)}`
  }

  /** @param {number[]} words */
  #select([condition, yes, no]) {
    const known = this.module.known(condition)
    if (known !== undefined) return this.factor(known ? yes : no)
    if (this.module.isConstant(condition)) {
      const when = this.module.constant(condition)
      return t`${{ when, yes: t`(${this.text(yes)})`, no: t`(${this.text(no)})` }}`
    }
    return t`select(${this.text(no)},${this.text(yes)},${this.text(condition)})`
  }
}
