/* Processes end by themselves: a script that closes nothing, whatever it did last, and one in which no thread
 * may start. Each runs in a Node of its own, from a folder that knows the package alone. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { createRuntime, packageFolder, repository } from '../package.js'
import { writePng } from '../png.js'

/** @type {string} */
let folder

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heed-endings-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(packageFolder, join(folder, 'node_modules/heed'))
  symlinkSync(join(repository, 'node_modules/sharp'), join(folder, 'node_modules/sharp'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  const runtime = await createRuntime({ threads: 1 }),
    { image } = await runtime.scene(159)
  runtime.close()
  writeFileSync(join(folder, 'cat.jpg'), writePng(image.data, image.width, image.height))
})
after(() => rmSync(folder, { recursive: true }))

/**
 * @param {string} script
 * @param {string[]} [options] of Node
 */
function run(script, options = []) {
  writeFileSync(join(folder, 'main.js'), script)
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-warnings', ...options, 'main.js'],
    { cwd: folder, encoding: 'utf8', timeout: 60000 }
  )
  assert.equal(signal, null, `it did not end; it said ${stdout}${stderr}`)
  return { status, said: stdout.trim(), stderr }
}

test("the README's first example prints its answer and ends", () => {
  const [, example] = /** @type {RegExpExecArray} */ (
      /```js\n([^]*?)```/.exec(readFileSync(join(packageFolder, 'README.md'), 'utf8'))
    ),
    lines = example.split('\n').filter((line) => !line.includes('document.')),
    { status, said, stderr } = run(lines.join('\n'))
  assert.equal(lines.length, example.split('\n').length - 1, 'one line needs a page')
  assert.equal(status, 0, stderr)
  assert.match(said, /label: 'star'/)
})

const start = `
import { createRuntime } from 'heed'
import { demoModel } from 'heed/demo'
const runtime = await createRuntime(OPTIONS)
const model = await runtime.loadModel(demoModel)
const session = model.createSession({ taps: 'rows' })
const run = () => session.run(new Float32Array(3 * 224 * 224))
`

/** What scripts do last: the script, what it prints, the code of its end.
 * @type {Record<string, [script: string, said: string, status: number]>} */
const endings = {
  'only starts': ['', '', 0],
  'has run': ['console.log((await run()).logits.length)', '10', 0],
  'does not wait': ['run().then(({ logits }) => console.log(logits.length))', '10', 0],
  'waits for nothing at all': [
    'session.ready.then(() => run()).then(() => session.attention({ layer: 0, head: 0, query: 0 })).then((row) => console.log(row.length))',
    '197',
    0
  ],
  'was refused': ['await session.run(1).catch(({ name }) => console.log(name))', 'HeedError', 0],
  throws: ["await run(); throw new Error('mine')", '', 1],
  'sets an exit code': ['await run(); process.exitCode = 3', '', 3],
  'exits while it runs': ['run(); process.exit(4)', '', 4],
  aborts: [
    'const stop = new AbortController(), running = session.run(new Float32Array(3 * 224 * 224), { signal: stop.signal }); stop.abort(); await running.catch(({ name }) => console.log(name))',
    'AbortError',
    0
  ],
  'streams a model': [
    "import { readFileSync } from 'node:fs'\nconst { info } = await runtime.loadModel({ weights: new Response(readFileSync(demoModel.weights)), config: demoModel.config }); console.log(info.classes)",
    '10',
    0
  ],
  closes: ['await run(); runtime.close()', '', 0]
}

for (const options of ['{}', '{ threads: 3 }', '{ worker: true }', '{ worker: true, threads: 1 }'])
  for (const [what, [script, said, status]] of Object.entries(endings))
    test(`a script that ${what}, with ${options}`, () => {
      const found = run(start.replace('OPTIONS', options) + script)
      assert.deepEqual([found.said, found.status], [said, status], found.stderr)
    })

for (const [name, script] of Object.entries({
  'heed/text': `
    import { loadTexts } from 'heed/text'
    const texts = await loadTexts(${JSON.stringify(join(repository, 'tests/vectors/vit/clip_text/'))})
    console.log((await texts.run(Int32Array.of(1, 2, 3))).ids.length)`,
  'heed/explain': `
    import { loadExplain } from 'heed/explain'
    console.log(Math.round((await loadExplain()).entropy(new Float32Array(20).fill(1 / 20))))`
}))
  test(`a script of ${name}`, () => {
    const { said, status, stderr } = run(script)
    assert.deepEqual([said, status], ['3', 0], stderr)
  })

/* --permission of Node 24, --experimental-permission of Node 20: neither allows a worker by itself. */
const [major] = process.versions.node.split('.').map(Number),
  permission = major >= 24 ? '--permission' : '--experimental-permission',
  confined = { skip: major < 20 && 'this Node has no permissions' }

test('where no worker may start, one thread, and nothing is rejected unheard', confined, () => {
  const options = [permission, '--allow-fs-read=*'],
    of = (/** @type {string} */ worker) => `
      import { createRuntime } from 'heed'
      process.on('unhandledRejection', () => process.exit(9))
      console.log(await createRuntime({ threads: 3, worker: ${worker} }).then(({ info }) => info.why, String))
      await new Promise((resolve) => setTimeout(resolve, 100))`
  for (const [worker, expected] of /** @type {[string, RegExp][]} */ ([
    ['undefined', /^one thread: the others could not start \(Access to this API has been restr/],
    ['false', /^one thread: the others could not start \(Access to this API has been restr/],
    ['true', /^HeedError: worker: failed \(found "Access to this API has been restricted"\)$/]
  ])) {
    const { said, status, stderr } = run(of(worker), options)
    assert.equal(status, 0, stderr)
    assert.match(said, expected)
  }
})
