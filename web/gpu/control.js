/* Blocks and branches as the statements they were: if, switch, loop.
 *
 * A region is what is emitted until a block `end`, where it goes on without a word. Branches to the
 * ends of the loop around it are break and continue. */
import { Instructions } from './instructions.js'
import { operandsOf, refuse } from './spirv.js'
import { t } from './text.js'
/** @import { Module } from './module.js' */
/** @import { Block, Count, Instruction, SpirvFunction, Statement, TemplateFunction, Text } from './types.js' */

/**
 * @typedef {object} Around
 * @property {number} end
 * @property {number} merge of the loop or the switch; 0: there is none
 * @property {number} next the loop's continue block
 */

/** What a variable gets, where that is all that is done. @param {Statement[]} lines @param {number} local */
function assigned([line, ...rest], local) {
  if (rest.length || !Array.isArray(line)) return undefined
  const [variable, first, ...parts] = line
  if (typeof variable !== 'object' || !('local' in variable) || variable.local !== local)
    return undefined
  const value = t`${String(first).slice(1)}${parts}`
  return typeof first === 'string' ? t`(${value})` : undefined
}

class Control {
  /**
   * @param {Module} module
   * @param {SpirvFunction} fn
   * @param {Map<number, number>} order
   */
  constructor(module, fn, order) {
    this.module = module
    this.fn = fn
    this.code = new Instructions(module, fn, order)
    /** Choices by the block they stand in. @type {Map<number, Instruction[]>} */
    this.choices = new Map()
    for (const block of fn.blocks.values())
      this.choices.set(
        block.id,
        block.code.filter(({ op }) => op === 245)
      )
    /** Variables of choices. @type {Map<number, number>} */
    this.chosen = new Map()
  }

  /** @param {number} id @returns {Block} */
  block(id) {
    return this.fn.blocks.get(id) ?? refuse(`block ${id}`)
  }

  /** Statements from a block on. @param {number} id @param {Around} around @returns {Statement[]} */
  region(id, around) {
    const outer = this.code.lines
    this.code.lines = []
    let before = 0
    for (let at = id; at && at !== around.end; ) {
      const next = this.one(this.block(at), before, around)
      before = at
      at = next
    }
    const lines = this.code.lines
    this.code.lines = outer
    return lines
  }

  /** One block; the one that follows, or 0. @param {Block} block @param {number} before @param {Around} around */
  one(block, before, around) {
    this.code.enter(block.id)
    let merge = 0,
      loop = 0
    for (const [i, instruction] of block.code.entries()) {
      const { op, words } = instruction
      if (op === 247) merge = words[0]
      else if (op === 246) [merge, loop] = words
      else if (op === 249 && loop) return this.loop(block, words[0], merge, loop, before, around)
      else if (op === 249) return this.leave(block.id, words[0], around)
      else if (op === 250) {
        if (loop) refuse('loop whose first block branches')
        return merge ? this.branch(block.id, words, merge, around) : this.test(words, around)
      } else if (op === 251) return this.switch(words, merge, around)
      else if (op >= 252 && op <= 255) return this.finish(instruction)
      else this.code.instruction(instruction, block.code[i + 1])
    }
    return refuse('block without an end')
  }

  /** @param {Instruction} instruction */
  finish({ op, words }) {
    if (op === 252) refuse('discard')
    const value = op === 254 ? this.code.text(words[0]) : undefined
    this.code.flush()
    if (op !== 255) this.code.lines.push(value ? { end: 'return', value } : { end: 'return' })
    return 0
  }

  /** Gives the choices of `to` their values, where it is entered from `from`. @param {number} from @param {number} to */
  choose(from, to) {
    for (const { id, words } of this.choices.get(to) ?? [])
      for (let i = 0; i < words.length; i += 2) {
        const local = this.chosen.get(id)
        if (words[i + 1] !== from || local === undefined) continue
        if (this.code.isReading(words[i])) this.code.flush()
        this.code.lines.push(t`${{ local }}=${this.code.text(words[i])}`)
      }
  }

  /** @param {number} from @param {number} to @param {Around} around */
  leave(from, to, around) {
    this.choose(from, to)
    this.code.flush()
    return this.jump(to, around)
  }

