/* The pages' modules put together by rollup, so that a page is fetched in few files: one that it
 * starts with, one of views and plots, one of what is done with files. bundle(plain, site) reads
 * PLAIN, where the pages lie as they are written, and resolves to the names that the pages' scripts
 * got in SITE: Map { 'explorer/explorer.js' => 'explorer-1a2b3c4d.js' }. Names hold a hash of the content,
 * so that no page takes a part of another version. attention-map.js and the library keep their
 * names: other pages import them. Nothing where rollup is not installed. */
import { readFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { findTool, smallScript } from './small.js'

const rollup = findTool('@rollup/wasm-node', 'pages load their modules one by one')

/* Files of the library find their own by import.meta.url, which is another place here. */
const ownAddress = (plain) => ({
  name: 'own-address',
  resolveImportMeta: (property, { moduleId }) =>
    property === 'url' && moduleId.startsWith(join(plain, 'heed'))
      ? `new URL('./heed/${basename(moduleId)}', import.meta.url)`
      : null
})

/* Pages never run in Node: what the library has for it is left out. */
const inBrowsers = (plain) => ({
  name: 'in-browsers',
  async load(id) {
    if (id !== join(plain, 'heed/host.js')) return null
    const text = await readFile(new URL('./src/host.js', import.meta.url), 'utf8'),
      made = text.replace(/^export const inNode =\s.*$/m, 'export const inNode = false')
    return made === text ? this.error('src/host.js does not say whether it is in Node') : made
  }
})

const small = {
  name: 'small',
  renderChunk: async (code) => ({ code: await smallScript(code), map: null })
}

/* What a module imports, by itself and by what it imports. */
function fromStart(id, getModuleInfo, found = new Set()) {
  if (found.has(id)) return found
  found.add(id)
  for (const next of getModuleInfo(id)?.importedIds ?? []) fromStart(next, getModuleInfo, found)
  return found
}

/* In which part a module of the explorer goes: what it starts with, and asks for by itself once
 * there is a map (together they are smaller than in two scripts); of the others what views need,
 * what the rest needs, what both need. */
const afterMap = 'explorer/model/model_origin.js'
/* Small, and asked for while somebody waits: the numbers on phones, the first change of the
 * attention. */
const soon = new Map([
  ['number_sheet.js', 'sheet'],
  ['write_changes.js', 'changing'],
  ['explain.js', 'changing'],
  ['module.js', 'changing']
])

function partOf(entry, plain) {
  const from = (ids, getModuleInfo) =>
    new Set([...ids].flatMap((id) => [...fromStart(id, getModuleInfo)]))
  return (id, { getModuleInfo, getModuleIds }) => {
    const start = from([entry, join(plain, afterMap)], getModuleInfo)
    if (start.has(id)) return 'explorer'
    if (soon.has(basename(id))) return soon.get(basename(id))
    const asked = [...getModuleIds()].filter(
        (other) => !start.has(other) && getModuleInfo(other).dynamicImporters.length
      ),
      isView = (other) => other.startsWith(join(plain, 'explorer/views'))
    const views = from(asked.filter(isView), getModuleInfo).has(id),
      rest = from(
        asked.filter((other) => !isView(other)),
        getModuleInfo
      ).has(id)
    return views && rest ? 'shared' : views ? 'views' : 'files'
  }
}

async function build(
  plain,
  inputs,
  folder,
  { plugins = [], manualChunks, external = [], name = '[name]-[hash].js' }
) {
  const made = await rollup.rollup({
    input: inputs,
    external,
    preserveEntrySignatures: name === '[name].js' ? 'strict' : false,
    plugins: [...plugins, small],
    onwarn: ({ message }) => console.log(`bundle: ${message}`)
  })
  const { output } = await made.write({
    dir: folder,
    format: 'es',
    manualChunks,
    entryFileNames: name,
    chunkFileNames: name,
    hashCharacters: 'hex',
    generatedCode: 'es2015'
  })
  await made.close()
  return output
    .filter(({ isEntry }) => isEntry)
    .map(({ facadeModuleId, fileName }) => [relative(plain, facadeModuleId), fileName])
}

export async function bundle(plain, site) {
  if (!rollup) return new Map()
  const at = (name) => join(plain, name),
    library = (id) => id.startsWith(at('heed'))
  const alone = [at('attention-map.js'), at('heed/engine.js')],
    common = { plugins: [ownAddress(plain), inBrowsers(plain)], external: alone }
  await build(plain, [at('attention-map.js')], site, {
    external: (id, parent, resolved) => resolved && library(id),
    name: '[name].js'
  })
  for (const worker of ['heed/worker.js', 'heed/thread.js'])
    await build(plain, [at(worker)], join(site, 'heed'), {
      plugins: [inBrowsers(plain)],
      name: '[name].js'
    })
  const explorer = await build(plain, [at('explorer/explorer.js')], site, {
    ...common,
    manualChunks: partOf(at('explorer/explorer.js'), plain)
  })
  return new Map([
    ...explorer,
    ...(await build(
      plain,
      ['learn', 'masks', 'bench', 'embed'].map((page) => at(`${page}/${page}.js`)),
      site,
      { ...common, manualChunks: undefined }
    ))
  ])
}
