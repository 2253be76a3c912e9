/* The package as others get it: packed by npm, installed into an empty folder; in Node, under Vite
 * and from a script tag, in Chromium under the strict policy with and without isolation, and in
 * Firefox. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import esbuild from 'esbuild'
import { chromium } from 'playwright-core'
import puppeteer from 'puppeteer-core'
import { site } from '../browser.js'
import { serve } from '../../serve.js'
import { createRuntime, demoModel, packageFolder, repository } from '../package.js'
import { writePng } from '../png.js'
/** @import {Page} from 'playwright-core' */

const examples = join(repository, 'web/examples')
const tools = join(repository, 'node_modules')
/** @param {(string | undefined)[]} names */
const find = (names) => names.find((name) => name && existsSync(name))
const chromiumPath = find([
  process.env.HEED_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser'
])
const firefoxPath = find([process.env.HEED_FIREFOX, '/usr/bin/firefox-esr'])
/** @type {string} */
let scratch
/** @type {string} */
let tarball
/** @type {import('playwright-core').Browser} */
let browser

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'heed-examples-'))
  execFileSync('npm', ['pack', '--silent', '--pack-destination', scratch], { cwd: packageFolder })
  tarball = join(
    scratch,
    /** @type {string} */ (readdirSync(scratch).find((name) => name.endsWith('.tgz')))
  )
  if (chromiumPath)
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: [
        '--no-sandbox',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync'
      ]
    })
})
after(async () => {
  await browser?.close()
  rmSync(scratch, { recursive: true })
})

/**
 * A folder with an example and the package, installed from the tarball into a folder that knows
 * nothing else.
 * @param {string} name
 */
function install(name) {
  const folder = mkdtempSync(join(scratch, `${name}-`))
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  execFileSync('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: folder
  })
  cpSync(join(examples, name), folder, { recursive: true })
  return folder
}

/** The example's folder as a static server would have it. */
function stageScript(name = 'script') {
  const folder = mkdtempSync(join(scratch, `${name}-`))
  cpSync(join(examples, name), folder, { recursive: true })
  cpSync(packageFolder, join(folder, 'heed'), { recursive: true })
  return folder
}

/**
 * @param {string} folder
 * @param {{isolated: boolean}} options
 * @param {(page: Page) => unknown} body
 * @param {RegExp[]} [foreseen] what the console may say
 */
async function openPage(folder, options, body, foreseen = []) {
  const server = await serve(folder, options),
    page = await browser.newPage(),
    faults = /** @type {string[]} */ ([])
  page.on(
    'console',
    (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text())
  )
  page.on('pageerror', (error) => faults.push(String(error.stack)))
  try {
    await page.goto(server.address)
    await body(page)
    assert.deepEqual(
      faults.filter((fault) => !foreseen.some((one) => one.test(fault))),
      []
    )
  } catch (caught) {
    const error = /** @type {Error} */ (caught)
    error.message += `\n${faults.join('\n')}`
    throw error
  } finally {
    await page.close()
    server.close()
  }
}

/**
 * @param {Page} page
 * @param {RegExp | undefined} why
 */
async function expectStar(page, why) {
  await page.waitForFunction(
    () => document.querySelector('#answer').textContent !== 'loading',
    undefined,
    { timeout: 60000 }
  )
  assert.equal(await page.textContent('#answer'), 'star')
  assert.match(
    /** @type {string} */ (await page.textContent('#runtime')),
    /** @type {RegExp} */ (why)
  )
}

test('every name that the package exports can be imported', () => {
  const names = ['heed', 'heed/demo', 'heed/look', 'heed/explain', 'heed/plot', 'heed/text']
  const script = names
    .map(
      (name) => `if (Object.keys(await import('${name}')).length === 0) throw new Error('${name}')`
    )
    .join('\n')
  execFileSync(
    process.execPath,
    // where there is no page, as on a server, the element's import does nothing
    [
      '--input-type=module',
      '-e',
      `${script}; import.meta.resolve('heed/heed.wasm'); await import('heed/element'); await import('heed/svelte'); const { vAttentionMap } = await import('heed/vue'); if (Object.keys(vAttentionMap.getSSRProps()).length) throw 1`
    ],
    { cwd: install('node') }
  )
})

