/* Occlusion of an ONNX graph, whose own session runs again: squares, mean colour and order are those of
 * runtime/explain/methods/occlusion.c, which runs weights. */
import { cancelled, HeedError, said } from './error.js'
import { pause } from './host.js'
import type { CallContext, GraphRuns, Methods } from '../types/library.js'
import type { Explanation } from 'heed'

const usualSquare = 2

function classOf(
  target: Methods['explain']['args']['target'],
  { logits, labels }: { logits: Float32Array; labels: string[] }
) {
  const found = typeof target === 'string' ? labels.indexOf(target) : target
  if (found === undefined) return logits.indexOf(Math.max(...logits))
  if (typeof found === 'number' && found >= 0 && found < logits.length) return found
  throw new HeedError(
    'INVALID_ARGUMENT',
    `explain: unknown target of an ONNX graph (found ${said(target)}, expected a class below ${logits.length} or its label)`
  )
}

function probabilityOf(logits: Float32Array, target: number, eachClass: boolean) {
  if (eachClass) return 1 / (1 + Math.exp(-logits[target]))
  return 1 / logits.reduce((sum, logit) => sum + Math.exp(logit - logits[target]), 0)
}

/** Mean of each channel of an image. */
const meansOf = (image: Float32Array, plane: number) =>
  Array.from({ length: image.length / plane }, (_, channel) => {
    let sum = 0
    for (let i = channel * plane; i < (channel + 1) * plane; i++) sum += image[i]
    return sum / plane
  })

/** The session has its last run again at the end. */
export async function occlude(
  { target, batch = 0, square = usualSquare }: Methods['explain']['args'],
  { pixels, info, model, run }: GraphRuns,
  context: CallContext
): Promise<Explanation> {
  const { rows, columns, height, width } = info,
    { patch, labels, eachClass } = model,
    count = pixels.length / info.batch,
    image = pixels.subarray(batch * count, (batch + 1) * count),
    means = meansOf(image, height * width),
    logitsOf = async (values: Float32Array) => {
      const all = await run(values)
      if (!all)
        throw new HeedError(
          'UNSUPPORTED',
          'explain: occlusion is of class logits (found none, expected a classifier)'
        )
      return all.subarray(
        (batch * all.length) / info.batch,
        ((batch + 1) * all.length) / info.batch
      )
    },
    whole = await logitsOf(pixels),
    at = classOf(target, { logits: whole, labels }),
    scores = new Float32Array(rows * columns),
    probabilities = new Float32Array(rows * columns),
    total = Math.ceil(rows / square) * Math.ceil(columns / square)
  let done = 0
  try {
    for (let row = 0; row < rows; row += square)
      for (let column = 0; column < columns; column += square) {
        if (context.cancelled()) throw cancelled('explain')
        const values = pixels.slice(),
          [down, across] = [Math.min(rows, row + square), Math.min(columns, column + square)]
        for (const [channel, mean] of means.entries())
          for (let y = row * patch; y < down * patch; y++) {
            const first = batch * count + (channel * height + y) * width
            values.fill(mean, first + column * patch, first + across * patch)
          }
        const logits = await logitsOf(values)
        for (let y = row; y < down; y++)
          for (let x = column; x < across; x++) {
            scores[y * columns + x] = logits[at]
            probabilities[y * columns + x] = probabilityOf(logits, at, eachClass)
          }
        context.progress({ phase: 'run', done: ++done, total })
        if (context.watched) await pause()
      }
  } finally {
    await run(pixels)
  }
  return {
    score: { shape: [], data: Float32Array.of(whole[at]) },
    occlusion: { shape: [rows * columns], data: scores },
    'occlusion.probability': { shape: [rows * columns], data: probabilities }
  }
}
