/* Numbers as they are written in the language of the page. Pages in a language that captions do not
 * have, and scripts without a page, get English ones. */

const { lang = '' } = globalThis.document?.documentElement ?? {},
  language = /^(ja|zh)\b/.test(lang) ? lang.slice(0, 2) : 'en'
/** Each is made once: that takes longer than a number. @type {Record<string, Intl.NumberFormat>} */
const formats = {}

/**
 * @param {number} value
 * @param {'FractionDigits' | 'SignificantDigits'} what
 * @param {number} least
 * @param {number} most
 */
const number = (value, what, least, most) =>
  (formats[what + least + most] ??= new Intl.NumberFormat(language, {
    [`minimum${what}`]: least,
    [`maximum${what}`]: most
  })).format(value + 0) // no "-0"

/**
 * @param {number} value
 * @param {number} digits after the point
 * @param {number} [most] where there may be more of them
 */
export const fixed = (value, digits, most = digits) => number(value, 'FractionDigits', digits, most)

/**
 * With so many digits in all; a power of ten where it is very small.
 * @param {number} value
 * @param {number} digits
 */
export const significant = (value, digits) =>
  value && Math.abs(value) < 1e-6
    ? value.toPrecision(digits)
    : number(value, 'SignificantDigits', digits, digits)

/** After a number: Japanese and Chinese have no space there, where a line might end. */
export const percentSign = language === 'en' ? ' %' : '%'
