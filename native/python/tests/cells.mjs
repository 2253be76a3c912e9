/* Cells in Chromium: node cells.mjs URL PICTURE STEPS prints what a person meets there, as JSON. The first cell of the page gets the steps, one
 * after the other: "hover ROW COLUMN" of a grid of patches, "layer N", "head N", "key NAME", "cls". With --execute the page is a classic notebook,
 * whose cells are run first. Nothing but this machine answers. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const [url, picture, steps] = process.argv.slice(2),
  execute = process.argv.includes('--execute'),
  axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  local = url.startsWith('file:') ? 'file:' : new URL(url).origin

/** Of the frame of the cell, or of the page. */
async function violations(frame, part) {
  await frame.addScriptTag({ path: axe })
  const found = await frame.evaluate((part) => window.axe.run(part), part)
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`)
}

async function runNotebook(page) {
  await page.waitForFunction(() => window.Jupyter?.notebook?.kernel?.is_connected())
  await page.evaluate(() => window.Jupyter.notebook.execute_all_cells())
  await page.waitForFunction(() =>
    window.Jupyter.notebook
      .get_cells()
      .every((cell) => cell.cell_type !== 'code' || Number(cell.input_prompt_number) > 0)
  )
}

async function act(page, frame, step) {
  const [word, ...rest] = step.split(' '),
    map = frame.locator('canvas[role=img]')
  if (word === 'layer' || word === 'head')
    await frame.locator('select').nth(word === 'head' ? 1 : 0).selectOption(rest[0])
  else if (word === 'cls') await frame.locator('input').setChecked(true)
  else if (word === 'key') await map.press(rest[0])
  else {
    const box = await map.boundingBox(),
      [row, column, rows, columns] = rest.map(Number)
    await page.mouse.move(
      box.x + ((column + 0.5) / columns) * box.width,
      box.y + ((row + 0.5) / rows) * box.height
    )
  }
  return frame.locator('[role=status]').textContent()
}

const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync),
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'] }),
  page = await browser.newPage({ viewport: { width: 1100, height: 900 } }),
  faults = [],
  asked = []
page.setDefaultTimeout(120000)
page.on('pageerror', (error) => faults.push(String(error)))
page.on('request', (request) => {
  if (!/^(data|blob|about):/.test(request.url()) && !request.url().startsWith(local))
    asked.push(request.url())
})
await page.goto(url, { waitUntil: 'domcontentloaded' })
if (execute) await runNotebook(page)
const cells = page.locator('iframe[title^=heed]')
await cells.first().scrollIntoViewIfNeeded()
const frame = await (await cells.first().elementHandle()).contentFrame(),
  status = frame.locator('[role=status]')
await status.waitFor()
const words = [await status.textContent()]
for (const step of steps.split(',')) words.push(await act(page, frame, step))
await page.screenshot({ path: fileURLToPath(new URL(picture, 'file:///')) })
const found = {
  words,
  label: await frame.locator('canvas[role=img]').getAttribute('aria-label'),
  cells: await cells.count(),
  pictures: await page.locator('.output_png img, .jp-RenderedImage img, .output_area img').count(),
  violations: await violations(frame, 'body'),
  asked,
  faults
}
await browser.close()
console.log(JSON.stringify(found))
