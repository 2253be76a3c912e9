/* What onnxruntime makes of the graphs that make_fused.py wrote, node by node as they stand:
 * NAME.onnxruntime.safetensors.
 *
 *   npm install onnxruntime-node@1.30.0     (in a folder of its own)
 *   node make_fused.mjs MODULES             (MODULES: that folder) */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readFile, writeFile } from '../../../support/onnx_wire.mjs'

const ort = createRequire(pathToFileURL(join(process.argv[2], 'x.js')))('onnxruntime-node')
const kinds = {
  F32: ['float32', Float32Array],
  I64: ['int64', BigInt64Array],
  I32: ['int32', Int32Array],
  U8: ['uint8', Uint8Array]
}

for (const name of ['fused', 'dynamic']) {
  const at = (ending) => join(import.meta.dirname, `${name}.${ending}`)
  const session = await ort.InferenceSession.create(at('onnx'), {
    graphOptimizationLevel: 'disabled',
    logSeverityLevel: 3
  })
  const feeds = Object.fromEntries(
    Object.entries(readFile(at('safetensors'))).map(([key, { dtype, shape, bytes }]) => {
      const [type, List] = kinds[dtype]
      return [key, new ort.Tensor(type, new List(bytes.buffer), shape)]
    })
  )
  const made = Object.entries(await session.run(feeds)).map(([key, { data, dims }]) => {
    const bytes = new Uint8Array(Float32Array.from(data).buffer)
    return [key, { dtype: 'F32', shape: dims, bytes }]
  })
  writeFile(at('onnxruntime.safetensors'), Object.fromEntries(made))
}
