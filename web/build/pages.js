/* The pages of web/pages/*.html, each at its addresses, with what stands in double braces filled in:
 * {{masks.clear}} is a text in the language of the address, {{part.nav}} a file of web/parts,
 * {{link.learn}} the address of a page, {{demo.map}} what is drawn of the demo model (first.js). */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, deflateRawSync } from 'node:zlib'
import esbuild from 'esbuild'
import { policy, policyFile } from '../serve.js'
import { addresses, fileAt, languages, ownNames } from './languages.js'
import { source } from './package.js'
/** @import {First} from './first.js' */

/** The script that each page starts with. */
export const pages = {
  index: 'explorer/explorer.js',
  learn: 'learn/learn.js',
  masks: 'masks/masks.js',
  bench: 'bench/bench.js',
  embed: 'embed/embed.js'
}
/**
 * @typedef {(page: keyof typeof pages, language: string) => {script: string, preload: string[]}} ScriptOf
 * the file, and what it is going to ask for
 */
/** @typedef {Record<string, string>} Values */

/**
 * @param {string} text
 * @param {Values} values
 * @returns {string}
 */
export const fill = (text, values) =>
  text.replace(/\{\{([\w.]+)\}\}/g, (_, name) => {
    if (!Object.hasOwn(values, name)) throw new Error(`{{${name}}}: no such text (found in a page)`)
    return fill(values[name], values)
  })

const read = (/** @type {string} */ name) => readFile(source(name), 'utf8')
const sha256 = (/** @type {string | Uint8Array} */ bytes) => createHash('sha256').update(bytes)

/**
 * A script or style sheet as small as it gets.
 * @param {string} file in web/pages
 * @param {import('esbuild').TransformOptions} [options]
 */
export async function small(file, options) {
  const { code } = await esbuild.transform(await read(`pages/${file}`), {
    loader: file.endsWith('.css') ? 'css' : 'ts',
    minify: true,
    charset: 'utf8',
    target: 'es2022',
    ...options
  })
  return code.trim()
}

/**
 * Servers beside its own that the pages may ask, as the build was told: HEED_WEB_CONNECT of CMake. Each is
 * an origin, or `https://*.` and a name.
 */
const connect = (process.env.HEED_WEB_CONNECT ?? '').split(/[\s;]+/).filter(Boolean)
for (const origin of connect)
  if (!/^https?:\/\/(\*\.)?[\w.-]+(:\d+)?$/.test(origin))
    throw new Error(
      `HEED_WEB_CONNECT: no origin (found "${origin}", expected such as https://huggingface.co or https://*.hf.co)`
    )

/* Within the pages: on a slow line each file would cost a round trip before the first picture. The
 * policy has their hashes. */
async function inline() {
  const [shared, zoom, language, early] = await Promise.all(
      ['shared/style.css', 'explorer/zoom/arrival.css', 'language.ts', 'early.ts'].map((file) =>
        small(file)
      )
    ),
    style = shared + zoom
  /** @param {string} text */
  const hash = (text) => `'sha256-${sha256(text).digest('base64')}'`
  return {
    'inline.style': style,
    'inline.language': language,
    'inline.early': early,
    policy: policy
      .replace("connect-src 'self'", ['$&', ...connect].join(' '))
      .replace("script-src 'self'", `$& ${hash(language)} ${hash(early)}`)
      .replace("style-src 'self'", `$& ${hash(style)}`)
  }
}

/**
 * Puts the weights there deflated, as early.js asks for them. demo_files.js expects them by size and
 * hash; start_progress.js draws a bar by them and by the size of a module.
 * @param {string} folder
 */
async function weights(folder) {
  const bytes = await readFile(join(folder, 'heed/demo/model.safetensors')),
    deflated = deflateRawSync(bytes, { level: 9, strategy: constants.Z_HUFFMAN_ONLY, memLevel: 9 }),
    sum = sha256(bytes).digest('hex'),
    short = `${sum.slice(0, 8)}…`,
    modules = (await readdir(join(folder, 'heed'))).filter((name) =>
      /^heed(-relaxed)?(-threads)?\.wasm$/.test(name)
    ),
    sizes = modules.map((name) => statSync(join(folder, 'heed', name)).size)
  await writeFile(join(folder, 'heed/demo/model.safetensors.deflate'), deflated)
  return {
    'demo.weights': `<meta name="demo-weights" content="${deflated.length} ${sum} ${Math.max(...sizes)}">`,
    'demo.hash': `<button type="button" class="plain" title="${sum}  model.safetensors" aria-label="SHA-256 of the weights, ${short} Copy all of it.">${short}</button>`
  }
}

/**
 * Learn's figures as files, and the addresses of each language's. Those without words are the same in
 * all languages.
 * @param {string} folder
 * @param {[language: string, drawn: First][]} first
 */
async function putSteps(folder, first) {
  const names = /** @type {Map<string, string>} */ (new Map())
  await mkdir(join(folder, 'learn'), { recursive: true })
  for (const [language, { steps, values }] of first)
    for (const [i, step] of steps.entries()) {
      const name = names.get(step) ?? `learn/step-${i + 1}-${language}.svg`
      values[`step.${i + 1}`] = name
      names.set(step, name)
      await writeFile(join(folder, name), step)
    }
}

const english = new Intl.DisplayNames('en', { type: 'language' })

/**
 * What depends on the address of a page.
 * @param {keyof typeof pages} page
 * @param {string} address
 * @param {ReturnType<ScriptOf>} script
 */
function here(page, address, { script, preload }) {
  const language = address || 'en',
    values = /** @type {Values} */ ({
      lang: language,
      script: [
        /* After the first picture. */
        ...preload.map((file) => `<link rel="modulepreload" href="${file}" fetchpriority="low">`),
        `<script type="module" src="${script}"></script>`
      ].join('\n')
    })
  for (const name of Object.keys(pages)) {
    values[`link.${name}`] = name === 'index' && !address ? './' : fileAt(name, address)
    values[`here.${name}`] = name === page ? ' aria-current="page"' : ''
  }
  for (const name of Object.keys(languages)) {
    values[`chosen.${name}`] = name === language ? ' selected' : ''
    /* In letters that the page's own font has; language.js has the others. */
    values[`named.${name}`] = language === 'en' ? (english.of(name) ?? name) : ownNames[name]
  }
  return values
}

/**
 * @param {string} folder
 * @param {[language: string, drawn: First][]} first
 * @param {ScriptOf} scriptOf
 */
export async function putPages(folder, first, scriptOf) {
  const common = /** @type {Values} */ ({ ...(await inline()), ...(await weights(folder)) }),
    drawn = Object.fromEntries(first)
  for (const name of ['head', 'nav', 'language'])
    common[`part.${name}`] = (await read(`parts/${name}.html`)).trimEnd()
  await putSteps(folder, first)
  await writeFile(join(folder, policyFile), `${common.policy}\n`)
  await writeFile(join(folder, 'first-picture.png'), drawn.en.picture, 'base64')
  await writeFile(join(folder, 'first-heads.png'), drawn.en.heads, 'base64')
  for (const page of /** @type {(keyof typeof pages)[]} */ (Object.keys(pages)))
    for (const address of addresses) {
      const language = address || 'en',
        text = fill(await read(`pages/${page}.html`), {
          ...common,
          ...languages[language],
          ...drawn[language].values,
          ...here(page, address, scriptOf(page, language))
        })
      await writeFile(join(folder, fileAt(page, address)), text)
    }
}
