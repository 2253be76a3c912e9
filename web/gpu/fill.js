/* A template with its constants known: the text of a pipeline. Runs where pipelines are made; nothing
 * of it is evaluated as a program. */
import { evaluate, literal } from './fold.js'
/** @import { Known } from './fold.js' */
/** @import { Count, Filled, Global, Statement, Template, Text } from './types.js' */

/* Of values that a device gives, those that are no vec3<u32>. */
const scalars = new Set([
  'local_invocation_index',
  'subgroup_size',
  'num_subgroups',
  'subgroup_id',
  'subgroup_invocation_id'
])
/** @param {string} name */
const builtinType = (name) => (scalars.has(name) ? 'u32' : 'vec3<u32>')
const mostUnrolled = 64

/** A function that is written: its text and what it takes of the device. @typedef {{ text: string, builtins: string[] }} Written */

class Filler {
  /** @type {Map<number, Written>} */
  functions = new Map()
  /** @type {Set<number>} */
  globals = new Set()
  /** @type {Set<string>} */
  features = new Set()
  params = false
  bits = false
  /** Of the function at hand. @type {Set<number>} */
  #locals = new Set()
  /** @type {Set<string>} */
  #builtins = new Set()
  /** Counters of the unrolled loops at hand. @type {Map<number, string>} */
  #counters = new Map()

  /**
   * @param {Template} template
   * @param {Known[]} values of its constants
   * @param {number} unroll
   * @param {Record<number, number>} shared
   */
  constructor(template, values, unroll, shared) {
    this.template = template
    this.values = values
    this.unroll = unroll
    this.shared = shared
  }

  /** @param {Text} parts @returns {string} */
  text(parts) {
    let text = ''
    for (const part of parts) {
      if (typeof part === 'string') text += part
      else if ('constant' in part)
        text += literal(this.template.constants[part.constant].type, this.values[part.constant])
      else if ('when' in part) text += this.text(this.values[part.when] ? part.yes : part.no)
      else if ('local' in part) text += this.#local(part.local)
      else if ('global' in part) text += this.#global(part.global)
      else if ('builtin' in part) text += this.#builtin(part.builtin)
      else if ('params' in part) text += this.#params()
      else if ('call' in part) text += this.#call(part.call, part.args)
      else this.features.add(part.enable)
    }
    if (text.includes('bits(')) this.bits = true
    return text
  }

