/* Which of a model's files are its weights, by their names. */
import { rankOf } from './onnx_files.js'
import { isWeights } from './weights.js'

/**
 * Whether a file of this name holds weights in a format that is not read: the ends that
 * runtime/pickle/foreign.c has a sentence for.
 */
export const isOtherMakers = (name: string) =>
  /.\.(gguf|ggml|h5|keras|pb|tflite|index|data-00000-of-00001|msgpack|np[yz])$/i.test(name)

/* What training leaves beside weights, and the kinds of weights: the first that is there is read. */
const ofTraining = /^(optimizer|scheduler|rng_state|training_args|scaler)/,
  onnx = /\.onnx$/i,
  kinds = [
    /\.safetensors$/i,
    /^pytorch_model\.bin$/,
    /^pytorch_model-.*\.bin$/,
    /\.(pth|pt|bin|ckpt)$/i,
    onnx
  ]

/**
 * The files of a model as `heed run` chooses them from a folder: weights of one kind, and all that
 * are no weights. Of ONNX files one is the model, by its name. Of other makers' files the first alone, which the runtime refuses by name;
 * nothing where there are no weights at all.
 */
export function modelFiles<File extends { name: string }>(
  files: File[]
): { weights?: File; files: File[] } {
  const all = files.filter(({ name }) => isWeights(name) && !ofTraining.test(name)),
    kind = kinds.find((kind) => all.some(({ name }) => kind.test(name)))
  if (!kind) {
    const weights = files.find(({ name }) => isOtherMakers(name))
    return { weights, files: weights ? [weights] : [] }
  }
  const ofKind = all.filter(({ name }) => kind.test(name)),
    rank = Math.min(...ofKind.map(({ name }) => rankOf(name))),
    weights = kind === onnx ? ofKind.filter(({ name }) => rankOf(name) === rank) : ofKind
  return {
    weights: weights[0],
    files: [...files.filter(({ name }) => !isWeights(name)), ...weights]
  }
}
