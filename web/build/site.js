/* The pages with the package beside them, as static files to be served from any folder:
 * node site.js PACKAGE SITE. SITE has their scripts bundled by rolldown; SITE/../plain has
 * them module by module (plain.js). */
import { cp, rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawFirst } from './first.js'
import { listForOffline } from './offline.js'
import { bundle, bundleSources, workers } from './package.js'
import { pages, putPages } from './pages.js'
import { putFiles, putPlain } from './plain.js'
import { weigh } from './sizes.js'

/* attention-map.js is fetched by its own name, also where a page takes the element's words, which it passes on:
 * the page and the element share them. */
const published = {
  name: 'published',
  resolveId: (/** @type {string} */ id) =>
    id === '../attention-map.js' || id === '../heed/element.js'
      ? { id: './attention-map.js', external: /** @type {const} */ ('absolute') }
      : null
}

/**
 * The scripts of pages.
 * @param {string[]} files
 * @param {string} dir
 * @param {import('rolldown').CodeSplittingOptions['groups']} [groups]
 */
const bundlePage = (files, dir, groups) =>
  bundle(
    {
      input: Object.fromEntries(files.map((file) => [basename(file, '.js'), file])),
      preserveEntrySignatures: false,
      plugins: [published]
    },
    {
      dir,
      entryFileNames: '[name]-[hash].js',
      codeSplitting: groups ? { includeDependenciesRecursively: false, groups } : true
    }
  )

/**
 * What the explorer starts with is one file, since on a slow line each costs a round trip; what
 * several later parts share is another. The other pages have scripts of their own.
 * @param {string} plain
 * @param {string} site
 */
async function bundlePages(plain, site) {
  const { index, ...others } = pages,
    explorer = join(plain, index),
    start = /** @type {Set<string>} */ (new Set())
  /** @param {string} id @param {import('rolldown').ChunkingContext} context */
  const follow = (id, context) => {
    if (start.has(id)) return
    start.add(id)
    for (const other of context.getModuleInfo(id)?.importedIds ?? []) follow(other, context)
  }
  return [
    ...(await bundlePage([explorer], site, [
      {
        debugName: 'start',
        name(id, context) {
          follow(explorer, context)
          return start.has(id) ? 'start' : null
        }
      },
      { name: 'shared', minShareCount: 2 }
    ])),
    ...(await bundlePage(
      Object.values(others).map((file) => join(plain, file)),
      site
    ))
  ]
}

/** @type {import('./pages.js').ScriptOf} */
export const plainScript = (page) => ({ script: pages[page], preload: [] })

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [packageFolder, site] = process.argv.slice(2).map((path) => resolve(path)),
    plain = join(site, '../plain')
  for (const folder of [plain, site]) await rm(folder, { recursive: true, force: true })
  await putPlain(packageFolder, plain)
  await putFiles(packageFolder, site)
  /* The package's workers in parts: what a first map does not need of them comes when asked for. */
  await bundleSources(workers, join(site, 'heed'), { chunkFileNames: 'worker-[hash].js' })
  await cp(join(plain, 'attention-map.js'), join(site, 'attention-map.js'))
  const [chunks, first] = await Promise.all([bundlePages(plain, site), drawFirst(plain)])
  /** @type {import('./pages.js').ScriptOf} */
  const scriptOf = (page, language) => {
    const entry = chunks.find(({ facadeModuleId }) => facadeModuleId === join(plain, pages[page])),
      words = chunks.find(({ name }) => name === language)
    if (!entry || !words) throw new Error(`${page}: rolldown made no script of it`)
    return { script: entry.fileName, preload: [...entry.imports, words.fileName] }
  }
  await putPages(site, first, scriptOf)
  await putPages(plain, first, plainScript)
  await weigh(site, scriptOf('index', 'en').script, packageFolder)
  await cp(join(site, 'sizes.json'), join(plain, 'sizes.json'))
  for (const folder of [site, plain]) await listForOffline(folder)
}
