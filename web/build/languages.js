/* The languages of the pages, and the addresses of a page: NAME.html, which is in English until
 * language.ts knows better, and NAME.LANGUAGE.html. */
import { readFileSync } from 'node:fs'
import { source } from './package.js'

/** By what `lang` calls them, each with its own name. @type {Record<string, string>} */
export const ownNames = { en: 'English', ja: '日本語', zh: '简体中文' }
/** The texts of each language by their keys. @type {Record<string, Record<string, string>>} */
export const languages = Object.fromEntries(
  Object.keys(ownNames).map((language) => [
    language,
    JSON.parse(readFileSync(source(`pages/languages/${language}.json`), 'utf8'))
  ])
)
/** '' is the address without a language. */
export const addresses = ['', ...Object.keys(languages)]

/** @param {string} page @param {string} address */
export const fileAt = (page, address) => (address ? `${page}.${address}.html` : `${page}.html`)