  /** @param {number} to @param {Around} around */
  jump(to, around) {
    if (to === around.end) return 0
    if (to === around.merge) this.code.lines.push({ end: 'break' })
    else if (to === around.next) this.code.lines.push({ end: 'continue' })
    else return to
    return 0
  }

  /** A branch that leaves the loop or goes on. @param {number[]} words @param {Around} around */
  test([condition, yes, no], around) {
    const leaves = no === around.merge
    if (!leaves && yes !== around.merge) refuse('branch without a merge')
    /** @type {Statement[]} */
    const out = [{ end: 'break' }]
    this.choice(condition, leaves ? [] : out, leaves ? out : [])
    return this.jump(leaves ? yes : no, around)
  }

  /** if, by a value or by a constant. @param {number} condition @param {Statement[]} yes @param {Statement[]} no */
  choice(condition, yes, no) {
    const known = this.module.known(condition)
    if (known !== undefined) this.code.lines.push(...(known ? yes : no))
    else if (this.module.isConstant(condition))
      this.code.lines.push({ when: this.module.constant(condition), yes, no })
    else {
      const text = this.code.text(condition)
      this.code.flush()
      this.code.lines.push({ if: text, yes, no })
    }
  }

  /**
   * if with a merge. `a && b` and `a || b` come as a branch around b.
   * @param {number} from
   * @param {number[]} words
   * @param {number} merge
   * @param {Around} around
   */
  branch(from, [condition, yes, no], merge, around) {
    const constant = this.module.isConstant(condition),
      text = constant ? [] : this.code.factor(condition)
    this.code.flush()
    const declared = this.choices.get(merge) ?? []
    for (const { id, type } of declared)
      this.chosen.set(id, this.code.addLocal(this.module.typeText(type)))
    const inner = { ...around, end: merge }
    const arm = (/** @type {number} */ to) => {
      if (to !== merge) return this.region(to, inner)
      const outer = this.code.lines
      this.code.lines = []
      this.choose(from, merge)
      const lines = this.code.lines
      this.code.lines = outer
      return lines
    }
    const first = arm(yes),
      second = arm(no)
    if (constant && this.foldChoice(declared, condition, first, second))
      return this.jump(merge, around)
    if (constant) this.choice(condition, first, second)
    else this.code.lines.push({ if: text, yes: first, no: second })
    for (const { id, type } of declared)
      this.code.name(id, type, t`${{ local: this.chosen.get(id) ?? 0 }}`)
    return this.jump(merge, around)
  }

  /**
   * A choice by a constant between two expressions, which then needs no variable: an `if` of it goes
   * with the constant.
   * @param {Instruction[]} declared
   * @param {number} condition
   * @param {Statement[]} first
   * @param {Statement[]} second
   */
  foldChoice(declared, condition, first, second) {
    if (declared.length !== 1 || this.module.known(condition) !== undefined) return false
    const [{ id, type }] = declared,
      local = this.chosen.get(id) ?? 0,
      yes = assigned(first, local),
      no = assigned(second, local)
    if (!yes || !no) return false
    this.code.name(id, type, t`${{ when: this.module.constant(condition), yes, no }}`)
    return true
  }

  /** @param {number[]} words @param {number} merge @param {Around} around */
  switch([selector, other, ...rest], merge, around) {
    const constant = this.module.isConstant(selector),
      text = constant ? [] : this.code.text(selector),
      scalar = this.module.scalar(this.code.typeOf(selector))
    this.code.flush()
    /** @type {Map<number, number[]>} */
    const targets = new Map()
    for (let i = 0; i < rest.length; i += 2)
      targets.set(rest[i + 1], [...(targets.get(rest[i + 1]) ?? []), rest[i]])
    const body = (/** @type {number} */ to) =>
      to === merge ? [] : this.region(to, { end: merge, merge, next: around.next })
    const cases = [...targets].map(([to, values]) => ({ values, body: body(to) }))
    const last = body(other)
    if (constant) {
      const chain = cases.reduceRight((no, { values, body: yes }) => {
        for (const value of values)
          no = [{ when: this.module.constantIs(selector, value), yes, no }]
        return no
      }, last)
      this.code.lines.push(...chain)
    } else {
      const suffix = scalar === 'u32' ? 'u' : 'i'
      this.code.lines.push({
        select: text,
        cases: cases.map(({ values, body: lines }) => ({
          values: values.map((value) => `${scalar === 'u32' ? value >>> 0 : value | 0}${suffix}`),
          body: lines
        })),
        other: last
      })
    }
    return this.jump(merge, around)
  }

