/** Addresses of the demo model's files in the package, for `runtime.loadModel(demoModel)`. */
export const demoModel: { weights: URL; config: URL; preprocessor: URL }
