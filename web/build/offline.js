/* Tells the service worker which files to keep: their list, those that one language alone has, and a
 * version made of what is in them. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { languages } from './languages.js'
import { small } from './pages.js'
import { filesIn } from './plain.js'

/* The demo model's weights are kept deflated: the service worker inflates them. What is of the GPU is kept
 * once somebody has asked for it. */
const leftOut =
  /(^|\/)(heed-gpu\.wasm|gpu-\w+\.deflate|gpu_side-\w+\.js)$|\.(d\.ts|py)$|^learn\/step-.*\.svg$|^heed\/demo\/model\.safetensors$|(^|\/)(README\.md|LICENSE|notices\.txt|heed\.spdx\.json|package\.json|policy\.txt|service_worker\.js)$/

/**
 * Whether a file is of a language alone: its pages and its texts.
 * @param {string} file
 * @param {string} language
 */
const isOf = (file, language) =>
  file.endsWith(`.${language}.html`) || new RegExp(`^(languages/)?${language}[-.]`).test(file)

/** @param {string} site */
export async function listForOffline(site) {
  const files = (await filesIn(site)).filter((file) => !leftOut.test(file)).sort(),
    hash = createHash('sha256'),
    others = Object.fromEntries(
      Object.keys(languages)
        .filter((language) => language !== 'en')
        .map((language) => [language, files.filter((file) => isOf(file, language))])
    ),
    apart = new Set(Object.values(others).flat())
  for (const file of files) hash.update(file).update(await readFile(join(site, file)))
  const define = {
    version: hash.digest('hex').slice(0, 16),
    files: ['./', ...files.filter((file) => !apart.has(file))],
    languages: others
  }
  await writeFile(
    join(site, 'service_worker.js'),
    await small('service_worker.ts', {
      define: Object.fromEntries(
        Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)])
      )
    })
  )
}
