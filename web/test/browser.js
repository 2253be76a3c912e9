/* A Chromium with the site, for tests of pages. Everything that the page says to the console,
 * throws or breaks of the policy is kept and must be nothing. Without `offline` no service worker
 * is installed, so that a test does not fetch all files again. HEED_CHROMIUM and HEED_WEB_SITE name
 * others. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { serve } from '../serve.js'
import { repository } from './package.js'

/** @import {BrowserContextOptions, Page, Request} from 'playwright-core' */

/**
 * A page of a browser with what it broke: errors, warnings, failed requests.
 * @typedef {Page & {faults: string[]}} TestPage
 * @typedef {Awaited<ReturnType<typeof startBrowser>>} TestBrowser
 * @typedef {{x: number, y: number, width: number, height: number}} Box
 * @typedef {BrowserContextOptions & {ready?: boolean, offline?: boolean, modules?: boolean}} OpenOptions
 */

export const site = process.env.HEED_WEB_SITE ?? join(repository, 'build/web/site')
/** The pages module by module. */
export const plain = join(site, '../plain')
/* The shell has no windows of its own, which Chromium without a screen draws too: a page costs a fifth
 * of the time. It has no camera. */
const whole = ['/usr/bin/chromium', '/usr/bin/chromium-browser'],
  shell = ['/usr/bin/chromium-headless-shell', ...whole]
const args = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]
const pictures = join(repository, 'build/web/screenshots')
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/* Which menu has a control; opened first, as a person would. */
const menus = /** @type {Record<string, RegExp>} */ ({
  open: /^#(open-\w+|camera)$|^#library /,
  model: /^#(tensors|size|fit.*)$|^\[data-(fit|device)|^#model-origin button/,
  display: /^#(scale|score|style|colours|strength|lock|reverse|stage-table)$/,
  finder: /\[name=(sort|descending|filter|mean)\]$/,
  'head-menu': /^#(pin|compare|ablate)$/,
  save: /^#(save-\w+|code|png-times)$/
})

/**
 * @param {Page} page
 * @param {string} selector
 */
async function openMenuOf(page, selector) {
  const [menu] = Object.entries(menus).find(([, controls]) => controls.test(selector)) ?? []
  if (!menu) return
  await page.evaluate((menu) => {
    const found = document.getElementById(menu)
    if (found instanceof HTMLDetailsElement) found.open = true
    else if (found && !found.matches(':popover-open')) {
      const source = /** @type {HTMLElement} */ (
        document.querySelector(`[popovertarget="${menu}"]`)
      )
      source.focus()
      found.showPopover(/** @type {any} */ ({ source }))
    }
  }, menu)
  await page.locator(selector).first().waitFor({ state: 'attached' })
}

/**
 * A page that opens the menu first that a control is in.
 * @param {Page} page
 */
function withMenus(page) {
  const acts = /** @type {Record<string, any>} */ (/** @type {unknown} */ (page))
  for (const name of ['click', 'fill', 'focus', 'isDisabled', 'selectOption', 'waitForSelector']) {
    const act = acts[name]
    acts[name] = async (/** @type {string} */ selector, /** @type {unknown[]} */ ...rest) => {
      await openMenuOf(page, selector)
      return act.call(page, selector, ...rest)
    }
  }
  return page
}

/**
 * Puts what failed of a page's requests among its faults. Those of a document that was left end with
 * it: whether any is under way then depends on how fast they come.
 * @param {TestPage} page
 */
function keepFailed(page) {
  let documents = 0,
    leaving = false,
    ended = /** @type {string[]} */ ([]) // by the document that is shown, or by leaving it
  const documentOf = /** @type {WeakMap<Request, number>} */ (new WeakMap())
  page.on('request', (request) => {
    documentOf.set(request, documents)
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) leaving = true
  })
  page.on('framenavigated', (frame) => {
    if (!leaving || frame !== page.mainFrame()) return // to another hash
    leaving = false
    documents++
    page.faults = page.faults.filter((fault) => !ended.includes(fault))
    ended = []
  })
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText,
      fault = `${request.url()}: ${reason}`
    if (request.method() === 'HEAD') return // answers without a body count as ended
    if (reason === 'net::ERR_ABORTED') {
      // The browser itself fetches the icon, and drops it when a test goes to another address.
      if (request.url().endsWith('/icon.svg') || documentOf.get(request) !== documents) return
      ended.push(fault)
    }
    page.faults.push(fault)
  })
}