test('Node: npm pack, npm install, the example', () => {
  const out = execFileSync(process.execPath, ['main.js'], {
    cwd: install('node'),
    encoding: 'utf8'
  })
  assert.match(out, /prediction: star/)
  assert.match(out, /patch \d+,\d+: \d+\.\d x uniform/)
})

test('bundlers for browsers do not see sharp, which Next brings along', () => {
  const scripts = readdirSync(packageFolder)
    .filter((name) => name.startsWith('decode_node'))
    .map((name) => readFileSync(join(packageFolder, name), 'utf8'))
  assert.equal(scripts.length, 1)
  assert.match(
    scripts[0],
    /import\(\s*\/\* @vite-ignore \*\/\s*\/\* webpackIgnore: true \*\/\s*`\$\{\w+\}`\s*\)/
  )
  assert.doesNotMatch(scripts[0], /(["'`])sharp\1/)
})

test('Node: look() at a path says what to install, then looks', async () => {
  const folder = install('node'),
    ask = () =>
      execFileSync(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `import { look } from 'heed'
           import { demoModel } from 'heed/demo'
           const said = await look('picture.png', { model: demoModel }).then(({ top }) => top(1)[0].label, String)
           console.log(said)
           process.exit()`
        ],
        { cwd: folder, encoding: 'utf8' }
      ).trim()
  await putPicture(folder)
  assert.equal(
    ask(),
    'HeedError: look: no decoder of pictures here (found none, expected the package sharp (npm install sharp), the option decode, or { data, width, height })'
  )
  symlinkSync(join(tools, 'sharp'), join(folder, 'node_modules/sharp'))
  assert.equal(ask(), 'star')
})

/* Whether a page is isolated changes the runtime's threads, which the script tag in Chromium has. */
const either = process.env.HEED_SOAK ? [true, false] : [true]
const withChromium = chromiumPath ? {} : { skip: 'no Chromium here' }

const alone = availableParallelism() === 1
const whys = new Map([
  [
    true,
    alone
      ? /WASM (?:relaxed )?SIMD(?: and dot products)?, 1 thread - one thread: this machine has one core/
      : /WASM (?:relaxed )?SIMD(?: and dot products)?, (\d+) threads - \1 threads: one per core/
  ],
  [
    false,
    /WASM (?:relaxed )?SIMD(?: and dot products)?, 1 thread - one thread: the page is not cross-origin isolated/
  ]
])

for (const [isolated, why] of whys)
  test(`a script tag in Chromium, ${isolated ? '' : 'not '}isolated`, withChromium, () =>
    openPage(stageScript(), { isolated }, (page) => expectStar(page, why))
  )

test('a worker of the page’s own in Chromium', withChromium, () =>
  openPage(stageScript('worker'), { isolated: false }, (page) => expectStar(page, /1 thread/))
)

/** @param {string} folder */
function stageElement(folder) {
  for (const part of ['attention-map.js', 'plot'].filter((part) => existsSync(join(site, part))))
    cpSync(join(site, part), join(folder, part), { recursive: true })
  return folder
}
/** @param {Page} page */
const elementDrawn = (page) =>
  page.waitForSelector('attention-map canvas[aria-label*="38.3 × uniform"]', { timeout: 60000 })

test('an <attention-map> in a page of ten lines', withChromium, () =>
  openPage(stageElement(stageScript('element')), { isolated: false }, elementDrawn)
)

test('the two lines of the page on embedding are a page that draws', withChromium, async () => {
  const server = await serve(site, { isolated: false }),
    shown = await browser.newPage(),
    folder = stageElement(stageScript('element'))
  try {
    await shown.goto(`${server.address}embed.html`)
    await shown.waitForSelector('html[data-ready]')
    const code = /** @type {string} */ (await shown.textContent('#code'))
    assert.equal(code.split('\n').length, 2)
    writeFileSync(
      join(folder, 'index.html'),
      `<!doctype html>\n<link rel="icon" href="data:,">\n${code}\n`
    )
  } finally {
    await shown.close()
    server.close()
  }
  await openPage(folder, { isolated: false }, async (page) => {
    await elementDrawn(page)
    const colours = await page.evaluate(() => {
      const canvas = /** @type {HTMLCanvasElement} */ (
          document.querySelector('attention-map canvas')
        ),
        { width, height } = canvas,
        context = /** @type {OffscreenCanvasRenderingContext2D} */ (
          new OffscreenCanvas(width, height).getContext('2d')
        )
      context.drawImage(canvas, 0, 0)
      const { data } = context.getImageData(0, 0, width, height)
      return new Set(new Uint32Array(data.buffer)).size
    })
    assert.ok(colours > 1000, `${colours} colours`)
  })
})

for (const isolated of either)
  test(`Vite's bundle in Chromium, ${isolated ? '' : 'not '}isolated`, withChromium, async () => {
    const folder = install('vite')
    symlinkSync(join(tools, 'vite'), join(folder, 'node_modules/vite'))
    execFileSync(
      process.execPath,
      [join(tools, 'vite/bin/vite.js'), 'build', '--logLevel', 'warn'],
      { cwd: folder }
    )
    await openPage(join(folder, 'dist'), { isolated }, (page) =>
      expectStar(page, whys.get(isolated))
    )
  })

/** The scene that the examples show, as a file. */
async function putPicture(/** @type {string} */ folder) {
  const runtime = await createRuntime({ threads: 1 }),
    { image } = await runtime.scene(159)
  runtime.close()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'picture.png'), writePng(image.data, image.width, image.height))
  return folder
}

