/* The pages' modules put together by esbuild, so that a page is fetched in few files: what it starts
 * with, and what is asked for later. bundle(plain, site) reads PLAIN, where the pages lie as they
 * are written, and resolves to the names that the pages' scripts got in SITE:
 * Map { 'learn/learn.js' => 'learn-1A2B3C4D.js' }. Names hold a hash of the content, so that
 * no page takes a part of another version. Another language's script is Map { 'ja masks/masks.js' => … }.
 * All scripts of a language are there under their own names too: Map { 'ja a-1A2B3C4D.js' => 'a-1A2B3C4D.js' }. attention-map.js and the library keep their names: other
 * pages import them. Nothing where esbuild is not installed. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { esbuild, options } from './minify.js'
import { inScript, languages, walk } from './words.js'
/** @import {Metafile, Plugin} from 'esbuild' */

/* Constants of the library's host.js that are names from outside here: pages never run in Node, and
 * the library's files are of their own origin. */
const fixed = { inNode: 'false', inPages: 'true' }

/**
 * @param {string} plain
 * @param {string} path
 */
const isLibrary = (plain, path) => path.startsWith(join(plain, 'heed/'))

/* What index.js has for those who want one call; pages have the objects. */
const oneCall = /^\/\*\* @type \{typeof import\('\.\/look\.js'\)\.\w+\} \*\/\nexport const .*\n/gm

/**
 * A script of the library to which the fixed names are from outside.
 * @param {string} file
 * @param {string} text
 */
function withFixed(file, text) {
  for (const name of Object.keys(fixed)) {
    const said = new RegExp(`^export const ${name} =[^]*?\\n\\n`, 'm')
    if (basename(file) === 'host.js' && !said.test(text))
      throw new Error(`${file} does not say what ${name} is`)
    text = text
      .replace(said, '')
      .replace(new RegExp(`^(import \\{[^}]*)\\b${name}\\b,?\\s?`, 'm'), '$1')
  }
  return text
}

/**
 * A script with a pattern replaced. The file `where` must have it: another form of the same would
 * leave calls and what they call apart.
 * @param {string} file
 * @param {string} text
 * @param {{where: string, pattern: RegExp, by: string}} change
 */
function withChange(file, text, { where, pattern, by }) {
  if (basename(file) === where && text.search(pattern) < 0)
    throw new Error(`${file}: not in the form that web/bundle.js changes (expected ${pattern})`)
  return text.replace(pattern, by)
}

/**
 * A script with each call of a function as `write` makes it of the arguments.
 * @param {string} text
 * @param {string} name
 * @param {(given: string[]) => string} write
 */
function withCalls(text, name, write) {
  let out = '',
    at = 0
  for (const { 0: call, index } of text.matchAll(new RegExp(`(?<!function )\\b${name}\\(`, 'g'))) {
    if (index < at) continue // in an argument of the call before
    const from = index + call.length,
      { commas, end } = walk(text, from, ')'),
      given = [...commas, end].map((to, i) => text.slice(i ? commas[i - 1] + 1 : from, to))
    out += `${text.slice(at, index)}${call}${write(given)})`
    at = end + 1
  }
  return out + text.slice(at)
}

/* Pages hold no arguments against options.js: there is no name of a function or an option to pass,
 * and no kind. */
