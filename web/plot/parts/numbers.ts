/* Numbers as they are written in the language of the page. Pages in a language that captions do not
 * have, and scripts without a page, get English ones. */

const { lang = '' } = globalThis.document?.documentElement ?? {},
  language = /^(ja|zh)\b/.test(lang) ? lang.slice(0, 2) : 'en'
/** Each is made once: that takes longer than a number. */
const formats: Record<string, Intl.NumberFormat> = {}

const number = (
  value: number,
  what: 'FractionDigits' | 'SignificantDigits',
  least: number,
  most: number
) =>
  (formats[what + least + most] ??= new Intl.NumberFormat(language, {
    [`minimum${what}`]: least,
    [`maximum${what}`]: most
  })).format(value + 0) // no "-0"

/**
 * @param digits after the point
 * @param most where there may be more of them
 */
export const fixed = (value: number, digits: number, most: number = digits) =>
  number(value, 'FractionDigits', digits, most)

/** With so many digits in all; a power of ten where it is very small. */
export const significant = (value: number, digits: number) =>
  value && Math.abs(value) < 1e-6
    ? value.toPrecision(digits)
    : number(value, 'SignificantDigits', digits, digits)

/** After a number: Japanese and Chinese have no space there, where a line might end. */
export const percentSign = language === 'en' ? ' %' : '%'
