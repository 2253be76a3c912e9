/* Instructions as statements of WGSL: what reads and writes memory, calls and barriers. */
import { refuse, storage } from './spirv.js'
import { t } from './text.js'
import { letters, Values } from './values.js'
/** @import { Module } from './module.js' */
/** @import { Instruction, SpirvFunction, Text } from './types.js' */

/**
 * What a pointer leads to: a text, or words of the dispatch's parameters.
 * @typedef {object} Place
 * @property {Text} text
 * @property {number} type
 * @property {boolean} params
 * @property {boolean} reads
 */

export class Instructions extends Values {
  /** @type {Map<number, Place>} */
  #places = new Map()
  /** @type {Map<number, number>} */
  #localOf = new Map()

  /**
   * @param {Module} module
   * @param {SpirvFunction} fn
   * @param {Map<number, number>} order of the functions in the template
   */
  constructor(module, fn, order) {
    super(module, fn)
    this.order = order
    fn.params.forEach(({ id, type }, i) => {
      const pointer = module.type(type)
      if (pointer.kind !== 'pointer') refuse('parameter that is no pointer')
      const of = pointer.kind === 'pointer' ? pointer.of : 0
      this.#places.set(id, { text: t`(*p${String(i)})`, type: of, params: false, reads: false })
    })
  }

  /** The variable that a pointer is, or undefined. @param {number} id */
  localOf(id) {
    return this.#localOf.get(id)
  }