const definitions = [
  {
    where: 'options.js',
    pattern: /^export const argument = .*/m,
    by: 'export function argument(value) { return value }'
  },
  {
    where: 'options.js',
    pattern: /^(export const checked = inPages \? \()_where, /m,
    by: '$1'
  }
]

/* Bundlers of other pages find modules by literal addresses; here the name is enough. */
const modulesByName = [
  {
    where: 'module.js',
    pattern: /\bown\[name\]\(\)/,
    by: "new URL('./' + name, import.meta.url)"
  },
  {
    where: 'module.js',
    pattern: /^ {2}'(?!heed-relaxed\.wasm)[\w-]+\.wasm': \(\) => new URL\(.*\n/gm,
    by: ''
  }
]

/**
 * A script of the library as pages need it.
 * @param {string} file
 * @param {string} text
 */
function forPages(file, text) {
  for (const change of [...definitions, ...modulesByName]) text = withChange(file, text, change)
  text = withCalls(text, 'argument', ([, , value]) => value)
  return withCalls(text, 'checked', ([, given]) => given)
}

/**
 * The library's engine with what the explorer needs for its first picture, a drawn scene.
 * @param {string} text
 */
const withPictures = (text) => {
  const asked =
      /\bconst (\{ (?:drawScene|prepare) \}) = await import\(('\.\/\w+\.js')\)(?:,\s*(\w))?/g,
    imports = [...text.matchAll(asked)].map(([, what, file]) => `import ${what} from ${file}\n`)
  return (
    imports.join('') + text.replace(asked, (_, _what, _file, next) => (next ? `const ${next}` : ''))
  )
}

/**
 * The library as pages take it: files that it finds beside its own are in the folder `to` here, and
 * build() defines the fixed names, so that what the library has for Node and for others is left out.
 * @param {string} plain
 * @param {string} to
 * @returns {Plugin}
 */
const inPages = (plain, to) => ({
  name: 'in-pages',
  setup(build) {
    build.onLoad({ filter: /\.js$/ }, async ({ path }) =>
      isLibrary(plain, path)
        ? {
            contents: forPages(path, withPictures(withFixed(path, await readFile(path, 'utf8'))))
              .replace(oneCall, '')
              .replace(/new URL\('\.\.?\//g, `new URL('${to}`)
          }
        : undefined
    )
  }
})

/**
 * The pages' scripts with their texts in a language.
 * @param {string} plain
 * @param {string} language
 * @returns {Plugin}
 */
const inLanguage = (plain, language) => ({
  name: 'in-language',
  setup(build) {
    build.onLoad({ filter: /\.js$/ }, async ({ path }) =>
      isLibrary(plain, path)
        ? undefined
        : { contents: inScript(await readFile(path, 'utf8'), languages[language]) }
    )
  }
})

/* Captions have one language each: English ones are the plots' own, others are put in their place. */
const plotsAreEnglish = /\blanguages\/captions\.js$/,
  plotsAreNot = /\bplot\/caption_words\.js$/

/**
 * Files that are fetched by their own names.
 * @param {string} plain
 * @param {RegExp} names
 * @returns {Plugin}
 */
const alone = (plain, names) => ({
  name: 'alone',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
      const name = relative(plain, resolve(resolveDir, path))
      return names.test(name) ? { path: `./${name}`, external: true } : undefined
    })
  }
})

/**
 * In which script a module comes that the explorer asks for later. Small ones that somebody waits
 * for have their own: the numbers on phones, the first key or pin, the first change of the attention.
 * @param {string} name
 */
const scriptOf = (name) =>
  /** @type {Record<string, string>} */ ({
    'explorer/controls/number_sheet.js': 'sheet',
    'explorer/controls/keys.js': 'keys',
    'explorer/controls/key_list.js': 'keys',
    'explorer/controls/terms.js': 'keys',
    'explorer/views/arcs.js': 'keys',
    'explorer/controls/tour.js': 'keys',
    'explorer/state/pins.js': 'keys',
    'explorer/state/address.js': 'address',
    'explorer/state/history.js': 'address',
    'explorer/state/own_models.js': 'address',
    'explorer/state/link_report.js': 'address',
    'explorer/model/head_finder.js': 'views',
    'explorer/state/change_words.js': 'changing',
    'explorer/state/write_changes.js': 'changing',
    'explorer/model/run_again.js': 'changing',
    'heed/explain/index.js': 'changing'
  })[name] ??
  /^explorer\/(views|figure)\//.exec(name)?.[1] ??
  'files'

/**
 * The modules that others ask for by import(), as names in PLAIN, by what a script calls them.
 * @param {Metafile} metafile
 * @returns {Map<string, string>}
 */
const askedFor = ({ inputs }) =>
  new Map(
    Object.values(inputs)
      .flatMap(({ imports }) => imports)
      .filter(({ kind, external }) => kind === 'dynamic-import' && !external)
      .map(({ path }, i) => [path, `m${i.toString(36)}`])
  )

/**
 * Modules that are asked for by import() come together in a script. Each such script imports the
 * page too, which has run by then: so all that the page starts with is in one script, not in one for
 * each set of scripts that share it. Each script is named in one place, which is asked for a module.
 * @param {string} plain
 * @param {string} page
 * @param {Map<string, string>} asked
 * @param {string} language
 * @returns {Plugin}
 */
function together(plain, page, asked, language) {
  /** @param {string} script */
  const contents = (script) =>
    [...asked]
      .filter(([name]) => scriptOf(name) === script)
      .map(([name, called]) => `export * as ${called} from './${name}'`)
      .concat(`import './${page}'`)
      .join('\n')
  /**
   * @param {string} text
   * @param {string} folder
   */
  const fromScripts = (text, folder) => {
    const scripts = new Set(),
      written = text.replace(/\bimport\('(\.[^']+)'\)/g, (whole, path) => {
        const name = relative(plain, resolve(folder, path)),
          called = asked.get(name),
          script = scriptOf(name)
        if (!called) return whole
        scripts.add(script)
        return `$${script}('${called}')`
      })
    return [...scripts]
      .map((script) => `import { ask as $${script} } from 'ask:${script}'\n`)
      .concat(written)
      .join('')
  }
  return {
    name: 'together',
    setup(build) {
      build.onResolve({ filter: /^together:/ }, ({ path }) => ({
        path: path.replace('together:', ''),
        namespace: 'together'
      }))
      build.onLoad({ filter: /./, namespace: 'together' }, ({ path }) => ({
        contents: contents(path),
        resolveDir: plain
      }))
      build.onResolve({ filter: /^ask:/ }, ({ path }) => ({
        path: path.replace('ask:', ''),
        namespace: 'ask'
      }))
      build.onLoad({ filter: /./, namespace: 'ask' }, ({ path }) => ({
        contents: `export const ask = (name) => import('together:${path}').then((all) => all[name])`
      }))
      build.onLoad({ filter: /\.js$/ }, async ({ path }) =>
        isLibrary(plain, path)
          ? undefined
          : {
              contents: (language === 'en' ? plotsAreEnglish : plotsAreNot).test(path)
                ? "export const captionWords = {}, scaleKinds = { uniform: '× uniform' }"
                : inScript(
                    fromScripts(await readFile(path, 'utf8'), dirname(path)),
                    languages[language]
                  )
            }
      )
    }
  }
}

/**
 * Scripts that were put together, and what esbuild says of them. `library` is where the library's
 * files lie beside them.
 * @param {string} plain
 * @param {string[]} entries names in PLAIN
 * @param {string} folder where they are for
 * @param {{plugins?: Plugin[], library?: string, names?: string}} [given]
 */
function build(
  plain,
  entries,
  folder,
  { plugins = [], library = './heed/', names = '[name]-[hash]' } = {}
) {
  return /** @type {typeof import('esbuild')} */ (esbuild).build({
    ...options,
    entryPoints: entries.map((name) => join(plain, name)),
    outdir: folder,
    write: false,
    bundle: true,
    splitting: true,
    entryNames: names,
    chunkNames: '[name]-[hash]',
    plugins: [...plugins, inPages(plain, library)],
    define: fixed,
    metafile: true,
    absWorkingDir: plain,
    logLevel: 'warning'
  })
}

/**
 * Writes what was built, but for a page's scripts that only import another. Gives the script of each page:
 * that which has its code.
 * @param {string} plain
 * @param {Awaited<ReturnType<typeof build>>} built
 * @param {string[]} [entries] the pages' own; what a script asks for by import() is an entry too
 * @returns {Promise<[page: string, script: string][]>}
 */
async function write(plain, { outputFiles, metafile }, entries = []) {
  const pages = /** @type {[string, string][]} */ ([])
  for (const { path, contents } of outputFiles) {
    const { entryPoint, inputs, imports } = metafile.outputs[relative(plain, path)],
      own = Object.keys(inputs).length > 0
    if (entryPoint) pages.push([entryPoint, basename(own ? path : imports[0].path)])
    await mkdir(dirname(path), { recursive: true })
    if (own || !entries.includes(entryPoint ?? '')) await writeFile(path, contents)
  }
  return pages
}

/**
 * @param {string} plain
 * @param {string} site
 * @returns {Promise<Map<string, string>>}
 */
export async function bundle(plain, site) {
  if (!esbuild) return new Map()
  const names = '[name]',
    own = alone(plain, /^(attention-map|heed\/(engine|text))\.js$/),
    explorer = 'explorer/explorer.js',
    asked = askedFor(
      (await build(plain, [explorer], site, { plugins: [own, inLanguage(plain, 'en')] })).metafile
    )
  await write(
    plain,
    await build(plain, ['attention-map.js'], site, { names, plugins: [alone(plain, /^heed\//)] })
  )
  for (const worker of ['heed/worker.js', 'heed/thread.js'])
    await write(plain, await build(plain, [worker], join(site, 'heed'), { names, library: './' }))
  const pages = ['learn', 'masks', 'bench', 'embed'].map((page) => `${page}/${page}.js`)
  /**
   * @param {string} language
   * @param {string[]} entries
   * @param {Plugin} inside
   */
  const inOne = async (language, entries, inside) => {
    const built = await build(plain, entries, site, { plugins: [own, inside] }),
      written = await write(plain, built, entries),
      all = built.outputFiles.map(({ path }) => basename(path))
    return [...written, ...all.map((name) => /** @type {const} */ ([name, name]))].map(
      ([page, script]) =>
        /** @type {[string, string]} */ ([language === 'en' ? page : `${language} ${page}`, script])
    )
  }
  return new Map(
    (
      await Promise.all(
        Object.keys(languages).flatMap((language) => [
          inOne(language, [explorer], together(plain, explorer, asked, language)),
          inOne(language, pages, inLanguage(plain, language))
        ])
      )
    ).flat()
  )
}