/* Runs in the page: what is said of a video of which the browser has fetched no frame yet. */
async function unseenVideo() {
  const { createRuntime } = await import('./heed/index.js'),
    { demoModel } = await import('./heed/demo.js'),
    canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 64 }),
    context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')),
    recorder = new MediaRecorder(canvas.captureStream()),
    parts = /** @type {Blob[]} */ ([]),
    ended = new Promise((done) => {
      recorder.onstop = done
    })
  recorder.ondataavailable = ({ data }) => data.size && parts.push(data)
  recorder.start(40)
  // until frames were recorded: a busy browser takes none for a while
  for (let i = 0; i < 8 || !parts.length; i++) {
    context.fillRect(0, 0, 64, 64)
    await new Promise((drawn) => setTimeout(drawn, 40))
  }
  recorder.stop()
  await ended
  const video = Object.assign(document.createElement('video'), {
    preload: 'metadata',
    src: URL.createObjectURL(new Blob(parts, { type: recorder.mimeType }))
  })
  await new Promise((loaded) => {
    video.onloadedmetadata = loaded
  })
  const runtime = await createRuntime(),
    model = await runtime.loadModel(demoModel),
    session = model.createSession(),
    said = await session.run(video).then(() => 'nothing', String)
  runtime.close()
  return said
}

/* Runs in the page: one call for each kind of picture; the classes are the same. */
async function everyInput() {
  const { look, release } = await import('./heed/index.js'),
    { demoModel } = await import('./heed/demo.js'),
    address = new URL('picture.png', document.baseURI),
    blob = await (await fetch(address)).blob(),
    bitmap = await createImageBitmap(blob),
    canvas = Object.assign(document.createElement('canvas'), { width: 224, height: 224 }),
    context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')),
    image = new Image(),
    found = /** @type {Record<string, any>} */ ({})
  context.drawImage(bitmap, 0, 0)
  image.src = String(address)
  await image.decode()
  const frame = new VideoFrame(canvas, { timestamp: 0 }),
    video = Object.assign(document.createElement('video'), {
      muted: true,
      srcObject: canvas.captureStream(),
      width: 50 // on the page, where its picture is larger
    })
  const playing = video.play()
  context.drawImage(bitmap, 0, 0) // drawn again, as a stream takes what is drawn after it began
  await playing
  video.pause()
  for (const [name, picture] of Object.entries({
    address: String(address),
    relative: 'picture.png',
    url: address,
    blob,
    file: new File([blob], 'picture.png', { type: 'image/png' }),
    response: await fetch(address),
    bitmap,
    canvas,
    frame,
    image,
    video,
    data: context.getImageData(0, 0, 224, 224)
  })) {
    const { top, logits } = await look(picture, { model: demoModel })
    found[name] = [top(1)[0].label, [.../** @type {Float32Array} */ (logits)].join()]
  }
  frame.close()
  const wrong = (/** @type {any} */ picture) =>
    look(picture, { model: demoModel }).then(
      () => 'nothing',
      (error) => `${error.name} ${error.status}`
    )
  found.wrong = [
    await wrong('no-such.png'),
    await wrong(new Blob(['x'], { type: 'image/png' })),
    await wrong({ width: 5 })
  ]
  await release()
  return found
}

