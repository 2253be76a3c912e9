/* The reference figures of the page of measurements: it measures itself in Chromium and Firefox,
 * isolated, and what it would copy as JSON becomes web/pages/bench/bench_baselines.json. Take a quiet
 * machine.
 *
 *   node tests/bench/baselines.mjs "MACHINE" [RUNS] [SITE]     after ./dev web once, and npm ci
 */
import { existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve } from '../../web/serve.js'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..'),
  [machine = 'not named', runs = '20', site = join(root, 'build/web/site')] = process.argv.slice(2)
const { default: puppeteer } = await import(
  createRequire(join(root, 'web/test/package.json')).resolve('puppeteer-core')
)
const first = (...paths) => paths.find((path) => path && existsSync(path))
const browsers = {
  Chromium: {
    browser: 'chrome',
    executablePath: first(
      process.env.HEED_CHROMIUM,
      '/usr/bin/chromium',
      '/usr/bin/chromium-browser'
    ),
    args: ['--no-sandbox', '--disable-quic', '--no-first-run']
  },
  Firefox: {
    browser: 'firefox',
    executablePath: first(process.env.HEED_FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox')
  }
}

const tidy = (value) =>
  typeof value === 'number'
    ? Number(value.toPrecision(4))
    : Array.isArray(value)
      ? value.map(tidy)
      : value && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, tidy(part)]))
        : value

async function measure(name, { executablePath, ...options }, address) {
  if (!executablePath) throw new Error(`no ${name} here`)
  const browser = await puppeteer.launch({
    executablePath,
    headless: true,
    ...options,
    protocolTimeout: 600000
  })
  try {
    const page = await browser.newPage()
    await page.goto(`${address}bench.html`)
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true', {
      polling: 100
    })
    await page.$eval(
      '#runs',
      (input, runs) => {
        input.value = runs
      },
      runs
    )
    await page.click('#start')
    await page.waitForFunction(() => document.documentElement.dataset.measured === 'true', {
      timeout: 600000,
      polling: 500
    })
    const { rows, when, environment } = await page.evaluate(
      () =>
        new Promise((done) => {
          Object.defineProperty(navigator, 'clipboard', {
            value: { writeText: async (text) => done(JSON.parse(text)) }
          })
          document.getElementById('copy').click()
        })
    )
    const version = await browser.version()
    return {
      browser: version,
      machine,
      cores: environment.cores,
      date: when.slice(0, 10),
      runs: Number(runs),
      rows: tidy(rows)
    }
  } finally {
    await browser.close()
  }
}

const server = await serve(site),
  found = []
for (const [name, options] of Object.entries(browsers))
  found.push(await measure(name, options, server.address))
server.close()
writeFileSync(
  join(root, 'web/pages/bench/bench_baselines.json'),
  `[\n${found.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`
)
for (const { browser, rows } of found)
  console.log(
    `${browser}: ${rows.map(({ kind, model }) => `${kind} ${model.median} ms`).join(', ')}`
  )
