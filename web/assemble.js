/* Puts the pages together with the package beside them, as static files to be served from any
 * folder: node assemble.js PACKAGE SITE CHECK.... SITE/../plain gets them as they are written,
 * module by module; SITE bundled (bundle.js) and minified, or module by module where esbuild is not
 * installed. Both have the picture and map that stand there before any script runs (first.js), sizes
 * and a list for use offline. CHECK are the modules check-NAME.wasm: checks/NAME.wasm runs cases on the kernels of heed/NAME.wasm, for who
 * makes checks/ the base of a runtime. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, deflateRawSync } from 'node:zlib'
import { bundle } from './bundle.js'
import { drawFirst } from './first.js'
import { minifyScript, minifyStyle, readScript } from './minify.js'
import { filesOf, listForOffline } from './offline.js'
import { policy, policyFile } from './serve.js'
import { views } from './pages/explorer/views/view_list.js'
import { weigh } from './sizes.js'
import { addStills } from './stills.js'
import { addresses, inPage, languageAt, languages, pageIn } from './words.js'

const [packageFolder, site, ...checks] = process.argv.slice(2).map((path) => resolve(path)),
  plain = join(site, '../plain')
/** @param {string} name */
const source = (name) => fileURLToPath(new URL(name, import.meta.url))

/**
 * @param {string} file
 * @param {(text: string) => string | Promise<string>} to
 */
async function rewrite(file, to) {
  await writeFile(file, await to(await readFile(file, 'utf8')))
}

/* In the page from the start, so that nothing moves when its script runs. */
const tabs = Object.keys(views).map(
  (name) =>
    `<button type="button" role="tab" id="tab-${name}" aria-controls="view">{{view.${name}}}</button>`
)

/**
 * What every page has, in the place of <!-- parts/NAME.html -->: the policy is the server's, the
 * link to the page itself says so.
 * @param {string} text
 * @param {string} page
 */
async function withParts(text, page) {
  for (const [mark, indent, part] of text.matchAll(/^( *)<!-- (parts\/\w+\.html) -->$/gm)) {
    const lines = (await readFile(source(part), 'utf8'))
      .trimEnd()
      .replace('POLICY', policy)
      .replace(
        `<a href="${page === 'index.html' ? './' : page}">`,
        (link) => `${link.slice(0, -1)} aria-current="page">`
      )
    text = text.replace(mark, lines.replace(/^/gm, indent))
  }
  return text.replace(/^( *)<!-- tabs of .* -->$/m, (_, indent) =>
    tabs.map((tab) => indent + tab).join('\n')
  )
}

/**
 * With the names of languages in letters that the page's own font has; language.js has the others.
 * @param {string} text
 */
const withEnglishNames = (text) =>
  text.replace(
    /(<option value="(\w+)" lang="[\w-]+">)[^<]+/g,
    (_, tag, language) => tag + new Intl.DisplayNames('en', { type: 'language' }).of(language)
  )

/**
 * A page at an address; what it leads to is at the same where it is there.
 * @param {string} text
 * @param {string} address
 * @param {string[]} translated pages
 */
function inLanguage(text, address, translated) {
  const language = languageAt(address)
  for (const page of translated)
    text = text.replaceAll(`href="${page}"`, `href="${pageIn(page, address)}"`)
  if (address) text = text.replaceAll('href="./"', `href="${pageIn('index.html', address)}"`)
  if (language === 'en') text = withEnglishNames(text)
  return inPage(text, languages[language])
    .replace('<html lang="en">', `<html lang="${language}">`)
    .replace(`<option value="${language}"`, '$& selected')
}

/* Those with a choice of languages are at each address. */
async function putPages() {
  const names = (await readdir(plain)).filter((name) => name.endsWith('.html')),
    texts = await Promise.all(
      names.map(async (name) => withParts(await readFile(join(plain, name), 'utf8'), name))
    ),
    translated = names.filter((_, i) => texts[i].includes('id="language"'))
  for (const [i, name] of names.entries())
    for (const address of translated.includes(name) ? addresses : [''])
      await writeFile(join(plain, pageIn(name, address)), inLanguage(texts[i], address, translated))
}