test(
  'one call in a page: classes, a map on a canvas, every kind of picture',
  withChromium,
  async () => {
    const folder = await putPicture(stageScript('look'))
    await openPage(
      folder,
      { isolated: false },
      async (page) => {
        await page.waitForFunction(
          () => document.querySelector('#answer').textContent !== 'loading'
        )
        assert.match(/** @type {string} */ (await page.textContent('#answer')), /^star 100\.0 %, /)
        const canvas = await page.evaluate(() => {
          const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector('canvas')),
            at = (/** @type {number} */ row, /** @type {number} */ column) => [
              .../** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(
                column * 32 + 16,
                row * 32 + 16,
                1,
                1
              ).data
            ]
          return {
            size: [canvas.width, canvas.height],
            label: canvas.ariaLabel,
            corner: at(0, 0),
            cells: Array.from({ length: 196 }, (_, i) => at(Math.floor(i / 14), i % 14))
          }
        })
        assert.deepEqual(canvas.size, [448, 448])
        assert.match(canvas.label ?? '', /38\.3 × uniform/)
        const [, row, column] = /patch \((\d+), (\d+)\)[^]*38\.3/
            .exec(canvas.label ?? '')
            ?.map(Number) ?? [0, 0, 0],
          plain = await page.evaluate(async () => {
            const bitmap = await createImageBitmap(await (await fetch('picture.png')).blob()),
              own = Object.assign(document.createElement('canvas'), { width: 448, height: 448 }),
              context = /** @type {CanvasRenderingContext2D} */ (own.getContext('2d'))
            context.drawImage(bitmap, 0, 0, 448, 448)
            return Array.from({ length: 196 }, (_, i) => [
              ...context.getImageData((i % 14) * 32 + 16, Math.floor(i / 14) * 32 + 16, 1, 1).data
            ])
          }),
          change = canvas.cells.map((cell, i) =>
            Math.max(...cell.map((value, c) => Math.abs(value - plain[i][c])))
          )
        assert.ok(row < 14 && column < 14)
        assert.ok(Math.max(...change) > 60, 'the strongest patch is coloured')
        assert.ok(
          change.filter((value) => value <= 8).length > 120,
          'where there is no weight the picture stays as it is'
        )
        const { wrong, ...found } = await page.evaluate(everyInput)
        assert.deepEqual(wrong, [
          'HeedError IO',
          'HeedError INVALID_FILE',
          'HeedError INVALID_ARGUMENT'
        ])
        assert.match(await page.evaluate(unseenVideo), /^HeedError: .*it has no frame yet\)$/)
        for (const [name, [label, logits]] of Object.entries(found)) {
          assert.equal(label, 'star', name)
          assert.equal(logits, found.data[1], name)
        }
      },
      [/404/, /willReadFrequently/ /* the test's own readings */]
    )
  }
)

test('the README’s first lines draw a map', withChromium, async () => {
  const folder = await putPicture(stageScript('look')),
    readme = readFileSync(join(packageFolder, 'README.md'), 'utf8'),
    [, lines] = /```js\n([^]*?)```/.exec(readme) ?? ['', '']
  assert.equal(lines.trim().split('\n').length, 5)
  const script = lines
    .replace("'heed'", "'./heed/index.js'")
    .replace("'heed/demo'", "'./heed/demo.js'")
    .replace("'cat.jpg'", "'picture.png'")
  writeFileSync(join(folder, 'main.js'), `${script}\nglobalThis.done = top(5)`)
  await openPage(folder, { isolated: false }, async (page) => {
    const found = await page
      .waitForFunction(() => /** @type {any} */ (globalThis).done)
      .then((done) => done.jsonValue())
    assert.equal(found[0].label, 'star')
    const opaque = await page.evaluate(() => {
      const { width, height } = document.querySelector('canvas'),
        context = document.querySelector('canvas').getContext('2d')
      return context
        ?.getImageData(0, 0, width, height)
        .data.every((value, i) => i % 4 < 3 || value === 255)
    })
    assert.equal(opaque, true)
  })
})

