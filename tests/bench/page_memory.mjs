/* What the explorer's process holds after several ViT-B of random weights were opened one after the
 * other, and the demo model again: MB that the renderer has for itself (Private_Dirty of
 * smaps_rollup), in Chromium.
 *
 *   node tests/bench/page_memory.mjs [MODELS] [zoom]        after ./dev web once, and npm ci
 *
 * Without "zoom" the page opens with all controls. Models run one after the other without the demo
 * model between them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBrowser } from '../../web/test/browser.js'
import { memoryOf, openDemo, openLarge, settles } from '../../web/test/page_memory.js'
import { randomVit } from '../../web/test/random_vit.js'

const [count = '5', view = ''] = process.argv.slice(2),
  most = 120, // MB, what is wanted at the end
  folder = mkdtempSync(join(tmpdir(), 'heed-page-memory-')),
  { weights, config, preprocessor } = randomVit(),
  files = Object.entries({
    'model.safetensors': weights,
    'config.json': config,
    'preprocessor_config.json': preprocessor
  }).map(([name, bytes]) => {
    writeFileSync(join(folder, name), bytes)
    return join(folder, name)
  }),
  browser = await startBrowser()
try {
  const page = await browser.open(view === 'zoom' ? '' : '#v=heads'),
    say = (what, found) => console.log(`${what.padEnd(20)} ${found.toFixed(0).padStart(5)} MB`)
  say('demo model', await memoryOf(page))
  for (let i = 0; i < Number(count); i++)
    say(`ViT-B, number ${i + 1}`, await openLarge(page, files))
  await openDemo(page)
  say('demo model again', await memoryOf(page))
  say('after at most 30 s', await settles(page, most))
} finally {
  await browser.close()
  rmSync(folder, { recursive: true })
}
