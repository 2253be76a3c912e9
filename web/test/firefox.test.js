/* The main path of each page in Firefox, by mouse and by keyboard alone; its console stays empty. One browser for all. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import test, { after, before } from 'node:test'
import puppeteer from 'puppeteer-core'
import { site } from './browser.js'
import { serve } from '../serve.js'

const executablePath = process.env.HEED_FIREFOX ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync)
const inFirefox = executablePath ? {} : { skip: 'no Firefox here' }
const patience = 90000
let firefox, server

before(async () => {
  if (!executablePath) return
  server = await serve(site)
  firefox = await puppeteer.launch({ browser: 'firefox', executablePath, headless: true, protocolTimeout: 180000 })
})
after(async () => {
  await firefox?.close()
  server?.close()
})

/* Opens a page, calls use(page, until), and looks that nothing was said or thrown. */
async function visit(path, use) {
  const page = await firefox.newPage(), faults = []
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(String(error.stack ?? error)))
  const until = (condition, ...args) => page.waitForFunction(condition, { timeout: patience, polling: 100 }, ...args)
  try {
    await page.setViewport({ width: 1366, height: 768 })
    await page.goto(server.address + path)
    await until(() => document.documentElement.dataset.ready === 'true')
    await use(page, until)
    assert.deepEqual(faults, [])
  } catch (error) {
    error.message += `\n${faults.join('\n')}`
    throw error
  } finally {
    await page.close()
  }
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent)

/* Tab until the element that has the focus fits. */
async function tabTo(page, selector) {
  for (let i = 0; i < 60; i++) {
    if (await page.evaluate((selector) => document.activeElement.matches(selector), selector)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`Tab does not lead to ${selector}`)
}

test('explorer', inFirefox, () => visit('', async (page, until) => {
  assert.match(await text(page, '#caption'), /most to patch \(10, 1\): 19\.9 % = 39\.2 × uniform/)
  await (await page.$$('#patches [role=gridcell]'))[14 * 10 + 1].click()
  await until(() => location.hash === '#q=10.1')
  await page.focus('#tab-heads')
  await tabTo(page, '#patches *')
  for (const key of ['ArrowUp', ']', '.', 'c']) await page.keyboard.press(key)
  await until(() => document.getElementById('stage-title').textContent === 'Layer 4, head 1: from CLS')
  await page.click('#tab-statistics') // fetched now: a service worker that does not answer would keep it away
  await until(() => document.querySelector('#view table'))
}))

test('learn', inFirefox, () => visit('learn.html', async (page, until) => {
  await until(() => document.getElementById('agreement').dataset.passed === 'true')
  await tabTo(page, '#query input')
  await page.keyboard.press('ArrowUp')
  await until(() => document.querySelector('#weights td button').textContent !== '0.331')
  await page.hover('#output td button')
  await until(() => document.querySelector('#formula math'))
  await page.click('#run-real')
  await until(() => document.getElementById('real').dataset.shown === '3.0')
  assert.match(await text(page, '#real-rows'), /patch \(10, 1\)/)
}))

test('masks', inFirefox, () => visit('masks.html', async (page, until) => {
  await tabTo(page, '#window')
  await page.keyboard.press(' ')
  await until(() => document.querySelector('#factors [data-name=window] table'))
  await page.click('#factors [data-name=painted] td button')
  await until(() => document.querySelector('#joined td span').textContent === '0')
  await until(() => document.getElementById('agreement').dataset.passed === 'true')
}))

test('bench', inFirefox, () => visit('bench.html', async (page, until) => {
  await tabTo(page, '#runs')
  for (const key of ['Delete', 'Delete', 'Backspace', 'Backspace', '3', 'Tab', 'Enter']) await page.keyboard.press(key)
  await until(() => document.querySelectorAll('#op-times tr').length === 6)
  assert.ok((await page.$$('#times tr')).length >= 2)
}))

test('embed', inFirefox, () => visit('embed.html', async (page, until) => {
  await until(() => /39\.2 × uniform/.test(document.getElementById('said').textContent))
  await page.select('#head', 'mean')
  await until(() => /^Layer 3, mean of the heads/.test(document.getElementById('said').textContent))
  await tabTo(page, '#layer')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Tab')
  await until(() => /^Layer 4, mean of the heads/.test(document.getElementById('said').textContent))
}))
