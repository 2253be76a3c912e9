/* Numbers as they are written in the language of the page. Pages in a language that captions do not
 * have, and scripts without a page, get English ones. */

const language = /^(ja|zh)\b/.exec(globalThis.document?.documentElement.lang ?? '')?.[0] ?? 'en'
/** @type {Record<string, Intl.NumberFormat>} */
const formats = {}

/**
 * @param {number} value
 * @param {number} least digits after the point
 * @param {number} [most]
 */
export const fixed = (value, least, most = least) =>
  (formats[`${least} ${most}`] ??= new Intl.NumberFormat(language, {
    minimumFractionDigits: least,
    maximumFractionDigits: most
  })).format(value)
