/* General ops of ONNX on heed's kernels beside onnxruntime-node, one thread each, by turns:
 *   node onnx_ops.mjs HEED FOLDER [--only TEXT] [--rounds N]
 * HEED: the native program. FOLDER: one in which npm installed onnxruntime-node; the graphs are
 * written into FOLDER/ops. Each is one node with ViT-like shapes. Prints, per op, the least time of
 * each in microseconds, onnxruntime's by its own profile of the kernel, and their quotient. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Graph } from './onnx_graph.mjs'

const {
  values: { only, rounds },
  positionals: [heed, folder]
} = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, rounds: { type: 'string', default: '3' } }
})

/* [name, op, shapes of inputs, shape of the output, attributes, constants] */
const tokens = [1, 197, 768],
  scores = [12, 197, 197],
  picture = [1, 64, 56, 56],
  runs = 60,
  longs = (...list) => [[list.length], BigInt64Array.from(list.map(BigInt))],
  floats = (...shape) => [
    shape,
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => ((i * 37) % 19) / 19)
  ]
const jobs = [
  ['add', 'Add', [tokens, tokens], tokens],
  ['add of a row', 'Add', [tokens, [768]], tokens],
  ['multiply by a column', 'Mul', [tokens, [1, 197, 1]], tokens],
  ['divide', 'Div', [tokens, tokens], tokens],
  ['greater', 'Greater', [tokens, tokens], tokens, {}, [], 9],
  ['exp', 'Exp', [tokens], tokens],
  ['erf', 'Erf', [tokens], tokens],
  ['tanh', 'Tanh', [tokens], tokens],
  ['sigmoid', 'Sigmoid', [tokens], tokens],
  ['absolute value', 'Abs', [tokens], tokens],
  ['softmax', 'Softmax', [scores], scores, { axis: -1 }],
  ['mean of rows', 'ReduceMean', [tokens], [1, 197, 1], { axes: [-1] }],
  ['mean of columns', 'ReduceMean', [tokens], [1, 1, 768], { axes: [1] }],
  ['max of rows', 'ReduceMax', [scores], [12, 197, 1], { axes: [-1] }],
  ['index of the largest', 'ArgMax', [scores], [12, 197, 1], { axis: -1 }, [], 7],
  ['turn [197, 12, 64]', 'Transpose', [[197, 12, 64]], [12, 197, 64], { perm: [1, 0, 2] }],
  ['turn the last axes', 'Transpose', [[12, 197, 64]], [12, 64, 197], { perm: [0, 2, 1] }],
  [
    'concat of rows',
    'Concat',
    [
      [1, 1, 768],
      [1, 196, 768]
    ],
    tokens,
    { axis: 1 }
  ],
  ['slice of rows', 'Slice', [tokens], [1, 196, 768], {}, [longs(1), longs(197), longs(1)]],
  [
    'gather of rows',
    'Gather',
    [tokens],
    [1, 98, 768],
    { axis: 1 },
    [longs(...Array.from({ length: 98 }, (_, i) => (i * 71) % 197))]
  ],
  [
    'product of two',
    'MatMul',
    [
      [12, 197, 64],
      [12, 64, 197]
    ],
    scores
  ],
  ['layer norm', 'LayerNormalization', [tokens], tokens, { axis: -1 }, [floats(768), floats(768)]],
  [
    'convolution 3 x 3',
    'Conv',
    [picture],
    picture,
    { pads: [1, 1, 1, 1], kernel_shape: [3, 3] },
    [floats(64, 64, 3, 3)]
  ],
  [
    '3 x 3 of each channel',
    'Conv',
    [picture],
    picture,
    { pads: [1, 1, 1, 1], kernel_shape: [3, 3], group: 64 },
    [floats(64, 1, 3, 3)]
  ],
  [
    '7 x 7 of each channel',
    'Conv',
    [picture],
    picture,
    { pads: [3, 3, 3, 3], kernel_shape: [7, 7], group: 64 },
    [floats(64, 1, 7, 7)]
  ],
  [
    '3 x 3 of each channel, stride 2',
    'Conv',
    [picture],
    [1, 64, 28, 28],
    { pads: [1, 1, 1, 1], kernel_shape: [3, 3], strides: [2, 2], group: 64 },
    [floats(64, 1, 3, 3)]
  ],
  [
    'max pool 3 x 3, stride 2',
    'MaxPool',
    [[1, 64, 112, 112]],
    picture,
    { pads: [1, 1, 1, 1], kernel_shape: [3, 3], strides: [2, 2] }
  ],
  [
    'average pool 2 x 2',
    'AveragePool',
    [picture],
    [1, 64, 28, 28],
    { kernel_shape: [2, 2], strides: [2, 2] }
  ],
  [
    'average pool 3 x 3',
    'AveragePool',
    [picture],
    picture,
    { pads: [1, 1, 1, 1], kernel_shape: [3, 3] }
  ],
  [
    'resize, linear',
    'Resize',
    [picture],
    [1, 64, 112, 112],
    { mode: 'linear' },
    ['', [[4], Float32Array.of(1, 1, 2, 2)]]
  ]
]

