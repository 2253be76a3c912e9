/* The package from another origin than the page's, as on a CDN: two servers of different ports, in
 * Chromium and Firefox. In Chromium the worker is started by a script of the page's own origin. In
 * Firefox, whose workers import no module of another origin, and where a policy forbids that script,
 * the runtime works in the page's thread and says why. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import test, { after, before } from 'node:test'
import { chromium } from 'playwright-core'
import puppeteer from 'puppeteer-core'
import { createRuntime, packageFolder } from '../package.js'
import { writePng } from '../png.js'

/** @typedef {{address: string, asked: string[], close(): void}} Server */
/** @typedef {(address: string, read: () => any) => Promise<any>} Visit gives what the page's script gave */

/** @type {Record<string, string>} */
const types = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.json': 'application/json' }
/** @param {(string | undefined)[]} names */
const find = (names) => names.find((name) => name && existsSync(name))
const chromiumPath = find([
    process.env.HEED_CHROMIUM,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser'
  ]),
  firefoxPath = find([process.env.HEED_FIREFOX, '/usr/bin/firefox-esr'])

/**
 * @param {(path: string) => {body: string | Buffer, headers: Record<string, string>} | undefined} answer
 * @returns {Promise<Server>}
 */
const serve = (answer) =>
  new Promise((done) => {
    const asked = /** @type {string[]} */ ([]),
      server = createServer((request, response) => {
        const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname),
          found = answer(path)
        asked.push(path)
        const headers = found?.headers ?? { 'Access-Control-Allow-Origin': '*' } // as CDNs answer
        response.writeHead(found ? 200 : 404, headers).end(found?.body)
      })
    server.listen(0, 'localhost', () =>
      done({
        address: `http://localhost:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/`,
        asked,
        close: () => {
          server.closeAllConnections()
          server.close()
        }
      })
    )
  })

/** @type {Server} */
let cdn
/** @type {Record<string, Server>} */
const pages = {}

/* What a page of ten lines does with the package of another origin. */
const script = (/** @type {string} */ from, options = '') => `
  import { createRuntime } from '${from}index.js'
  import { demoModel } from '${from}demo.js'
  try {
    const runtime = await createRuntime(${options})
    const model = await runtime.loadModel(demoModel)
    const { image } = await runtime.scene(159)
    const { logits } = await model.createSession().run(image)
    window.told = { ...runtime.info, answer: model.info.labels[logits.indexOf(Math.max(...logits))] }
  } catch (error) {
    window.told = { name: error.name, status: error.status, message: error.message }
  }`

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp'
}

/* <attention-map> of the package, with picture and model of that origin too. */
const element = (/** @type {string} */ from) => `
  import '${from}element.js'
  const map = document.createElement('attention-map')
  for (const [name, value] of Object.entries({ src: '${from}picture.png', model: '${from}demo', layer: 3, head: 0, query: '2,10' }))
    map.setAttribute(name, value)
  map.addEventListener('drawn', ({ detail }) => {
    window.told = { row: detail.length, label: map.querySelector('canvas').getAttribute('aria-label') }
  })
  map.addEventListener('error', ({ detail }) => { window.told = { message: detail.message } })
  document.body.append(map)`

before(async () => {
  const runtime = await createRuntime({ threads: 1 }),
    { image } = await runtime.scene(159),
    picture = writePng(image.data, image.width, image.height)
  runtime.close()
  cdn = await serve((path) => {
    const file = join(packageFolder, path)
    return path === '/picture.png' || (existsSync(file) && extname(file))
      ? {
          body: path === '/picture.png' ? picture : readFileSync(file),
          headers: {
            'Content-Type': types[extname(file)] ?? 'application/octet-stream',
            'Access-Control-Allow-Origin': '*',
            'Cross-Origin-Resource-Policy': 'cross-origin'
          }
        }
      : undefined
  })
  const policy = `default-src 'none'; script-src 'self' ${cdn.address} 'wasm-unsafe-eval'; connect-src ${cdn.address}; worker-src 'self'`
  for (const [name, headers, options] of /** @type {[string, object, string?][]} */ ([
    ['open', {}],
    ['element', {}],
    ['isolated', isolation],
    ['strict', { 'Content-Security-Policy': policy }],
    ['insisting', { 'Content-Security-Policy': policy }, '{ worker: true }']
  ]))
    pages[name] = await serve((path) => {
      const body = { '/': '<script type="module" src="main.js"></script>' }[path]
      if (body) return { body, headers: { 'Content-Type': 'text/html', ...headers } }
      return path === '/main.js'
        ? {
            body: name === 'element' ? element(cdn.address) : script(cdn.address, options),
            headers: { 'Content-Type': types['.js'] }
          }
        : undefined
    })
})
after(() => [cdn, ...Object.values(pages)].forEach((server) => server.close()))

/** @param {any} found */
const said = (found) => found.message ?? found.why
const told = () => /** @type {any} */ (window).told

/** @type {[name: string, path: string | undefined, visit: Visit][]} */
const browsers = [
  [
    'Chromium',
    chromiumPath,
    async (address, read) => {
      const browser = await chromium.launch({
        executablePath: chromiumPath,
        args: ['--no-sandbox', '--disable-background-networking']
      })
      try {
        const page = await browser.newPage()
        await page.goto(address)
        await page.waitForFunction(read, undefined, { timeout: 60000 })
        return await page.evaluate(read)
      } finally {
        await browser.close()
      }
    }
  ],
  [
    'Firefox',
    firefoxPath,
    async (address, read) => {
      const browser = await puppeteer.launch({
        browser: 'firefox',
        executablePath: firefoxPath,
        headless: true
      })
      try {
        const page = await browser.newPage()
        await page.goto(address)
        await page.waitForFunction(read, { timeout: 60000, polling: 100 })
        return await page.evaluate(read)
      } finally {
        await browser.close()
      }
    }
  ]
]

for (const [name, path, visit] of browsers) {
  const options = path ? {} : { skip: `no ${name} here` },
    worker = name === 'Chromium'
  test(`${name}: from another origin`, options, async () => {
    const found = await visit(pages.open.address, told)
    assert.deepEqual([found.answer, found.worker, found.threads], ['star', worker, 1], said(found))
    assert.match(found.why, /the page is not cross-origin isolated/)
    assert.deepEqual(
      new Set(pages.open.asked.filter((path) => !path.includes('favicon'))),
      new Set(['/', '/main.js'])
    )
  })
  test(`${name}: from another origin, in an isolated page`, options, async () => {
    const found = await visit(pages.isolated.address, told)
    assert.deepEqual([found.answer, found.worker], ['star', worker], said(found))
    assert.match(found.why, worker ? /one per core|one core/ : /a window may not wait/)
  })
  test(`${name}: in the page's thread under a policy without blob:`, options, async () => {
    const found = await visit(pages.strict.address, told)
    assert.deepEqual([found.answer, found.worker, found.threads], ['star', false, 1], said(found))
    assert.match(found.why, /in the page's thread: the worker could not start \(found "/)
  })
  test(
    `${name}: <attention-map> with a picture and a model of another origin`,
    options,
    async () => {
      const found = await visit(pages.element.address, told)
      assert.equal(found.row, 197, found.message)
      assert.match(found.label, /38\.3 × uniform/)
    }
  )
  test(`${name}: who insists on a worker is told`, options, async () => {
    const found = await visit(pages.insisting.address, told)
    assert.deepEqual([found.name, found.status], ['HeedError', 'INTERNAL'], JSON.stringify(found))
    assert.match(found.message, /^(worker|createRuntime): failed \(found "/)
  })
}
