/* What pages say, in the language of the page: say('masks.clear'), say('masks.hiddenCount', {
 * count }). The texts stand in en.js, ja.js and zh.js beside this; only those of the page's language
 * are fetched. */
import type { words as English } from './en.js'

const texts: Record<string, () => Promise<{ words: Record<string, string> }>> = {
    en: () => import('./en.js'),
    ja: () => import('./ja.js'),
    zh: () => import('./zh.js')
  },
  { words } = await texts[globalThis.document?.documentElement.lang || 'en']()

/** @param values by the names in braces */
export const say = (key: keyof typeof English, values: Record<string, string | number> = {}) =>
  words[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]))
