/* Engines in a Chromium for peers.mjs: each in a page of its own, served with isolation headers, so
 * that threads are possible, from the build folder. The page answers turns as contender.mjs does;
 * heed works in its worker, as it does by default in a page. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { serve } from '../../web/serve.js'

const tools = fileURLToPath(new URL('../..', import.meta.url)),
  driver = path.join(tools, 'node_modules/playwright-core/index.mjs')
const executablePath =
  process.env.HEED_CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)

/* Runs in the page: the engine with its job, kept as globalThis.job. */
async function prepare([engine, job, threads]) {
  const { prepareHeed, prepareOrt } = await import('/bench/jobs.mjs')
  const read = async (file) =>
      new Uint8Array(await (await fetch(`/bench/models/${file}`)).arrayBuffer()),
    begin = performance.now()
  const folder = { 'heed-wasm': '/web/package', 'heed-before': '/bench/before/web/package' }[engine]
  if (folder)
    globalThis.job = await prepareHeed(await import(`${folder}/index.js`), job, threads, read)
  else {
    const ort = await import('/bench/peers/node_modules/onnxruntime-web/dist/ort.wasm.min.mjs')
    ort.env.wasm.numThreads = threads
    globalThis.job = await prepareOrt(ort, job, { executionProviders: ['wasm'] }, read)
  }
  const { output, info } = globalThis.job
  return { load: performance.now() - begin, output, info }
}

const turn = async ([runs, milliseconds]) =>
  (await import('/bench/jobs.mjs')).timeRuns(globalThis.job.run, runs, milliseconds)

/* Runs in the page: a program to its end, for what it prints. */
async function runProgram([file, args]) {
  const { runProgram } = await import('/bench/program.mjs'),
    bytes = await (await fetch(`/${file}`)).arrayBuffer()
  let text = ''
  await runProgram(bytes, [file, ...args], (part) => {
    text += part
  })
  return text
}

/** Resolves to { version, start(engine, job, threads), run(program, args), close }. */
export async function startChromium(build) {
  if (!executablePath) throw new Error('no Chromium here (HEED_CHROMIUM names another)')
  if (!existsSync(driver))
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--prefix', tools], {
      stdio: ['ignore', 2, 2]
    })
  const { chromium } = await import(pathToFileURL(driver)),
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--no-first-run'] })
  for (const name of ['jobs.mjs', 'program.mjs', 'vit_models.mjs'])
    copyFileSync(new URL(name, import.meta.url), path.join(build, 'bench', name))
  writeFileSync(path.join(build, 'bench/page.html'), '<!doctype html><title>bench</title>')
  const server = await serve(build)
  return {
    version: browser.version(),
    async start(engine, job, threads) {
      const page = await browser.newPage()
      await page.goto(`${server.address}bench/page.html`)
      const ready = await page.evaluate(prepare, [engine, job, Number(threads)])
      return {
        engine,
        ready,
        stop: () => page.context().close(),
        turn: (runs, milliseconds) => page.evaluate(turn, [runs, milliseconds])
      }
    },
    async run(program, args) {
      const page = await browser.newPage()
      await page.goto(`${server.address}bench/page.html`)
      const text = await page.evaluate(runProgram, [path.relative(build, program), args])
      await page.context().close()
      return text
    },
    async close() {
      await browser.close()
      server.close()
    }
  }
}
