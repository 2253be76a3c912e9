/* What pages say, in the language of the page: say('masks.clear'), say('changes.dropped', { count }).
 * en.json, ja.json and zh.json have the texts, of which only the page's language is fetched. A text
 * that depends on `count` stands once for each of the language's plural rules: changes.dropped_one,
 * changes.dropped_other. */
import type english from './en.json'

type Texts = Record<string, string>
type WithoutRule<Key> = Key extends `${infer Base}_${Intl.LDMLPluralRule}` ? Base : Key
export type TextKey = WithoutRule<keyof typeof english>

const language = globalThis.document?.documentElement.lang || 'en',
  texts: Record<string, () => Promise<Texts>> = {
    en: async () => (await import('./en.json', { with: { type: 'json' } })).default,
    ja: async () => (await import('./ja.json', { with: { type: 'json' } })).default,
    zh: async () => (await import('./zh.json', { with: { type: 'json' } })).default
  },
  words = await texts[language](),
  rules = new Intl.PluralRules(language)

/** @param values by the names in braces */
export function say(key: TextKey, values: Record<string, string | number> = {}) {
  const text = words[key] ?? words[`${key}_${rules.select(Number(values.count))}`]
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]))
}
