/** The demo model's files, which lie in the package: `runtime.loadModel(demoModel)`. */
export const demoModel: { weights: URL; config: URL; preprocessor: URL }