/* The scripts beside the modules are the library's. */
async function putChecks() {
  const folder = join(plain, 'checks')
  await mkdir(folder)
  for (const file of checks) await cp(file, join(folder, basename(file).replace(/^check-/, '')))
  await cp(join(packageFolder, 'heed-check.wasm'), join(folder, 'heed-scalar.wasm'))
  for (const name of ['worker.js', 'thread.js'])
    await writeFile(join(folder, name), `import '../heed/${name}'\n`)
}

/* The package with its scripts as they are written, for the modules that it has. */
async function putLibrary() {
  const folder = join(plain, 'heed'),
    without = existsSync(join(packageFolder, 'heed-relaxed.wasm'))
      ? undefined
      : '\\./heed-(text-|int8-|graph-)?relaxed'
  await cp(packageFolder, folder, {
    recursive: true,
    filter: (file) => !file.endsWith('.js') || file.startsWith(join(packageFolder, 'plot/'))
  })
  for (const name of (await readdir(source('src'), { recursive: true })).filter((name) =>
    name.endsWith('.js')
  ))
    await writeFile(join(folder, name), await readScript(join(source('src'), name), without))
}

async function putPlain() {
  await rm(plain, { recursive: true, force: true })
  await cp(source('pages'), plain, { recursive: true })
  await cp(source('plot'), join(plain, 'plot'), { recursive: true })
  await cp(source('examples'), join(plain, 'examples'), { recursive: true })
  await putLibrary()
  await putChecks()
  await putPages()
  const { rules, map, mark, most } = await drawFirst(packageFolder, plain)
  await addStills(plain)
  const { meta, hash } = await demoWeights()
  for (const address of addresses)
    for (const page of ['index.html', 'learn.html']) // these fetch by demo_files.js
      await rewrite(join(plain, pageIn(page, address)), (text) =>
        text
          .replace('</head>', `${meta}\n</head>`)
          .replace('<!-- rules of the demo model -->', rules)
          .replace('src="MAP"', `src="data:image/png;base64,${map.toString('base64')}"`)
          .replace('<!-- mark of the query -->', mark)
          .replace(
            '<tbody id="most"></tbody>',
            `<tbody id="most">${most(patchIn(languageAt(address)))}</tbody>`
          )
          .replace('<!-- of the demo model -->', hash)
      )
}

/** A patch's name in a language. @param {string} language */
const patchIn = (language) => (/** @type {number} */ row, /** @type {number} */ column) =>
  languages[language]['caption.patch']
    .replace('{row}', String(row))
    .replace('{column}', String(column))

/* What demo_files.js expects, with the weights deflated beside them, and the size of a module (the largest) for the bar of
 * start_progress.js; the hash as model_origin.js shows one. */
async function demoWeights() {
  const bytes = await readFile(join(packageFolder, 'demo/model.safetensors')),
    deflated = deflateRawSync(bytes, { level: 9, strategy: constants.Z_HUFFMAN_ONLY, memLevel: 9 })
  await writeFile(join(plain, 'heed/demo/model.safetensors.deflate'), deflated)
  const modules = (await readdir(packageFolder)).filter((name) =>
      /^heed(-relaxed|-scalar)?(-threads)?\.wasm$/.test(name)
    ),
    sizes = await Promise.all(
      modules.map(async (name) => (await stat(join(packageFolder, name))).size)
    )
  const sum = createHash('sha256').update(bytes).digest('hex'),
    short = `${sum.slice(0, 8)}…`
  return {
    meta: `<meta name="demo-weights" content="${deflated.length} ${sum} ${Math.max(...sizes)}">`,
    hash: `<button type="button" class="plain" title="${sum}  model.safetensors" aria-label="SHA-256 of the weights, ${short} Copy all of it.">${short}</button>`
  }
}

/**
 * A page without the indents, quotes and end tags that HTML does not need, with the script that it
 * has in the site.
 * @param {string} text
 * @param {Map<string, string>} names
 */
