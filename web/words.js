/* The texts of a language in the places that ask for them: say('key', { name: value }) of a script
 * becomes a template, {{key}} of a page its text. A key or a value that is not there is an error. */
import { words as en } from './pages/languages/en.js'
import { words as ja } from './pages/languages/ja.js'
import { words as zh } from './pages/languages/zh.js'

/** @typedef {Record<string, string>} Words */
/** The languages by what `lang` calls them. @type {Record<string, Words>} */
export const languages = { en, ja, zh }

/**
 * @param {Words} words
 * @param {string} key
 */
function textOf(words, key) {
  if (!Object.hasOwn(words, key)) throw new Error(`${key}: no language has it`)
  return words[key]
}

/** The names in braces of a text. @param {string} text */
export const namesIn = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

const closes = /** @type {Record<string, string>} */ ({ '(': ')', '[': ']', '{': '}', '${': '}' })

/**
 * The places of the commas of a bracket's inside, and of its end. `from` is behind the bracket.
 * @param {string} text
 * @param {number} from
 * @param {string} close
 */
export function walk(text, from, close) {
  const commas = [],
    open = [close],
    token = /\$\{|\\.|['"`([{)\]},]/gs
  token.lastIndex = from
  for (let found; (found = token.exec(text)); ) {
    const [sign] = found,
      top = /** @type {string} */ (open.at(-1)),
      quoted = /['"`]/.test(top)
    if (sign === top) {
      open.pop()
      if (!open.length) return { commas, end: found.index }
    } else if (quoted ? top === '`' && sign === '${' : sign in closes) open.push(closes[sign])
    else if (!quoted && /['"`]/.test(sign)) open.push(sign)
    else if (sign === ',' && open.length === 1) commas.push(found.index)
  }
  throw new Error(`${text.slice(from, from + 40)}: its bracket has no end`)
}

/**
 * The values that a call names: Map { 'count' => 'list.length' }.
 * @param {string} text from the object's bracket
 * @param {Words} words
 */
function valuesOf(text, words) {
  const { commas, end } = walk(text, 1, '}'),
    values = /** @type {Map<string, string>} */ (new Map())
  for (const [i, to] of [...commas, end].entries()) {
    const [, name, value = name] = /** @type {RegExpExecArray} */ (
      /^\s*(\w+)(?:\s*:\s*([^]*))?$/.exec(text.slice((i ? commas[i - 1] : 0) + 1, to).trimEnd())
    )
    values.set(name, withTexts(value, words))
  }
  return values
}

const asks = /^import \{ say \} from '.*\n/m

/**
 * A script with its texts in it; one that has another say() of its own is as it was.
 * @param {string} text
 * @param {Words} words
 */
export const inScript = (text, words) =>
  asks.test(text) ? withTexts(text.replace(asks, ''), words) : text

/**
 * @param {string} text
 * @param {Words} words
 */
function withTexts(text, words) {
  let out = '',
    at = 0
  for (const { 0: call, 1: key, index } of text.matchAll(/\bsay\(\s*'([\w.]+)'/g)) {
    if (index < at) continue // in a value of the call before
    const behind = index + call.length,
      { end } = walk(text, index + 4, ')'),
      object = text.indexOf('{', behind),
      values = object >= 0 && object < end ? valuesOf(text.slice(object), words) : new Map()
    const parts = textOf(words, key).split(/\{(\w+)\}/),
      written = parts.map((part, i) => {
        if (i % 2 === 0) return part.replace(/[\\`]|\$(?=\{)/g, '\\$&')
        if (!values.has(part)) throw new Error(`${key}: {${part}} has no value`)
        return `\${${values.get(part)}}`
      })
    out += `${text.slice(at, index)}\`${written.join('')}\``
    at = end + 1
  }
  return out + text.slice(at)
}

/**
 * @param {string} text
 * @param {Words} words
 */
export const inPage = (text, words) =>
  text.replace(/\{\{([\w.]+)\}\}/g, (_, key) => textOf(words, key))

/** A page's addresses: '' is the one without a language, in English until language.js knows better. */
export const addresses = ['', ...Object.keys(languages)]

/** @param {string} address */
export const languageAt = (address) => address || 'en'

/** The name of a page at an address. @param {string} page @param {string} address */
export const pageIn = (page, address) =>
  address ? page.replace('.html', `.${address}.html`) : page