  /** @param {number} local */
  #local(local) {
    const counter = this.#counters.get(local)
    if (counter !== undefined) return counter
    this.#locals.add(local)
    return `l${local}`
  }

  /** @param {number} global */
  #global(global) {
    const own = this.#written(global) ?? global
    this.globals.add(own)
    return `g${own}`
  }

  /** The variable that writes the range which a buffer reads, if it is one. @param {number} global */
  #written(global) {
    const buffer = this.template.globals[global]
    if ('space' in buffer || buffer.writes || this.shared[buffer.slot] === undefined)
      return undefined
    const type = this.text(buffer.type),
      found = this.template.globals.findIndex(
        (other) =>
          'slot' in other &&
          other.writes &&
          other.slot === this.shared[buffer.slot] &&
          this.text(other.type) === type
      )
    return found < 0 ? undefined : found
  }

  /** @param {string} name */
  #builtin(name) {
    this.#builtins.add(name)
    return `b_${name}`
  }

  #params() {
    this.params = true
    return 'params'
  }

  /**
   * What the device gives is handed from function to function: read from a private variable it would
   * not count as the same for all of a workgroup.
   * @param {number} callee
   * @param {Text[]} args
   */
  #call(callee, args) {
    const given = args.map((arg) => this.text(arg))
    const { builtins } = this.write(callee)
    return `f_${callee}(${[...builtins.map((name) => this.#builtin(name)), ...given].join(',')})`
  }

  /**
   * Statements, as far as they are reached; whether they end before what follows.
   * @param {Statement[]} statements
   * @param {string[]} lines
   * @returns {boolean}
   */
  statements(statements, lines) {
    for (const statement of statements) if (this.#statement(statement, lines)) return true
    return false
  }

  /** @param {Statement} statement @param {string[]} lines */
  #statement(statement, lines) {
    if (Array.isArray(statement)) {
      lines.push(`${this.text(statement)};`)
      return false
    }
    if ('when' in statement)
      return this.statements(this.values[statement.when] ? statement.yes : statement.no, lines)
    if ('end' in statement) {
      lines.push(`${statement.end}${statement.value ? ` ${this.text(statement.value)}` : ''};`)
      return true
    }
    if ('if' in statement) return this.#if(statement.if, statement.yes, statement.no, lines)
    if ('select' in statement) return this.#switch(statement, lines)
    return this.#loop(statement, lines)
  }

  /** @param {Text} condition @param {Statement[]} yes @param {Statement[]} no @param {string[]} lines */
  #if(condition, yes, no, lines) {
    const text = this.text(condition),
      known = /^\(*(true|false)\)*$/.exec(text)
    if (known) return this.statements(known[1] === 'true' ? yes : no, lines)
    const [first, second] = [/** @type {string[]} */ ([]), /** @type {string[]} */ ([])]
    const ends = [this.statements(yes, first), this.statements(no, second)]
    if (first.length === 0 && second.length === 0) return false
    if (first.length === 0) lines.push(`if(!(${text})){`, ...second, '}')
    else if (second.length === 0) lines.push(`if(${text}){`, ...first, '}')
    else lines.push(`if(${text}){`, ...first, '}else{', ...second, '}')
    return ends[0] && ends[1]
  }

  /** @param {{ select: Text, cases: { values: string[], body: Statement[] }[], other: Statement[] }} statement @param {string[]} lines */
  #switch({ select, cases, other }, lines) {
    lines.push(`switch(${this.text(select)}){`)
    for (const { values, body } of cases) {
      lines.push(`case ${values.join(',')}:{`)
      this.statements(body, lines)
      lines.push('}')
    }
    lines.push('default:{')
    this.statements(other, lines)
    lines.push('}}')
    return false
  }

  /** @param {{ loop: Statement[], tail: Statement[], count?: Count }} statement @param {string[]} lines */
  #loop({ loop, tail, count }, lines) {
    if (count && this.#unrolls(count)) return this.#repeat(count, lines)
    lines.push('loop{')
    this.statements(loop, lines)
    /** @type {string[]} */
    const last = []
    this.statements(tail, last)
    lines.push(...(last.length ? ['continuing{', ...last, '}'] : []), '}')
    return false
  }

  /** @param {Count} count @returns {[number, number]} */
  #ends({ from, to, inclusive }) {
    return [Number(this.values[from]), Number(this.values[to]) + Number(inclusive)]
  }

  /** @param {Count} count */
  #unrolls(count) {
    const [from, to] = this.#ends(count)
    return to - from <= mostUnrolled && (to - from) * count.size <= this.unroll
  }

  /** @param {Count} count @param {string[]} lines */
  #repeat(count, lines) {
    const [from, to] = this.#ends(count),
      { type } = this.template.constants[count.from]
    for (let i = from; i < to; i++) {
      this.#counters.set(count.local, literal(type, i))
      lines.push('{')
      this.statements(count.body, lines)
      lines.push('}')
    }
    this.#counters.delete(count.local)
    return false
  }

  /** The text of a function and of those it calls. @param {number} number @returns {Written} */
  write(number) {
    const written = this.functions.get(number)
    if (written) return written
    const outer = /** @type {const} */ ([this.#locals, this.#builtins, this.#counters])
    this.#locals = new Set()
    this.#builtins = new Set()
    this.#counters = new Map()
    const { params, returns, locals, body } = this.template.functions[number],
      entry = number === this.template.entry,
      /** @type {string[]} */ lines = []
    this.statements(body, lines)
    const declared = [...this.#locals]
        .sort((a, b) => a - b)
        .map((i) => `var l${i}:${this.text(locals[i])};`),
      builtins = [...this.#builtins].sort(),
      takes = builtins.map(
        (name) => `${entry ? `@builtin(${name}) ` : ''}b_${name}:${builtinType(name)}`
      )
    takes.push(...params.map((type, i) => `p${i}:${this.text(type)}`))
    const head = entry
      ? `@compute @workgroup_size(${this.values[this.template.width]})\nfn main`
      : `fn f_${number}`
    const result = returns ? `->${this.text(returns)}` : ''
    const text = [`${head}(${takes.join(',')})${result}{`, ...declared, ...lines, '}'].join('\n')
    ;[this.#locals, this.#builtins, this.#counters] = outer
    const all = { text, builtins }
    this.functions.set(number, all)
    return all
  }

  /** Declarations of the variables that are in use, and the buffers among them. */
  declare() {
    /** @type {Filled['buffers']} */
    const buffers = []
    /** @type {string[]} */
    const lines = []
    for (const number of [...this.globals].sort((a, b) => a - b)) {
      const global = /** @type {Global} */ (this.template.globals[number]),
        type = this.text(global.type)
      if ('space' in global) lines.push(`var<${global.space}> g${number}:${type};`)
      else {
        const access = global.writes ? 'read_write' : 'read'
        lines.push(
          `@group(0) @binding(${buffers.length}) var<storage,${access}> g${number}:${type};`
        )
        buffers.push({ slot: global.slot, writes: global.writes })
      }
    }
    if (this.params) lines.push('@group(1) @binding(0) var<uniform> params:array<vec4<u32>,8>;')
    if (this.bits) lines.push('fn bits(x:u32)->f32{return bitcast<f32>(x);}')
    return { lines, buffers }
  }
}

/**
 * The text of a pipeline.
 * @param {Template} template
 * @param {ArrayLike<number | boolean | undefined>} constants by their numbers; undefined: as the module has it
 * @param {{ unroll?: number, shared?: Record<number, number> }} [options] unroll: loops over constants
 *   are written out up to so many assignments, 0: none; shared: slots that read the very range that
 *   another slot writes, as {slot: slot that writes}. Each is one variable, where the types are alike
 * @returns {Filled}
 */
export function fill(template, constants, { unroll = 0, shared = {} } = {}) {
  const filler = new Filler(template, evaluate(template.constants, constants), unroll, shared)
  const { builtins } = filler.write(template.entry)
  const { lines, buffers } = filler.declare()
  if (builtins.some((name) => name.includes('subgroup'))) filler.features.add('subgroups')
  const features = [...filler.features],
    enables = features.map((feature) => `enable ${feature};`)
  if (builtins.some((name) => name === 'subgroup_id' || name === 'num_subgroups'))
    enables.push('requires subgroup_id;')
  const texts = [...filler.functions.values()].map(({ text }) => text)
  return {
    code: [...enables, ...lines, ...texts, ''].join('\n'),
    buffers,
    params: filler.params,
    features
  }
}
