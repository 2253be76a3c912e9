/* What a page finds beside itself once the site is put together: the package as "heed". */
declare module '*/heed/index.js' {
  export * from 'heed'
}
declare module '*/heed/demo.js' {
  export * from 'heed/demo'
}
declare module '*/heed/text.js' {
  export * from 'heed/text'
}
declare module '*/heed/shards.js' {
  export const indexName: string
  export function isWeights(name: string): boolean
  export function shardsOf(size: number, read: () => Uint8Array, name?: string): string[]
}
declare module '*/heed/module.js' {
  export const address: typeof import('../src/module.js').address
  export const startSmall: typeof import('../src/module.js').startSmall
}
declare module '*/heed/module_memory.js' {
  export { ModuleMemory } from '../src/module_memory.js'
}
declare module '*/heed/pickle.js' {
  export const readPickles: typeof import('../src/pickle.js').readPickles
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
