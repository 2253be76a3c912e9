/** Whether a file of this name may hold weights. */
export const isWeights = (name: string) => /.\.(safetensors|onnx|pth|pt|bin|ckpt)$/i.test(name)
