/* What the page says where the browser has no SIMD. Loaded in such browsers alone. */

export const noSimd =
  'This browser has no SIMD in WebAssembly. The scalar module gives the same numbers but is several times slower. A newer browser is faster.'
