/* Tells the service worker which files to keep: their list, those that one language alone has, and a
 * version made of what is in them, before SITE/service_worker.js. */
import { createHash } from 'node:crypto'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/* The demo model's weights are kept deflated: the service worker inflates them. */
const leftOut =
  /\.(d\.ts|py)$|^learn\/step-.*\.svg$|^heed\/demo\/model\.safetensors$|(^|\/)(README\.md|LICENSE|package\.json|policy\.txt|service_worker\.js)$/

/**
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
async function walk(folder) {
  const entries = await readdir(folder, { withFileTypes: true })
  return (
    await Promise.all(
      entries.map((entry) =>
        entry.isDirectory() ? walk(join(folder, entry.name)) : join(folder, entry.name)
      )
    )
  ).flat()
}

/**
 * The files in a folder and its folders, as paths from it with slashes.
 * @param {string} folder
 */
export const filesOf = async (folder) =>
  (await walk(folder)).map((file) => relative(folder, file).split(sep).join('/'))

/**
 * @param {string} site
 * @param {Record<string, string[]>} languages files that a language may have alone, but for English
 */
export async function listForOffline(site, languages) {
  const hash = createHash('sha256'),
    worker = join(site, 'service_worker.js')
  const files = (await filesOf(site)).filter((file) => !leftOut.test(file)).sort()
  for (const file of files) hash.update(file).update(await readFile(join(site, file)))
  const text = await readFile(worker, 'utf8')
  hash.update(text)
  const others = Object.fromEntries(
      Object.entries(languages).map(([language, own]) => [
        language,
        files.filter(
          (file) =>
            new RegExp(`\\.${language}\\.html$|^languages/${language}\\.js$`).test(file) ||
            own.includes(file)
        )
      ])
    ),
    apart = new Set(Object.values(others).flat()),
    common = files.filter((file) => !apart.has(file))
  await writeFile(
    worker,
    `const version = '${hash.digest('hex').slice(0, 16)}', files = ${JSON.stringify(['./', ...common])}, languages = ${JSON.stringify(others)}\n${text}`
  )
}