/* Runs in the page: a canvas by the action of Svelte and one by Vue's directive, as those call them. */
async function inFrameworks() {
  const { attentionMap } = await import(/** @type {any} */ ('./heed/svelte.js')),
    { vAttentionMap } = await import(/** @type {any} */ ('./heed/vue.js')),
    { demoModel } = await import('./heed/demo.js'),
    base = { image: 'picture.png', model: demoModel, layer: 3, head: 0, query: [2, 10] },
    canvases = [0, 1].map(() => Object.assign(document.createElement('canvas'), { width: 448 })),
    said = /** @type {string[]} */ ([])
  /** @type {(act: (told: object) => void) => Promise<any>} */
  const once = (act) => new Promise((onDrawn, onError) => act({ ...base, onDrawn, onError }))
  /** @type {any} */
  let shown
  const first = await once((options) => (shown = attentionMap(canvases[0], options)))
  said.push(first.caption)
  const next = await once((options) => shown.update({ ...options, head: 1 }))
  said.push(next.caption)
  const other = await once((value) => vAttentionMap.mounted(canvases[1], { value }))
  said.push(other.caption)
  const again = await once((value) =>
    vAttentionMap.updated(canvases[1], { value: { ...value, fit: 'whole' } })
  )
  const wrong = await once((options) => shown.update({ ...options, layer: 99 })).catch(String)
  vAttentionMap.beforeUnmount(canvases[1])
  shown.destroy()
  return {
    said,
    wrong,
    same: first.result === next.result,
    rerun: again.result !== other.result,
    label: canvases[0].getAttribute('aria-label'),
    height: canvases[0].height
  }
}

test(
  'Svelte’s action and Vue’s directive draw, follow their options and run no more than needed',
  withChromium,
  async () => {
    const folder = await putPicture(stageScript())
    writeFileSync(join(folder, 'index.html'), '<!doctype html><link rel="icon" href="data:,">')
    await openPage(folder, { isolated: false }, async (page) => {
      const { said, wrong, same, rerun, label, height } = await page.evaluate(inFrameworks)
      assert.match(said[0], /^Layer 3, head 0: /)
      assert.match(said[1], /^Layer 3, head 1: /)
      assert.equal(said[2], said[0])
      assert.equal(label, said[1])
      assert.equal(height, 448)
      assert.ok(same, 'another head of the same picture is no run')
      assert.ok(rerun, 'another fit is')
      assert.match(wrong, /map: layer is not valid/)
    })
  }
)

test(
  'look() and elements share each model: its weights are fetched once',
  withChromium,
  async () => {
    const folder = await putPicture(stageElement(stageScript('element')))
    cpSync(join(folder, 'heed/demo'), join(folder, 'model'), { recursive: true })
    writeFileSync(
      join(folder, 'index.html'),
      `<!doctype html><link rel="icon" href="data:,">
<attention-map src="picture.png" model="model" layer="3" head="0" query="2,10"></attention-map>
<attention-map src="picture.png" model="model/" view="rollout"></attention-map>
<script type="module" src="heed/element.js"></script>`
    )
    const asked = /** @type {string[]} */ ([])
    await openPage(
      folder,
      { isolated: false },
      async (page) => {
        page.on('request', (request) => asked.push(new URL(request.url()).pathname))
        await page.reload()
        await page.waitForFunction(() =>
          [...document.querySelectorAll('attention-map canvas')].every((canvas) =>
            canvas.ariaLabel?.includes('× uniform')
          )
        )
        const { hidden, statistics } = await page.evaluate(async () => {
          const { look } = await import('./heed/index.js'),
            { hidden, session } = await look('picture.png', { model: './model/' })
          return { hidden: hidden?.dims, statistics: (await session.statistics()).length }
        })
        assert.deepEqual(hidden?.[0], 197)
        assert.equal(statistics, 5)
        const count = (/** @type {RegExp} */ name) => asked.filter((path) => name.test(path)).length
        assert.equal(count(/model\/model\.safetensors$/), 1)
        assert.equal(count(/worker\.js$/), 1, 'and they share a runtime')
      },
      [/404/]
    )
  }
)

test('React, with an element and a hook', withChromium, async () => {
  const folder = await putPicture(install('react'))
  for (const name of ['vite', 'react', 'react-dom', 'scheduler'])
    symlinkSync(join(tools, name), join(folder, 'node_modules', name))
  execFileSync(process.execPath, [join(tools, 'vite/bin/vite.js'), 'build', '--logLevel', 'warn'], {
    cwd: folder
  })
  await putPicture(join(folder, 'dist'))
  await openPage(join(folder, 'dist'), { isolated: false }, async (page) => {
    await page.waitForSelector('attention-map canvas[aria-label*="38.3 × uniform"]', {
      timeout: 60000
    })
    await page.waitForFunction(
      () => document.querySelector('#answer')?.textContent !== 'loading',
      undefined,
      { timeout: 60000 }
    )
    assert.equal(await page.textContent('#answer'), 'star')
    await page.locator('attention-map canvas').click({ position: { x: 5, y: 5 } })
    await page.waitForSelector('attention-map[query="0,0"] canvas[aria-label*="(0, 0)"]')
    assert.equal(await page.textContent('#query'), '0, 0')
  })
})

