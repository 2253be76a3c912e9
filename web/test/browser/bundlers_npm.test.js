/* The package under bundlers that npm fetches, without a configuration: Vite from 5 on, built and served while it is
 * written; webpack; Parcel. Rollup leaves the files behind, as esbuild does in bundlers.test.js. Then what Svelte and
 * Vue make of the action and the directive, and Bun and Deno. It runs in ./dev soak alone. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { chromium } from 'playwright-core'
import { serve } from '../../serve.js'
import { packageFolder } from '../package.js'

/** @type {string} */
let scratch
/** @type {import('playwright-core').Browser} */
let browser

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'heed-bundlers-'))
  browser = await chromium.launch({
    executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox']
  })
})
after(async () => {
  await browser?.close()
  rmSync(scratch, { recursive: true })
})

const script = `
import { look } from 'heed'
import { demoModel } from 'heed/demo'
import { loadExplain } from 'heed/explain'
import 'heed/element'
SET
const picture = { data: new Uint8ClampedArray(224 * 224 * 4).fill(200), width: 224, height: 224 }
async function all() {
  const { top, info } = await look(picture, { model: demoModel }), explain = await loadExplain()
  const element = document.createElement('attention-map')
  const row = new Promise((resolve, reject) => {
    element.addEventListener('drawn', ({ detail }) => resolve(detail.length))
    element.addEventListener('error', ({ detail }) => reject(detail))
  })
  document.body.append(element)
  return top(1)[0].label + ' ' + explain.entropy(new Float32Array([1])) + ' ' + (await row)
}
all().then(String, String).then((found) => { document.body.dataset.found = found })
`

/**
 * A folder with the bundler, the package and a page.
 * @param {string[]} packages
 */
function project(...packages) {
  const folder = mkdtempSync(join(scratch, 'app-'))
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', ...packages], {
    cwd: folder
  })
  cpSync(packageFolder, join(folder, 'node_modules/heed'), { recursive: true })
  writeFileSync(join(folder, 'main.js'), script.replace('SET', ''))
  writePage(folder)
  return folder
}

/** @param {string} folder */
const writePage = (folder) =>
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><title>app</title><body><script type="module" src="./main.js"></script></body>'
  )

/**
 * @param {string} address
 * @param {boolean} [bypassCSP]
 */
async function visit(address, bypassCSP) {
  const page = await browser.newPage({ bypassCSP })
  try {
    await page.goto(address)
    await page.waitForFunction(() => document.body.dataset.found, undefined, { timeout: 60000 })
    return await page.evaluate(() => document.body.dataset.found)
  } finally {
    await page.close()
  }
}

/**
 * Under the strict policy of web/serve.js, where a bundler can do with it.
 * @param {string} folder
 * @param {boolean} [bypassCSP]
 */
async function visitBuilt(folder, bypassCSP) {
  const server = await serve(folder, { isolated: false })
  try {
    return await visit(server.address, bypassCSP)
  } finally {
    server.close()
  }
}

/**
 * @param {string} folder
 * @param {string} tool
 * @param {...string} args
 */
const build = (folder, tool, ...args) =>
  execFileSync(join(folder, 'node_modules/.bin', tool), args, { cwd: folder, stdio: 'pipe' })

/**
 * The page under `vite`, which optimises dependencies first.
 * @param {string} folder
 * @param {string} [app] the folder that it serves
 */
async function visitServed(folder, app = folder) {
  const server = spawn(
    process.execPath,
    [join(folder, 'node_modules/vite/bin/vite.js'), '--port', '0'],
    { cwd: app, stdio: ['ignore', 'pipe', 'inherit'] }
  )
  try {
    const address = await new Promise((resolve, reject) => {
      let said = ''
      server.stdout.on('data', (text) => {
        said += text
        const [found] = /http:\/\/localhost:\d+\//.exec(said.replace(/\x1b\[\d+m/g, '')) ?? []
        if (found) resolve(found)
      })
      server.on('exit', () => reject(new Error(said)))
    })
    return await visit(address)
  } finally {
    server.kill()
  }
}

for (const version of [5, 6, 7, 8])
  test(`Vite ${version}: vite build and vite, without a configuration`, async () => {
    const folder = project(`vite@${version}`)
    build(folder, 'vite', 'build', '--logLevel', 'warn')
    assert.equal(await visitBuilt(join(folder, 'dist')), 'heart 0 197')
    assert.equal(await visitServed(folder), 'heart 0 197')
  })

test('Vite 7: heed above the node_modules of the project, as the README says', async () => {
  const folder = project('vite@7'),
    app = join(folder, 'apps/web')
  writeFileSync(join(folder, 'package.json'), '{"private": true, "workspaces": ["apps/*"]}')
  mkdirSync(app, { recursive: true })
  writeFileSync(join(app, 'package.json'), '{"private": true, "type": "module"}')
  cpSync(join(folder, 'main.js'), join(app, 'main.js'))
  writePage(app)
  assert.match(
    (await visitServed(folder, app)) ?? '',
    /found "a page of HTML at http:.+expected the package's file; setBase\(\)/
  )
  rmSync(join(app, 'node_modules'), { recursive: true })
  writeFileSync(
    join(app, 'vite.config.js'),
    "export default { optimizeDeps: { exclude: ['heed'] } }"
  )
  assert.equal(await visitServed(folder, app), 'heart 0 197')
})

