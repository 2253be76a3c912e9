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
  export const HeedError: typeof import('../src/error.js').HeedError
  export type HeedError = import('../src/error.js').HeedError
  export const said: typeof import('../src/error.js').said
}
declare module '*/heed/shards.js' {
  export const shardsOf: typeof import('../src/shards.js').shardsOf
}
declare module '*/heed/weights.js' {
  export const isWeights: typeof import('../src/weights.js').isWeights
}
declare module '*/heed/hub.js' {
  export const hubAddress: typeof import('../src/hub.js').hubAddress
  export const isHubName: typeof import('../src/hub.js').isHubName
}
declare module '*/heed/weight_files.js' {
  export const isOtherMakers: typeof import('../src/weight_files.js').isOtherMakers
  export const modelFiles: typeof import('../src/weight_files.js').modelFiles
}
declare module '*/heed/onnx_files.js' {
  export const names: typeof import('../src/onnx_files.js').names
  export const rankOf: typeof import('../src/onnx_files.js').rankOf
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
