/* Models as the modules take them and tell of them. */
/** @import {OpenFile} from '../types/library.js' */
/** @import {ModuleMemory} from './module_memory.js' */

/** @param {string[]} names */
export const namesOf = (names) =>
  new TextEncoder().encode(names.map((name) => `${name}\0`).join(''))

/**
 * Calls open(names, their size, sizes, sources, readers) with the lists of files in the module.
 * @param {ModuleMemory} module
 * @param {OpenFile[]} files
 * @param {(...list: number[]) => void} open
 */
export function lendFiles(module, files, open) {
  const names = namesOf(files.map(({ name }) => name)),
    words = (/** @type {(file: OpenFile) => number} */ of) => Uint32Array.from(files, of)
  module.lend(
    [
      names,
      Float64Array.from(files, ({ size }) => size),
      words(({ source }) => source),
      words(({ reader }) => reader)
    ],
    (namesAt, ...lists) => open(namesAt, names.length, ...lists)
  )
}

/**
 * What a model says of itself.
 * @param {ModuleMemory} module
 * @param {number} model
 * @param {boolean} [text] a text tower, which says more
 * @returns {any} ModelInfo without its note, and for texts more
 */
export function infoOf(module, model, text = false) {
  const { exports, web } = module,
    strings = (/** @type {number} */ length, /** @type {(i: number) => number} */ at) =>
      Array.from({ length }, (_, i) => module.string(at(i))),
    family = module.string(exports.model_info(web, model)),
    { rules, assumed, headsGuessed, eachClass, ...info } = module.out('model')
  if (text) exports.model_text(web, model)
  return {
    family,
    ...info,
    headsGuessed: !!headsGuessed,
    eachClass: !!eachClass,
    rules: module.string(rules),
    assumed: module.text(assumed),
    labels: strings(info.classes, (i) => exports.model_label(model, i)),
    tokenNames: strings(info.prefixTokens, (i) => exports.model_token(model, i)),
    ...(text && module.out('text'))
  }
}
