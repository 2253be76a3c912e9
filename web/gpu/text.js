/* Texts with open places, joined. */
/** @import { Part, Text } from './types.js' */

/**
 * @param {Text} text
 * @param {Part} part
 */
function add(text, part) {
  const last = text.at(-1)
  if (part === '') return
  if (typeof part === 'string' && typeof last === 'string') text[text.length - 1] = last + part
  else text.push(part)
}

/**
 * A text of strings and of other texts.
 * @param {TemplateStringsArray} strings
 * @param {...(Text | Part)} values
 * @returns {Text}
 */
export function t(strings, ...values) {
  const text = /** @type {Text} */ ([])
  strings.forEach((string, i) => {
    add(text, string)
    if (i >= values.length) return
    const value = values[i]
    for (const part of Array.isArray(value) ? value : [value]) add(text, part)
  })
  return text
}

/**
 * @param {Text[]} texts
 * @param {string} between
 * @returns {Text}
 */
export const join = (texts, between) =>
  texts.reduce(
    (all, text, i) => (i === 0 ? text : t`${all}${between}${text}`),
    /** @type {Text} */ ([])
  )