/* Next itself is 340 MB: next.test.js installs it in ./dev soak. Here its server renders these components by react-dom/server and its browser
 * takes them over by hydrateRoot, and so does this test, with esbuild in the place of its bundler. */
test(
  'Next: the page rendered on a server, and taken over by the browser',
  withChromium,
  async () => {
    const folder = install('next'),
      dist = stageScript('next'),
      bundle = (
        /** @type {string} */ name,
        /** @type {import('esbuild').BuildOptions} */ options
      ) =>
        esbuild.build({
          entryPoints: [join(folder, name)],
          bundle: true,
          format: 'esm',
          jsx: 'automatic',
          nodePaths: [tools],
          define: { 'process.env.NODE_ENV': '"production"' },
          logLevel: 'error',
          ...options
        })
    const whole = `import Layout from './app/layout.jsx'
import Page from './app/page.jsx'
const page = <Layout><Page /></Layout>
`
    writeFileSync(
      join(folder, 'server.jsx'),
      `import { renderToString } from 'react-dom/server'\n${whole}console.log(renderToString(page))`
    )
    writeFileSync(
      join(folder, 'browser.jsx'),
      `import { hydrateRoot } from 'react-dom/client'\n${whole}hydrateRoot(document, page, { onRecoverableError: (error) => console.error(String(error)) })`
    )
    for (const name of ['react', 'react-dom', 'scheduler'])
      symlinkSync(join(tools, name), join(folder, 'node_modules', name))
    await bundle('server.jsx', {
      platform: 'node',
      external: ['heed', 'react', 'react-dom'],
      outfile: join(folder, 'server.js')
    })
    const html = execFileSync(process.execPath, ['server.js'], { cwd: folder, encoding: 'utf8' })
    assert.match(
      html,
      /<attention-map src="\/picture.png" layer="3" head="0" query="2,10"><\/attention-map><p id="answer">loading<\/p>/
    )
    await bundle('browser.jsx', { outfile: join(dist, 'heed/page.js') }) // beside what heed finds by its own address
    writeFileSync(
      join(dist, 'index.html'),
      `<!doctype html>${html.trim().replace('</body>', '<script type="module" src="/heed/page.js"></script></body>')}`
    )
    await putPicture(dist)
    await openPage(
      dist,
      { isolated: false },
      async (page) => {
        await page.waitForSelector('attention-map canvas[aria-label*="38.3 × uniform"]', {
          timeout: 60000
        })
        await page.waitForSelector('#answer:text-is("star")', { timeout: 60000 })
      },
      [/favicon/, /404/]
    )
  }
)

