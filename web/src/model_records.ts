/* Models as the modules take them and tell of them. */
import type { OpenFile } from '../types/library.js'
import type { ModelInfo } from 'heed'
import type { ModuleMemory } from './module_memory.js'

export const namesOf = (names: string[]) =>
  new TextEncoder().encode(names.map((name) => `${name}\0`).join(''))

/** Calls open(names, their size, sizes, sources, readers) with the lists of files in the module. */
export function lendFiles(
  module: ModuleMemory,
  files: OpenFile[],
  open: (...list: number[]) => void
) {
  const names = namesOf(files.map(({ name }) => name)),
    words = (of: (file: OpenFile) => number) => Uint32Array.from(files, of)
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
 * @param text a text tower, which says more
 */
export function infoOf(module: ModuleMemory, model: number, text = false): Omit<ModelInfo, 'note'> {
  const { exports, web } = module,
    strings = (length: number, at: (i: number) => number) =>
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