  /**
   * @param {Block} header
   * @param {number} first
   * @param {number} merge
   * @param {number} next
   * @param {number} before the block that the loop is entered from
   * @param {Around} around
   */
  loop(header, first, merge, next, before, around) {
    this.code.flush()
    const counted = this.counted(header.id, first, merge, next, before)
    const loop = this.region(first, { end: next, merge, next }),
      tail = this.region(next, { end: header.id, merge: 0, next: 0 })
    /** @type {Statement} */
    const statement = { loop, tail }
    if (counted) statement.count = { ...counted, body: loop.slice(1) }
    this.code.lines.push(statement)
    return this.jump(merge, around)
  }

  /**
   * The counter of a loop over constants that nothing else writes and that nothing leaves early.
   * @param {number} header
   * @param {number} first
   * @param {number} merge
   * @param {number} next
   * @param {number} before
   * @returns {Omit<Count, 'body'> | undefined}
   */
  counted(header, first, merge, next, before) {
    const test = this.block(first).code,
      tail = this.block(next).code
    if (!before || test.map(({ op }) => op).join() !== `61,${test[1]?.op},250`) return undefined
    if (tail.map(({ op }) => op).join() !== '61,128,62,249') return undefined
    const [load, compare, branch] = test,
      variable = load.words[0],
      local = this.code.localOf(variable)
    const inclusive = compare.op === 178 || compare.op === 179
    if (local === undefined || !(inclusive || compare.op === 176 || compare.op === 177))
      return undefined
    if (compare.words[0] !== load.id || branch.words[2] !== merge) return undefined
    if (
      tail[0].words[0] !== variable ||
      tail[2].words[0] !== variable ||
      tail[2].words[1] !== tail[1].id
    )
      return undefined
    const start = this.block(before).code.findLast(
      ({ op, words }) => op === 62 && words[0] === variable
    )
    const ends = [start?.words[1] ?? 0, compare.words[1], tail[1].words[1]]
    if (!ends.every((id) => this.module.isConstant(id)) || this.module.known(ends[2]) !== 1)
      return undefined
    const size = this.sizeOf(branch.words[1], header, merge, next, variable)
    if (!size) return undefined
    const [from, to] = ends.map((id) => this.module.constant(id))
    return { local, from, to, inclusive, size }
  }

  /**
   * How much a loop's body does, or 0: it writes the counter, or leaves other than at its end.
   * @param {number} body
   * @param {number} header
   * @param {number} merge
   * @param {number} next
   * @param {number} variable
   */
  sizeOf(body, header, merge, next, variable) {
    const seen = new Set([header, merge, next])
    const todo = [body]
    let size = 1,
      ends = 0
    for (const id of todo) {
      if (seen.has(id)) continue
      seen.add(id)
      for (const instruction of this.block(id).code) {
        const { op, words } = instruction
        if (op === 62 || op === 57) size++
        if (op === 253 || op === 254) return 0
        if (op === 62 && words[0] === variable) return 0
        if (op === 57 && operandsOf(instruction).includes(variable)) return 0
        const targets = this.targets(instruction)
        if (op !== 246 && targets.includes(merge)) return 0
        if (op !== 246) ends += targets.filter((to) => to === next).length
        todo.push(...targets)
      }
    }
    return ends === 1 ? size : 0
  }

  /** Blocks that a branch leads to. @param {Instruction} instruction */
  targets({ op, words }) {
    if (op === 249) return words
    if (op === 250) return words.slice(1)
    if (op === 251) return [words[1], ...words.slice(2).filter((_, i) => i % 2 === 1)]
    return []
  }
}

/**
 * A function with its constants open.
 * @param {Module} module
 * @param {SpirvFunction} fn
 * @param {Map<number, number>} order
 * @returns {TemplateFunction}
 */
export function convertFunction(module, fn, order) {
  const control = new Control(module, fn, order)
  const body = control.region(fn.first, { end: 0, merge: 0, next: 0 })
  const returns = module.type(fn.returns).kind === 'void' ? null : module.typeText(fn.returns)
  return {
    params: fn.params.map(({ type }) => module.typeText(type)),
    returns,
    locals: control.code.locals,
    body
  }
}
