/* SPIR-V's operations by their numbers, in WGSL's words. */
/** @import { Scalar } from './types.js' */

/* Operators: the sign, and the type that both sides have. */
/** @type {Record<number, [string, Scalar | '']>} */
export const operators = {
  128: ['+', ''],
  129: ['+', ''],
  130: ['-', ''],
  131: ['-', ''],
  132: ['*', ''],
  133: ['*', ''],
  134: ['/', 'u32'],
  135: ['/', 'i32'],
  136: ['/', ''],
  137: ['%', 'u32'],
  139: ['%', 'i32'],
  142: ['*', ''],
  194: ['>>', 'u32'],
  195: ['>>', 'i32'],
  196: ['<<', ''],
  197: ['|', ''],
  198: ['^', ''],
  199: ['&', '']
}
/** @type {Record<number, [string, Scalar | '']>} */
export const comparisons = {
  164: ['==', ''],
  165: ['!=', ''],
  166: ['||', ''],
  167: ['&&', ''],
  170: ['==', ''],
  171: ['!=', ''],
  172: ['>', 'u32'],
  173: ['>', 'i32'],
  174: ['>=', 'u32'],
  175: ['>=', 'i32'],
  176: ['<', 'u32'],
  177: ['<', 'i32'],
  178: ['<=', 'u32'],
  179: ['<=', 'i32'],
  180: ['==', ''],
  182: ['!=', ''],
  183: ['!=', ''],
  184: ['<', ''],
  186: ['>', ''],
  188: ['<=', ''],
  190: ['>=', '']
}
export const signs = /** @type {Record<number, string>} */ ({
  126: '-',
  127: '-',
  168: '!',
  200: '~'
})
/** Functions of GLSL: WGSL's name, and the type of what they take. @type {Record<number, [string, Scalar | '']>} */
export const functions = {
  2: ['round', ''],
  3: ['trunc', ''],
  4: ['abs', ''],
  5: ['abs', 'i32'],
  6: ['sign', ''],
  8: ['floor', ''],
  9: ['ceil', ''],
  29: ['exp2', ''],
  31: ['sqrt', ''],
  32: ['inverseSqrt', ''],
  37: ['min', ''],
  38: ['min', 'u32'],
  39: ['min', 'i32'],
  40: ['max', ''],
  41: ['max', 'u32'],
  42: ['max', 'i32'],
  43: ['clamp', ''],
  44: ['clamp', 'u32'],
  45: ['clamp', 'i32'],
  50: ['fma', ''],
  58: ['pack2x16float', 'f32'],
  62: ['unpack2x16float', 'u32']
}
