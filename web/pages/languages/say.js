/* What pages say, in the language of the page: say('masks.clear'), say('masks.hiddenCount', {
 * count }). The texts stand in en.js, ja.js and zh.js beside this. In put-together scripts the
 * texts have taken the place of the calls (words.js), so this is for modules as they are written. */
/** @import {words as English} from './en.js' */

const language = globalThis.document?.documentElement.lang || 'en'
/** @type {{words: Record<string, string>}} */
const { words } = await import(`./${language}.js`)

/**
 * @param {keyof typeof English} key
 * @param {Record<string, string | number>} [values] by the names in braces
 */
export const say = (key, values = {}) =>
  words[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]))
