/* The languages of the pages, and the addresses of a page: NAME.html, which is in English until
 * language.js knows better, and NAME.LANGUAGE.html. */
import { words as en } from '../pages/languages/en.js'
import { words as ja } from '../pages/languages/ja.js'
import { words as zh } from '../pages/languages/zh.js'

/** The texts of each language by their keys. @type {Record<string, Record<string, string>>} */
export const languages = { en, ja, zh }
/** @type {Record<string, string>} */
export const ownNames = { en: 'English', ja: '日本語', zh: '简体中文' }
/** '' is the address without a language. */
export const addresses = ['', ...Object.keys(languages)]

/** @param {string} page @param {string} address */
export const fileAt = (page, address) => (address ? `${page}.${address}.html` : `${page}.html`)