/** The file of a job, and its inputs. */
function write([name, op, inputs, output, attributes = {}, constants = [], type]) {
  const graph = new Graph(),
    names = inputs.map((shape, i) => graph.input(`x${i}`, shape))
  for (const [i, constant] of constants.entries())
    names.push(constant === '' ? '' : graph.constant(`c${i}`, ...constant))
  graph.add(op, names, attributes, 'y')
  const file = path.join(folder, 'ops', `${name.replace(/\W+/g, '_')}.onnx`)
  writeFileSync(file, graph.encode({ y: output }, type))
  return file
}

mkdirSync(path.join(folder, 'ops'), { recursive: true })
const ort = createRequire(path.join(path.resolve(folder), 'x.js'))('onnxruntime-node')

/** The least microseconds of a run. */
async function peer(file, inputs) {
  const session = await ort.InferenceSession.create(file, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    enableProfiling: true,
    profileFilePrefix: path.join(folder, 'ops/profile')
  })
  const feeds = Object.fromEntries(
    inputs.map((shape, i) => {
      const count = shape.reduce((a, b) => a * b, 1)
      return [
        `x${i}`,
        new ort.Tensor(
          'float32',
          Float32Array.from({ length: count }, (_, k) => ((k * 7919) % 2003) / 1001 - 1),
          shape
        )
      ]
    })
  )
  for (let run = 0; run < runs; run++) await session.run(feeds)
  session.endProfiling()
  const found = readdirSync(path.join(folder, 'ops')).filter((name) => name.startsWith('profile')),
    nodes = JSON.parse(readFileSync(path.join(folder, 'ops', found[0]), 'utf8')).filter(
      ({ name }) => name.endsWith('_kernel_time')
    ),
    count = nodes.length / runs, // it makes several of some
    times = Array.from({ length: runs }, (_, run) =>
      nodes.slice(run * count, (run + 1) * count).reduce((sum, { dur }) => sum + dur, 0)
    )
  for (const name of found) rmSync(path.join(folder, 'ops', name))
  await session.release()
  return Math.min(...times)
}

const own = (file) =>
  JSON.parse(
    execFileSync(heed, [
      'bench',
      file,
      '--way',
      'graph',
      '--backend',
      'cpu',
      '--threads',
      '1',
      '--runs',
      `${runs}`,
      '--warmup',
      '5',
      '--json',
      '--quiet'
    ]).toString()
  ).min_ms * 1000

for (const job of jobs.filter(([name]) => name.includes(only))) {
  const file = write(job),
    best = [Infinity, Infinity]
  for (let round = 0; round < Number(rounds); round++) {
    best[0] = Math.min(best[0], await peer(file, job[2]))
    best[1] = Math.min(best[1], own(file))
  }
  console.log(
    `${job[0].padEnd(36)} onnxruntime ${best[0].toFixed(0).padStart(6)} us  heed ${best[1].toFixed(0).padStart(6)} us  ${(best[1] / best[0]).toFixed(2)}`
  )
}
