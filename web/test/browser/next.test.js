/* The example for Next in Next itself: installed, built and started, then opened in Chromium. Next is 340 MB, so this
 * runs in ./dev soak alone; examples.test.js has the same components under react-dom in each run. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { chromium } from 'playwright-core'
import { createRuntime, packageFolder, repository } from '../package.js'
import { writePng } from '../png.js'

/** @param {string} folder */
async function putPicture(folder) {
  const runtime = await createRuntime({ threads: 1 }),
    { image } = await runtime.scene(159)
  runtime.close()
  mkdirSync(join(folder, 'public'))
  writeFileSync(join(folder, 'public/picture.png'), writePng(image.data, image.width, image.height))
}

/**
 * The address that the server prints once it listens.
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, null>} server
 * @returns {Promise<string>}
 */
const addressOf = (server) =>
  new Promise((resolve, reject) => {
    let said = ''
    server.stdout.on('data', (text) => {
      said += text
      const [address] = /http:\/\/localhost:\d+/.exec(said) ?? []
      if (address && said.includes('Ready')) resolve(address)
    })
    server.on('exit', () => reject(new Error(said)))
  })

test('Next: npm install, next build, next start; a map and a class in the page', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'heed-next-')),
    env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    next = join(folder, 'node_modules/next/dist/bin/next')
  t.after(() => rmSync(folder, { recursive: true }))
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: packageFolder })
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  cpSync(join(repository, 'web/examples/next'), folder, { recursive: true })
  await putPicture(folder)
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', `./${tarball}`], {
    cwd: folder
  })
  execFileSync(process.execPath, [next, 'build'], { cwd: folder, env })
  const server = spawn(process.execPath, [next, 'start', '--port', '0'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.after(() => server.kill())
  const browser = await chromium.launch({
    executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox']
  })
  t.after(() => browser.close())
  const page = await browser.newPage()
  await page.goto(await addressOf(server))
  await page.waitForSelector('attention-map canvas[aria-label*="38.3 × uniform"]', {
    timeout: 60000
  })
  await page.waitForSelector('#answer:text-is("star")', { timeout: 60000 })
  assert.equal(await page.title(), 'heed in Next')
})
