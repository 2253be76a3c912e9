/* Ops to measure, as cases of `heed check` without an expectation, so that what is timed is the op
 * and the copies around it. */
import { say } from '../languages/say.js'
import { safetensorsParts } from '../shared/array_files.js'
import type { SmallTensor } from '../shared/types.js'

/** The same numbers at every visit, between -0.5 and 0.5. */
const tensor = (...shape: number[]) => ({
  shape,
  data: Float32Array.from(
    { length: shape.reduce((a, b) => a * b) },
    (_, i) => ((i * 7919) % 9973) / 9973 - 0.5
  )
})
const attention = (tokens: number) => ({
  name: `attention, ${tokens} tokens, 4 heads of 32`,
  op: 'attention',
  flops: 4 * 4 * tokens * tokens * 32,
  tensors: () => ({
    query: tensor(1, 4, tokens, 32),
    key: tensor(1, 4, tokens, 32),
    value: tensor(1, 4, tokens, 32)
  })
})
export type Case = {
  name: string
  op: string
  flops?: number
  attrs?: object
  tensors: () => Record<string, SmallTensor>
}
const cases: Case[] = [
  {
    name: 'linear, 512 × 512 × 512',
    op: 'linear',
    flops: 2 * 512 ** 3,
    tensors: () => ({ x: tensor(1, 512, 512), weight: tensor(512, 512), bias: tensor(512) })
  },
  ...[197, 577, 1025].map(attention),
  { name: 'softmax, 512 × 1024', op: 'softmax', tensors: () => ({ x: tensor(512, 1024) }) },
  {
    name: 'layer norm, 512 × 1024',
    op: 'layer_norm',
    attrs: { epsilon: 1e-5 },
    tensors: () => ({ x: tensor(512, 1024), gain: tensor(1024), bias: tensor(1024) })
  }
]

/** [{ name, flops (absent where memory sets the pace), bytes }] */
export const benchCases = () =>
  Promise.all(
    cases.map(async ({ name, op, flops, attrs = {}, tensors }) => ({
      name,
      flops,
      bytes: new Uint8Array(
        await new Blob(
          safetensorsParts(tensors(), { op, attrs: JSON.stringify(attrs) })
        ).arrayBuffer()
      )
    }))
  )

/** The name of a case as people read it; results have that of the case. */
export function opName(name: string) {
  const [op, size = ''] = name.split(', '),
    [tokens = '', heads = '', depth = ''] = name.match(/\d+/g) ?? []
  return (
    {
      linear: say('bench.linear', { size }),
      softmax: say('bench.softmax', { size }),
      'layer norm': say('bench.layerNorm', { size }),
      attention: say('bench.attention', { tokens, heads, depth })
    }[op] ?? name
  )
}
