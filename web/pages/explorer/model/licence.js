/* The licence of a model: in the front matter of its card (README.md, YAML between two lines of ---)
 * or in config.json. Loaded with the first model of one's own. */
import { filesOf } from './weight_hashes.js'
/** @import {PageSource} from '../../../types/pages.js' */

/**
 * A YAML scalar without its quotes, at most 80 characters.
 * @param {string} text
 */
const unquoted = (text) =>
  text
    .trim()
    .replace(/^(['"])(.*)\1$/, '$2')
    .slice(0, 80)

/**
 * The licence in a model card's front matter (YAML between lines of ---), null where it names
 * none.
 * @param {string} text
 */
export function licenceOfCard(text) {
  const [, front] = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---/.exec(text) ?? []
  /** @param {string} key */
  const one = (key) => {
    const [, value] = new RegExp(`^${key}:[ \\t]*([^\\s#].*)$`, 'm').exec(front ?? '') ?? []
    return value && unquoted(value)
  }
  const [, list] = /^license:[ \t]*\r?\n((?:[ \t]*-[ \t]*.+(?:\r?\n|$))+)/m.exec(front ?? '') ?? []
  const named = list
    ? list
        .trim()
        .split(/\r?\n/)
        .map((line) => unquoted(line.trim().slice(1)))
        .join(', ')
    : one('license')
  return (named === 'other' && one('license_name')) || named || null
}

/**
 * @param {[name: string, file: Blob][]} files
 * @param {(name: string) => Promise<string>} text
 */
async function licenceOf(files, text) {
  const card = licenceOfCard(await text('README.md'))
  if (card) return card
  try {
    const { license } = JSON.parse(await text('config.json'))
    if (typeof license === 'string' && license) return unquoted(license)
  } catch {
    /* the runtime said what is wrong with it */
  }
  return files.some(([name]) => /^LICEN[CS]E(\.\w+)?$/i.test(name))
    ? 'as its LICENSE file says'
    : 'not stated in the files'
}

/**
 * The licence in words.
 * @param {PageSource} source
 */
export function readLicence(source) {
  const files = filesOf(source)
  return licenceOf(
    files,
    async (name) => (await files.find(([found]) => found === name)?.[1].text()) ?? ''
  )
}
