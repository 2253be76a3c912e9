/* Arithmetic on constants, as SPIR-V has it, and their literals in WGSL. */
import { refuse } from './spirv.js'
/** @import { Constant, Scalar } from './types.js' */

/** @typedef {number | boolean} Known */

/**
 * A result in 32 bits.
 * @param {Scalar} type
 * @param {number} x
 */
const wrap = (type, x) => (type === 'i32' ? x | 0 : x >>> 0)

/** @type {Record<number, (a: number, b: number) => number>} */
const whole = {
  128: (a, b) => a + b,
  130: (a, b) => a - b,
  132: (a, b) => Math.imul(a, b),
  134: (a, b) => Math.floor((a >>> 0) / (b >>> 0)),
  135: (a, b) => Math.trunc(a / b),
  137: (a, b) => (a >>> 0) % (b >>> 0),
  139: (a, b) => a % b,
  194: (a, b) => a >>> b,
  195: (a, b) => a >> b,
  196: (a, b) => a << b,
  197: (a, b) => a | b,
  198: (a, b) => a ^ b,
  199: (a, b) => a & b
}
/** @type {Record<number, (a: Known, b: Known) => boolean>} */
const compared = {
  164: (a, b) => a === b,
  165: (a, b) => a !== b,
  166: (a, b) => Boolean(a || b),
  167: (a, b) => Boolean(a && b),
  170: (a, b) => a === b,
  171: (a, b) => a !== b,
  172: (a, b) => a > b,
  173: (a, b) => a > b,
  174: (a, b) => a >= b,
  175: (a, b) => a >= b,
  176: (a, b) => a < b,
  177: (a, b) => a < b,
  178: (a, b) => a <= b,
  179: (a, b) => a <= b
}
const divisions = new Set([134, 135, 137, 139])

/** Whether `fold` knows the operation. @param {number} op */
export const canFold = (op) =>
  op in whole || op in compared || op === 124 || op === 168 || op === 169 || op === 126

/**
 * The result of an operation of SPIR-V.
 * @param {number} op
 * @param {Scalar} type of the result
 * @param {Known[]} of
 * @returns {Known}
 */
export function fold(op, type, of) {
  if (op === 168) return !of[0]
  if (op === 169) return of[0] ? of[1] : of[2]
  if (op === 124) return wrap(type, Number(of[0]))
  if (op === 126) return wrap(type, -Number(of[0]))
  if (op in compared) return compared[op](of[0], of[1])
  const [a, b] = of.map(Number)
  if (divisions.has(op) && b === 0) return 0 // in code that these constants leave out
  return wrap(type, whole[op](a, b))
}

/**
 * The values of a template's constants.
 * @param {Constant[]} constants
 * @param {ArrayLike<number | boolean | undefined>} given by their numbers; undefined: as the module has it
 * @returns {Known[]}
 */
export function evaluate(constants, given) {
  const values = /** @type {Known[]} */ ([])
  for (const constant of constants) {
    if ('op' in constant) {
      const of = constant.of.map((i) => values[i])
      values.push(fold(constant.op, constant.type, of))
    } else {
      const value = ('spec' in constant ? given[constant.spec] : undefined) ?? constant.value
      if (constant.type === 'bool') values.push(Boolean(value))
      else values.push(constant.type === 'f32' ? Number(value) : wrap(constant.type, Number(value)))
    }
  }
  return values
}

const largest = 3.4028234663852886e38

/* WGSL refuses a decimal past the largest float, which eight digits of that float are. */
/** @param {number} value */
function shortest(value) {
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value && Math.abs(short) <= largest) return String(short)
  }
  return String(value)
}

const bitsOf = (/** @type {number} */ value) => new Uint32Array(new Float32Array([value]).buffer)[0]

/** A float by its bits: a literal is no NaN, no Inf and no zero with a sign. @param {number} bits */
export const floatOfBits = (bits) => new Float32Array(new Uint32Array([bits]).buffer)[0]

/**
 * @param {Scalar} type
 * @param {Known} value
 */
export function literal(type, value) {
  if (type === 'bool') return String(value)
  const number = Number(value)
  if (type === 'u32') return `${number >>> 0}u`
  if (type === 'i32') {
    if (number === -0x80000000) return '(-2147483647i-1i)'
    return number < 0 ? `(${number}i)` : `${number}i`
  }
  if (type !== 'f32') refuse(`literal of type ${type}`)
  if (!Number.isFinite(number) || Object.is(number, -0)) return `bits(${bitsOf(number)}u)`
  const text = shortest(Math.fround(number))
  return number < 0 ? `(${text}f)` : `${text}f`
}