test('a notebook’s attentions: .npy from Python in a page', withChromium, async () => {
  const folder = await putPicture(stageScript('notebook')),
    runtime = await createRuntime({ threads: 1 }),
    session = (await runtime.loadModel(demoModel)).createSession({ taps: 'all' }),
    { attention } = await session.run((await runtime.scene(159)).image)
  runtime.close()
  /* as numpy.save writes [layers, heads, tokens, tokens] */
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4, 197, 197), }`,
    padded = `${header.padEnd(117)}\n`
  writeFileSync(
    join(folder, 'attentions.npy'),
    Buffer.concat([
      Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, padded.length, 0]),
      Buffer.from(padded),
      .../** @type {Float32Array[]} */ (attention).map((layer) => Buffer.from(layer.buffer))
    ])
  )
  await openPage(folder, { isolated: false }, async (page) => {
    await page.waitForFunction(() => document.querySelector('#caption').textContent !== 'loading')
    assert.match(/** @type {string} */ (await page.textContent('#caption')), /Layer 3, head 0: CLS/)
    await page.locator('canvas').click({ position: { x: 10 * 32 + 16, y: 2 * 32 + 16 } })
    await page.waitForFunction(() =>
      /patch \(2, 10\)[^]*38\.3 × uniform/.test(document.querySelector('#caption').textContent)
    )
  })
})

/* Runs in the page. */
async function whatHappens() {
  const { createRuntime } = await import('./heed/index.js'),
    { demoModel } = await import('./heed/demo.js')
  /** @param {Promise<unknown>} promise */
  const status = (promise) =>
    promise.then(
      () => 'done',
      (error) => error.status
    )
  const runtime = await createRuntime(),
    model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'all' })
  const { image } = await runtime.scene(159),
    controller = new AbortController(),
    results = {}
  await session.ready
  let layers = 0
  results.cancel = await status(
    session.run(image, {
      signal: controller.signal,
      onProgress: () => ++layers === 2 && controller.abort()
    })
  )
  const { logits } = await session.run(new ImageData(image.data, image.width)),
    copy = [.../** @type {Float32Array} */ (logits)]
  await model.createSession({ batch: 8, taps: 'all' }).ready
  results.kept = copy.every((x, i) => x === /** @type {Float32Array} */ (logits)[i])
  const bitmap = await createImageBitmap(new ImageData(image.data, image.width))
  results.bitmap = /** @type {Float32Array} */ ((await session.run(bitmap)).logits).every(
    (x, i) => x === /** @type {Float32Array} */ (logits)[i]
  )
  results.spoiled = await status(runtime.loadModel({ weights: new Uint8Array(1000) }))
  results.response = await status(
    runtime.loadModel({
      weights: await fetch(demoModel.weights),
      config: await fetch(demoModel.config),
      preprocessor: await fetch(demoModel.preprocessor)
    })
  )
  results.file = await status(
    runtime.loadModel({
      weights: await (await fetch(demoModel.weights)).blob(),
      config: await (await fetch(demoModel.config)).blob()
    })
  )
  session.close()
  results.closed = await status(session.run(image))
  runtime.close()
  results.end = await status(runtime.scene(1))
  const direct = await createRuntime({ worker: false })
  results.direct = direct.info.worker
  const other = (await direct.loadModel(demoModel)).createSession({ taps: 'all' })
  results.same = /** @type {Float32Array} */ ((await other.run(image)).logits).every(
    (x, i) => x === /** @type {Float32Array} */ (logits)[i]
  )
  direct.close()
  return results
}

for (const isolated of [true, false])
  test(
    `in a page, ${isolated ? '' : 'not '}isolated: cancel, use after close, a spoiled model, growth, direct mode`,
    withChromium,
    () =>
      openPage(stageScript(), { isolated }, async (page) => {
        await expectStar(page, /./)
        const told = await page.evaluate(whatHappens)
        assert.deepEqual(told, {
          cancel: 'CANCELLED',
          kept: true,
          bitmap: true,
          spoiled: 'INVALID_FILE',
          response: 'done',
          file: 'done',
          closed: 'INVALID_ARGUMENT',
          end: 'INVALID_ARGUMENT',
          direct: false,
          same: true
        })
      })
  )

for (const isolated of either)
  test(
    `a script tag in Firefox, ${isolated ? '' : 'not '}isolated`,
    firefoxPath ? {} : { skip: 'no Firefox here' },
    async () => {
      const server = await serve(stageScript(), { isolated })
      const firefox = await puppeteer.launch({
          browser: 'firefox',
          executablePath: firefoxPath,
          headless: true
        }),
        faults = /** @type {string[]} */ ([])
      try {
        const page = await firefox.newPage()
        page.on(
          'console',
          (message) => ['error', 'warn'].includes(message.type()) && faults.push(message.text())
        )
        page.on('pageerror', (error) => faults.push(String(/** @type {Error} */ (error).stack)))
        await page.goto(server.address)
        // asked by the clock: a tab that Firefox takes for hidden gets no animation frames, which
        // is what it waits for otherwise
        await page.waitForFunction(
          () => document.querySelector('#answer').textContent !== 'loading',
          { timeout: 60000, polling: 100 }
        )
        assert.equal(await page.$eval('#answer', (element) => element.textContent), 'star')
        assert.match(
          await page.$eval('#runtime', (element) => element.textContent),
          /** @type {any} */ (whys.get(isolated))
        )
      } catch (caught) {
        const error = /** @type {Error} */ (caught)
        error.message += `\n${faults.join('\n')}`
        throw error
      } finally {
        await firefox.close()
        server.close()
      }
    }
  )