test('webpack 5, without a configuration', async () => {
  const folder = project('webpack@5', 'webpack-cli')
  build(folder, 'webpack', '--mode', 'production', '--entry', './main.js', '-o', 'dist')
  writePage(join(folder, 'dist'))
  assert.equal(await visitBuilt(join(folder, 'dist')), 'heart 0 197')
})

test('Parcel 2, without a configuration: JSON of the demo model is left as it is', async () => {
  const folder = project('parcel@2')
  build(folder, 'parcel', 'build', 'index.html', '--dist-dir', 'dist', '--no-cache')
  assert.equal(await visitBuilt(join(folder, 'dist'), true), 'heart 0 197') // it writes scripts into pages
})

test('Rollup 4: with the package beside the bundle and setBase()', async () => {
  const folder = project('rollup@4', '@rollup/plugin-node-resolve'),
    bundle = () =>
      build(folder, 'rollup', 'main.js', '-d', 'dist', '-f', 'es', '-p', 'node-resolve', '--silent')
  bundle()
  writePage(join(folder, 'dist'))
  assert.match((await visitBuilt(join(folder, 'dist'))) ?? '', /HTTP 404 at .+heed-relaxed\.wasm/)
  writeFileSync(
    join(folder, 'main.js'),
    script.replace('SET', "import { setBase } from 'heed'\nsetBase('heed/')")
  )
  bundle()
  cpSync(packageFolder, join(folder, 'dist/heed'), { recursive: true })
  assert.equal(await visitBuilt(join(folder, 'dist')), 'heart 0 197')
})

/* The first map, and after a change of the head the second. */
const follows = `
const image = { data: new Uint8ClampedArray(224 * 224 * 4).fill(200), width: 224, height: 224 }
const said = []
const tell = (text) => { document.body.dataset.found = text }
const take = ({ caption }, next) => said.push(caption) === 1 ? next() : tell(said.join('|'))
`
const expected = /^Layer 3, head 0: CLS gives .*\|Layer 3, head 1: CLS gives /

/**
 * @param {string} plugin
 * @param {string} call
 * @param {Record<string, string>} files
 * @param {string[]} packages
 */
async function inFramework(plugin, call, files, packages) {
  const folder = project('vite@8', plugin, ...packages)
  for (const [name, text] of Object.entries({
    ...files,
    'vite.config.js': `import * as plugin from '${plugin}'\nexport default { plugins: [${call}] }`
  }))
    writeFileSync(join(folder, name), text)
  build(folder, 'vite', 'build', '--logLevel', 'warn')
  assert.match((await visitBuilt(join(folder, 'dist'))) ?? '', expected)
}

test('Svelte 5: the action of heed/svelte in a component', () =>
  inFramework(
    '@sveltejs/vite-plugin-svelte',
    'plugin.svelte()',
    {
      'App.svelte': `<script>
import { attentionMap } from 'heed/svelte'
import { demoModel } from 'heed/demo'
${follows}
let head = $state(0)
const onDrawn = (drawn) => take(drawn, () => { head = 1 })
</script>
<canvas width="224" use:attentionMap={{ image, model: demoModel, layer: 3, head, onDrawn, onError: (error) => tell(error.message) }}></canvas>`,
      'main.js': `import { mount } from 'svelte'
import App from './App.svelte'
mount(App, { target: document.body })`
    },
    ['svelte@5']
  ))

test('Vue 3: the directive of heed/vue in a component', () =>
  inFramework(
    '@vitejs/plugin-vue',
    'plugin.default()',
    {
      'App.vue': `<script setup>
import { ref } from 'vue'
import { vAttentionMap } from 'heed/vue'
import { demoModel } from 'heed/demo'
${follows}
const head = ref(0)
const onDrawn = (drawn) => take(drawn, () => { head.value = 1 })
const onError = (error) => tell(error.message)
</script>
<template><canvas width="224" v-attention-map="{ image, model: demoModel, layer: 3, head, onDrawn, onError }"></canvas></template>`,
      'main.js': `import { createApp } from 'vue'
import App from './App.vue'
createApp(App).mount(document.body)`
    },
    ['vue@3']
  ))

for (const [engine, ...command] of [
  ['bun', 'run'],
  ['deno', 'run', '--allow-all']
])
  test(`${engine}: a picture and its map`, () => {
    const folder = project(engine)
    writeFileSync(
      join(folder, 'script.mjs'),
      `import { look, release } from 'heed'
import { demoModel } from 'heed/demo'
const picture = { data: new Uint8ClampedArray(224 * 224 * 4).fill(200), width: 224, height: 224 }
const { top, map } = await look(picture, { model: demoModel })
console.log(top(1)[0].label, (await map().row()).length)
await release()`
    )
    const said = execFileSync(
      join(folder, 'node_modules/.bin', engine),
      [...command, 'script.mjs'],
      { cwd: folder, encoding: 'utf8', timeout: 60000 }
    )
    assert.equal(said.trim(), 'heart 197')
  })