const smallPage = (text, names) =>
  text
    .replace(/\n +/g, '\n')
    .replace(
      /(<script type="module" src=")([^"]+)/,
      (_, before, script) => before + (names.get(script) ?? script)
    )
    .replace(/<\/(li|option|t[dhr]|thead|tbody|head|body|html)>/g, '')
    .replace(/<[^<>]*>/g, (tag) => tag.replace(/="([^\s"'`=<>]*[^\s"'`=<>/])"/g, '=$1'))

/**
 * The scripts of a language by the names that pages have for them.
 * @param {Map<string, string>} names
 * @param {string} language
 */
const namesIn = (names, language) =>
  new Map(
    [...names].flatMap(([page, script]) =>
      page.startsWith(`${language} `)
        ? [/** @type {const} */ ([page.slice(language.length + 1), script])]
        : []
    )
  )

/** @param {string} text */
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/**
 * The explorer with its style and first scripts within: on a slow line each would cost a round trip
 * before the first picture. Its policy names them; policy.txt has it for a server.
 * @param {(file: string) => Promise<string>} read a file of the site
 */
async function putWithin(read) {
  const style = (await read('shared/style.css')).trim(),
    scripts = await Promise.all(
      ['language.js', 'early.js'].map(async (file) => [file, (await read(file)).trim()])
    ),
    named = policy
      .replace("script-src 'self'", `$& ${scripts.map(([, text]) => hashOf(text)).join(' ')}`)
      .replace("style-src 'self'", `$& ${hashOf(style)}`)
  for (const address of addresses)
    await rewrite(join(site, pageIn('index.html', address)), (text) =>
      scripts.reduce(
        (page, [file, script]) =>
          page.replace(new RegExp(`<script src="?${file}"?>`), () => `<script>${script}`),
        text
          .replace(policy, named)
          .replace(/<link rel="?stylesheet"? [^>]*>/, () => `<style>${style}</style>`)
      )
    )
  await writeFile(join(site, policyFile), `${named}\n`)
}

/* Scripts of the pages, the plots and the library are in bundles, or as they are written; all others
 * are files of the site, and so is the package. */
async function putSite() {
  await rm(site, { recursive: true, force: true })
  await mkdir(site, { recursive: true })
  const names = await bundle(plain, site),
    whole = names.size === 0,
    inBundles = /^(?!checks|examples|service_worker|language\.|early\.).*\.js$/
  for (const file of await filesOf(plain)) {
    if (!whole && inBundles.test(file)) continue
    const to = join(site, file)
    await cp(join(plain, file), to)
    if (/^(service_worker|language|early)\.js$/.test(file)) await rewrite(to, minifyScript)
    if (/^\w+\/\w+\.css$/.test(file)) await rewrite(to, minifyStyle)
    const page = /^\w+(?:\.(\w+))?\.html$/.exec(file)
    if (page)
      await rewrite(to, (text) => smallPage(text, new Map([...names, ...namesIn(names, page[1])])))
  }
  await putWithin((file) => readFile(join(site, file), 'utf8'))
  await cp(packageFolder, join(site, 'heed'), { recursive: true, force: false })
  return {
    explorer: names.get('explorer/explorer.js') ?? 'explorer/explorer.js',
    ofLanguages: scriptsOf(names)
  }
}

/**
 * The scripts that each language but English has alone.
 * @param {Map<string, string>} names
 */
function scriptsOf(names) {
  const own = Object.keys(languages)
      .filter((language) => language !== 'en')
      .map(
        (language) => /** @type {const} */ ([language, new Set(namesIn(names, language).values())])
      ),
    english = new Set([...names].filter(([page]) => !page.includes(' ')).map(([, name]) => name))
  return Object.fromEntries(
    own.map(([language, scripts]) => [
      language,
      [...scripts].filter(
        (script) =>
          !english.has(script) &&
          own.every(([other, theirs]) => other === language || !theirs.has(script))
      )
    ])
  )
}

await putPlain()
const { explorer, ofLanguages } = await putSite()
await weigh(site, explorer)
await listForOffline(site, ofLanguages)
await weigh(plain, 'explorer/explorer.js')
await listForOffline(plain, scriptsOf(new Map()))
