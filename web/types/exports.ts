/* What the package says that it exports is what its scripts export: tsc compares them. */
type Fits<Said, Exported extends Said> = [Said, Exported]

export type Exports = [
  Fits<typeof import('heed'), typeof import('../src/index.js')>,
  Fits<typeof import('heed/demo'), typeof import('../src/demo.js')>,
  Fits<typeof import('heed/look'), typeof import('../src/look.js')>,
  Fits<typeof import('heed/element'), typeof import('../src/element.js')>,
  Fits<typeof import('heed/react'), typeof import('../src/react.js')>,
  Fits<typeof import('heed/svelte'), typeof import('../src/svelte.js')>,
  Fits<typeof import('heed/vue'), typeof import('../src/vue.js')>,
  Fits<typeof import('heed/text'), typeof import('../src/text.js')>,
  Fits<typeof import('heed/tokenizer'), typeof import('../src/tokenizer.js')>,
  Fits<typeof import('heed/explain'), typeof import('../src/explain/index.js')>,
  Fits<typeof import('heed/plot'), typeof import('../plot/index.js')>
]