/**
 * Whether a message of the console is that a folder has no processor_config.json: few have, and
 * where it is there it comes first, so each folder is asked for it.
 * @param {import('playwright-core').ConsoleMessage} message
 */
const isOptional = (message) =>
  /404/.test(message.text()) && message.location().url.endsWith('/processor_config.json')

/**
 * Resolves to { open(path, options), asked (the files that the server was asked for), stop (the
 * server), close }. open gives a page that is ready; its `faults` must stay empty. With `modules`
 * its scripts are fetched module by module, for tests that import some; else they are bundled.
 * @param {{isolated?: boolean, camera?: boolean, flags?: string[]}} [options] flags: more of the browser's own
 */
export async function startBrowser({ isolated = true, camera = false, flags = [] } = {}) {
  await mkdir(pictures, { recursive: true })
  const executablePath = process.env.HEED_CHROMIUM ?? (camera ? whole : shell).find(existsSync)
  const server = await serve(site, { isolated }),
    browser = await chromium.launch({ executablePath, args: [...args, ...flags] })
  /** @type {ReturnType<typeof serve> | undefined} */
  let modulesServer
  /**
   * @param {string} [path] default: the explorer with all of its controls. '' is the zoom, which a page without a hash opens with
   * @param {OpenOptions} [options]
   * @returns {Promise<TestPage>}
   */
  async function open(
    path = '#v=heads',
    { ready = true, offline = false, modules = false, ...options } = {}
  ) {
    const opened = await browser.newPage({
      viewport: { width: 1366, height: 768 },
      serviceWorkers: offline ? 'allow' : 'block',
      ...options
    })
    const page = Object.assign(withMenus(opened), { faults: /** @type {string[]} */ ([]) })
    page.on(
      'console',
      (message) =>
        ['error', 'warning'].includes(message.type()) &&
        !message.text().startsWith('Service Worker registration blocked') &&
        !isOptional(message) &&
        page.faults.push(message.text())
    )
    page.on('pageerror', (error) => page.faults.push(String(error.stack)))
    keepFailed(page)
    const { address } = modules ? await (modulesServer ??= serve(plain, { isolated })) : server
    await page.goto(address + path)
    if (ready) await page.waitForSelector('html[data-ready]', { timeout: 60000 })
    return page
  }
  return {
    open,
    address: server.address,
    asked: server.asked,
    stop: () => server.close(),
    close: async () => {
      await browser.close()
      server.close()
      ;(await modulesServer)?.close()
    }
  }
}

/**
 * Takes a picture of the whole page into build/web/screenshots.
 * @param {Page} page
 * @param {string} name
 */
export const takePicture = (page, name) =>
  page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })

/**
 * Takes a picture of the page, looks that it broke nothing, and closes it.
 * @param {TestPage} page
 * @param {string} [name]
 */
export async function finish(page, name) {
  if (name) await takePicture(page, name)
  const { faults } = page
  await page.context().close()
  assert.deepEqual(faults, [])
}

/**
 * What axe finds in a part of a page; seconds for a whole one. The page is opened with bypassCSP,
 * as the script is none of its own.
 * @param {Page} page
 * @param {string} [part]
 * @param {{runOnly?: string[], rules?: Record<string, {enabled: boolean}>}} [rules] all of them without
 * @returns {Promise<string[]>}
 */
export async function violations(page, part = 'html', rules = {}) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.addScriptTag({ path: axe })
  const { violations } = await page.evaluate(
    ([part, rules]) => /** @type {any} */ (window).axe.run(part, rules),
    /** @type {const} */ ([part, rules])
  )
  return violations.map(
    (/** @type {any} */ { id, nodes }) =>
      `${id}: ${nodes[0].html.slice(0, 200)} ${nodes[0].failureSummary}`
  )
}