  /** @param {number} id @returns {Place} */
  #place(id) {
    const place = this.#places.get(id)
    if (place) return place
    const value = this.module.spirv.values.get(id)
    if (value?.kind !== 'variable') return refuse('pointer of this kind')
    const pointer = this.module.type(value.type),
      type = pointer.kind === 'pointer' ? pointer.of : 0,
      builtin = this.module.builtin(id),
      params = value.storage === storage.push
    if (builtin) return { text: t`${{ builtin }}`, type, params, reads: false }
    if (params) return { text: [], type, params, reads: false }
    return { text: t`${{ global: this.module.global(id) }}`, type, params, reads: false }
  }

  /** A part of what a pointer leads to. @param {Instruction} instruction @param {boolean} soon that the next one uses it */
  #chain({ id, words: [base, ...indices] }, soon) {
    for (const index of indices)
      if (this.pending.has(index) && !soon) {
        this.pending.delete(index)
        this.nameIt(index)
      }
    const reads = indices.some((index) => this.pending.has(index)),
      place = this.#place(base)
    this.#places.set(
      id,
      place.params ? this.#param(place, indices) : this.#element(place, indices, reads)
    )
  }

  /** @param {Place} place @param {number[]} indices @param {boolean} reads @returns {Place} */
  #element({ text, type }, indices, reads) {
    for (const index of indices) {
      const of = this.module.type(type),
        known = this.module.known(index)
      if (of.kind === 'struct') type = of.of[Number(known)]
      else if (of.kind === 'vector' && known !== undefined) {
        text = t`${text}.${letters[Number(known)]}`
        type = of.of
      } else if (of.kind === 'vector' || of.kind === 'array' || of.kind === 'runtime') {
        text = t`${text}[${known === undefined ? this.text(index) : String(known)}]`
        type = of.of
      } else refuse(`element of the type ${of.kind}`)
    }
    return { text, type, params: false, reads }
  }

  /** A member of the parameters, or one of its elements. @param {Place} place @param {number[]} indices @returns {Place} */
  #param({ type }, [member, ...rest]) {
    const struct = this.module.type(type),
      number = Number(this.module.known(member)),
      offset =
        this.module.spirv.offsets.get(type)?.[number] ?? refuse('parameter without an offset'),
      of =
        struct.kind === 'struct' ? struct.of[number] : refuse('parameters that are no structure'),
      array = this.module.type(of)
    const text = (/** @type {number} */ word) =>
      t`${{ params: true }}[${String(word >> 2)}].${letters[word & 3]}`
    if (array.kind !== 'array')
      return { text: text(offset / 4), type: of, params: true, reads: false }
    const known = this.module.known(rest[0])
    if (known !== undefined)
      return { text: text(offset / 4 + Number(known)), type: array.of, params: true, reads: false }
    const at = t`(${String(offset / 4)}u+${this.as(rest[0], 'u32', true)})`
    return {
      text: t`${{ params: true }}[${at}>>2u][${at}&3u]`,
      type: array.of,
      params: true,
      reads: false
    }
  }

  /** @param {Instruction} instruction */
  #load(instruction) {
    const [pointer] = instruction.words,
      value = this.module.spirv.values.get(pointer)
    if (value?.kind === 'variable' && value.storage === storage.constant) {
      this.texels.set(instruction.id, pointer)
      return
    }
    const place = this.#place(pointer)
    if (place.params) {
      const scalar = this.module.scalar(place.type)
      const text = scalar === 'u32' ? place.text : t`bitcast<${scalar}>(${place.text})`
      this.set(instruction, text, { whole: true })
    } else this.set(instruction, place.text, { whole: true, reads: true })
  }

  /** @param {Instruction} instruction */
  #store({ words: [pointer, value] }) {
    const place = this.#place(pointer),
      text = this.text(value)
    this.flush()
    this.lines.push(t`${place.text}=${text}`)
  }

  /** @param {Instruction} instruction */
  #call(instruction) {
    const [callee, ...given] = instruction.words,
      call = this.order.get(callee) ?? refuse('call of an unknown function'),
      args = given.map((id) => {
        const { text } = this.#place(id)
        const whole =
          text.length === 1 && typeof text[0] === 'string' ? /^\(\*(p\d+)\)$/.exec(text[0]) : null
        return whole ? t`${whole[1]}` : t`&${text}`
      })
    this.flush()
    this.#statement(instruction, t`${{ call, args }}`)
  }

  /** What must stand here, with a name for its result where that is used. @param {Instruction} instruction @param {Text} text */
  #statement({ id, type }, text) {
    if (this.module.type(type).kind === 'void') this.lines.push(text)
    else if (!this.uses.get(id)) this.lines.push(t`_=${text}`)
    else {
      const name = `v${this.names++}`
      this.lines.push(t`let ${name}=${text}`)
      this.name(id, type, t`${name}`)
    }
  }

  /**
   * One instruction that is no branch.
   * @param {Instruction} instruction
   * @param {Instruction | undefined} next the one after it
   */
  instruction(instruction, next) {
    const { op, id, type, words } = instruction
    switch (op) {
      case 59: {
        if (words.length > 1) refuse('initialiser of a variable')
        const pointer = this.module.type(type),
          of = pointer.kind === 'pointer' ? pointer.of : 0,
          local = this.addLocal(this.module.typeText(of))
        this.#localOf.set(id, local)
        this.#places.set(id, { text: t`${{ local }}`, type: of, params: false, reads: false })
        return
      }
      case 61:
        return this.#load(instruction)
      case 62:
        return this.#store(instruction)
      case 65:
        return this.#chain(
          instruction,
          next !== undefined &&
            (next.op === 61 || next.op === 62) &&
            next.words[0] === id &&
            this.uses.get(id) === 1
        )
      case 57:
        return this.#call(instruction)
      case 224:
        if (this.module.known(words[0]) !== 2) refuse('barrier of other than a workgroup')
        this.flush()
        this.lines.push(t`workgroupBarrier()`)
        return
      case 234: {
        const place = this.#place(words[0]),
          value = this.text(words[3])
        this.flush()
        return this.#statement(instruction, t`atomicAdd(&${place.text},${value})`)
      }
      case 100:
        this.texels.set(id, this.texels.get(words[0]) ?? refuse('texels that no variable has'))
        return
      case 225:
      case 245:
        return
    }
    this.pure(instruction)
  }
}
