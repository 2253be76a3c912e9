/* What a closed model leaves behind: nothing. The memory of a page's process, as the system counts it,
 * after three ViT-B and the demo model again. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from '../browser.js'
import { memoryOf, openDemo, openLarge, settles } from '../page_memory.js'
import { randomVit } from '../random_vit.js'
/** @import {TestBrowser} from '../browser.js' */

/** @type {TestBrowser} */
let browser
/** @type {string} */
let folder
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heed-memory-'))
  browser = await startBrowser()
})
after(async () => {
  rmSync(folder, { recursive: true, force: true })
  await browser.close()
})

test('three ViT-B and the demo model again: no more memory than before', async () => {
  const { weights, config, preprocessor } = randomVit(),
    files = Object.entries({
      'model.safetensors': weights,
      'config.json': config,
      'preprocessor_config.json': preprocessor
    }).map(([name, bytes]) => {
      writeFileSync(join(folder, name), bytes)
      return join(folder, name)
    }),
    page = await browser.open(),
    start = await memoryOf(page),
    open = []
  for (let i = 0; i < 3; i++) {
    open.push(await openLarge(page, files))
    await openDemo(page)
  }
  const end = await settles(page, start + 60)
  const said = `${Math.round(start)} MB at first, ${open.map(Math.round).join(', ')} with each model, ${Math.round(end)} MB at last`
  console.log(said)
  assert.ok(Math.min(...open) > start + 100, said)
  assert.ok(end <= start + 60, said)
  await finish(page)
})
