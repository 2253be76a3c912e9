/**
 * Whether a file of this name may hold weights.
 * @param {string} name
 */
export const isWeights = (name) => /.\.(safetensors|onnx|pth|pt|bin|ckpt)$/i.test(name)
