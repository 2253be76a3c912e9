/* What a page finds beside itself once the site is put together: the package as "heed". */
declare module '*/heed/index.js' {
  export * from 'heed'
}
declare module '*/heed/demo.js' {
  export * from 'heed/demo'
}
declare module '*/heed/element.js' {
  export * from 'heed/element'
}
declare module '*/heed/text.js' {
  export * from 'heed/text'
}
declare module '*/heed/error.js' {
  export { HeedError, said } from '../src/error.js'
}
declare module '*/heed/shards.js' {
  export const shardsOf: typeof import('../src/shards.js').shardsOf
}
declare module '*/heed/weights.js' {
  export function isWeights(name: string): boolean
}
declare module '*/heed/weight_files.js' {
  export { isOtherMakers, modelFiles } from '../src/weight_files.js'
}
declare module '*/heed/onnx_files.js' {
  export const names: string[]
  export function rankOf(name: string): number
}
declare module '*/heed/foreign.js' {
  export const readForeign: typeof import('../src/foreign.js').readForeign
}
declare module '*/heed/source.js' {
  export const isForeign: typeof import('../src/source.js').isForeign
}
declare module '*/heed/explain/index.js' {
  export * from 'heed/explain'
}
declare module '*/heed/explain/rows.js' {
  export * from 'heed/explain/rows'
}
declare module '*/heed/plot/index.js' {
  export * from 'heed/plot'
}
