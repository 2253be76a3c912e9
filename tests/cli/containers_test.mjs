// containers_test.mjs HEED VECTORS FOLDER: each family × containers × endings, with its config and without.
// With the config the answer is that of the family's folder, bit for bit. Without, it is the same, or a guess that is said, or one sentence:
// never another answer in silence, never the built-in model.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { renamed, stateDict, tensorsOf, torchZip } from './torch_zip.mjs'

const [program, vectors, folder] = process.argv.slice(2)
const configs = ['config.json', 'open_clip_config.json', 'preprocessor_config.json']
const endings = [
  '.pth',
  '.pth.tar',
  '.pt',
  '.ckpt',
  '.bin',
  '.pkl',
  '.th',
  '.PTH',
  '.model',
  '.safetensors',
  '',
  '.2026.final',
  '.png',
  '.onnx'
]
const prefixed = (tensors, prefix) => renamed(tensors, (name) => prefix + name)
const containers = {
  safetensors: (tensors, file) => file,
  dict: (tensors) => torchZip(stateDict(tensors)),
  state_dict: (tensors) =>
    torchZip(
      new Map([
        ['epoch', 3],
        ['state_dict', stateDict(tensors)],
        ['best_acc1', 7]
      ])
    ),
  model: (tensors) =>
    torchZip(
      new Map([
        ['model', stateDict(prefixed(tensors, 'module.'))],
        ['optimizer', new Map([['state', new Map()]])]
      ])
    ),
  compiled: (tensors) => torchZip(stateDict(prefixed(tensors, '_orig_mod.')))
}
const places = { config: true, bare: false }

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const heed = (...words) => {
  const { status, stdout, stderr } = spawnSync(program, words, {
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') }
  })
  return { status, stdout, stderr }
}

/** Evaluates the file on the family's inputs: undefined where refused. */
function evaluated(model, io) {
  const to = join(folder, 'out.safetensors')
  rmSync(to, { force: true })
  const answer = heed('eval', model, io, '-o', to, '--backend', 'cpu', '--threads', '1')
  return { ...answer, bytes: existsSync(to) ? readFileSync(to) : undefined }
}

/** What is wrong with an answer, if anything. */
function fault(answer, expected, configured) {
  const { status, stderr, bytes } = answer
  const sentences = stderr.trim().split('\n').filter(Boolean)
  if (status === 0 && bytes?.equals(expected)) return undefined
  if (status === 0 && configured) return 'other values'
  if (status === 0)
    return /assumed|guess/.test(stderr)
      ? undefined
      : `other values without a word (${stderr.trim()})`
  if (status !== 3) return `exit code ${status}: ${stderr.trim().slice(0, 200)}`
  if (bytes) return 'refused, but a file was left'
  if (sentences.length !== 1 || !/^heed eval: .*: /.test(sentences[0]))
    return `no single sentence (${stderr.trim().slice(0, 300)})`
  return configured ? `refused with its config: ${stderr.trim().slice(0, 200)}` : undefined
}

const families = readdirSync(join(vectors, 'vit'))
  .filter((name) => existsSync(join(vectors, 'vit', name, 'io.safetensors')) && !/text/.test(name))
  .sort()
let total = 0,
  failed = 0,
  turn = 0,
  tries = 0
for (const family of families) {
  const from = join(vectors, 'vit', family)
  const io = join(from, 'io.safetensors')
  const whole = evaluated(from, io)
  const file = readFileSync(join(from, 'model.safetensors'))
  const tensors = tensorsOf(file)
  const faults = []
  for (const [container, make] of Object.entries(containers))
    for (const [place, configured] of Object.entries(places)) {
      const under = join(folder, 'model')
      rmSync(under, { recursive: true, force: true })
      mkdirSync(under)
      if (configured)
        for (const config of configs)
          if (existsSync(join(from, config))) copyFileSync(join(from, config), join(under, config))
      const ending = endings[turn++ % endings.length]
      const model = join(under, `weights${ending}`)
      writeFileSync(model, make(tensors, file))
      tries++
      const wrong = fault(
        evaluated(model, io),
        whole.bytes,
        configured && configs.some((name) => existsSync(join(from, name)))
      )
      if (wrong) faults.push(`${container}, ${place}, weights${ending}: ${wrong}`)
    }
  total++
  for (const line of faults) console.log(line)
  if (faults.length) failed++
  console.log(`${faults.length ? 'not ' : ''}ok ${total} - ${family}`)
}
console.log(`1..${total}\n${tries} files`)
process.exit(failed ? 1 : 0)
