/* What stands in the pages before any script has run, drawn by the pages' own modules: in the
 * explorer the demo's scene, its map, the heads' maps and the first numbers, in Learn the ten
 * figures for readers without scripts. drawFirst(plain) starts a thread for each language, since
 * modules know one language each. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import sharp from 'sharp'
import { languages } from './languages.js'
/** @typedef {{svg: string, rows?: string[][], said: string, answer: string}} Still */
/** @typedef {{data: Uint8ClampedArray, width: number, height: number}} Raster */
/** @typedef {{rules: string, picture: Uint8Array, heads: Uint8Array, map: string, mark: string, most: string, tabs: string, stills: Still[]}} First */

/**
 * @param {string} plain
 * @returns {Promise<Record<string, First>>}
 */
export const drawFirst = async (plain) =>
  Object.fromEntries(
    await Promise.all(
      Object.keys(languages).map(async (language) => [
        language,
        await new Promise((resolve, reject) =>
          new Worker(fileURLToPath(import.meta.url), { workerData: { plain, language } })
            .on('message', resolve)
            .on('error', reject)
        )
      ])
    )
  )

const shown = { layer: 3, head: 0, query: [2, 10] } // as `defaults` in pages/explorer/state/defaults.js

/**
 * @param {Raster} raster
 * @param {import('sharp').PngOptions} [options]
 */
const png = ({ data, width, height }, options) =>
  sharp(Buffer.from(data), { raw: { width, height, channels: 4 } })
    .png({ compressionLevel: 9, ...options })
    .toBuffer()
/* Few colours, since the picture is on the screen before anything else: noise of the drawn scene
 * costs most of the bytes. */
const fewColours = { palette: true, quality: 10, effort: 10, dither: 0 }

/** @param {Uint8Array} bytes */
const inPage = (bytes) => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`

/**
 * @param {string} plain
 * @returns {Promise<First>}
 */
async function draw(plain) {
  const load = (/** @type {string} */ name) => import(pathToFileURL(join(plain, name)).href),
    file = async (/** @type {string} */ name) =>
      Object.assign(new Blob([await readFile(join(plain, 'heed/demo', name))]), { name }),
    source = {
      weights: await file('model.safetensors'),
      config: await file('config.json'),
      preprocessor: await file('preprocessor_config.json')
    },
    { createRunner } = await load('shared/model_runner.js'),
    { scenePictures } = await load('shared/scene_pictures.js'),
    { at, makeStory, steps } = await load('learn/story_steps.js'),
    engine = await createRunner({ source, threads: 1 }),
    [picture] = await scenePictures({ engine }, [at.scene]),
    scene = await png(picture.source, fewColours),
    story = await makeStory(engine, picture, inPage(scene), source)
  return {
    ...(await numbersOf(load, picture.source)),
    picture: scene,
    tabs: Object.entries((await load('explorer/views/view_list.js')).views)
      .map(
        ([name, { title }]) =>
          `<button type="button" role="tab" id="tab-${name}" aria-controls="view">${title}</button>`
      )
      .join('\n      '),
    stills: steps.map((/** @type {(story: any, temperature: number) => Still} */ step) =>
      step(story, 1)
    )
  }
}

/**
 * The explorer's maps and first numbers.
 * @param {(name: string) => Promise<any>} load
 * @param {Raster} image
 */
async function numbersOf(load, image) {
  const { createRuntime } = await load('heed/index.js'),
    { demoModel } = await load('heed/demo.js'),
    { heads, largestOf, makeScale, overlay, percent, topOf } = await load('plot/index.js'),
    { say } = await load('languages/say.js'),
    { rulesOf } = await load('explorer/model/rules_line.js'),
    runtime = await createRuntime({ threads: 1 }),
    table = await runtime.colormap('cividis'),
    model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'rows' }),
    { rows, columns, prefixTokens, tokens, layers, heads: across } = await session.ready
  await session.run(image)
  const row = (/** @type {{layer: number, head: number}} */ at) =>
      session.attention({ ...at, query: shown.query }),
    whole = await row(shown),
    weights = whole.subarray(prefixTokens),
    scale = makeScale('uniform', { tokens, largest: largestOf(weights) }),
    maps = await Promise.all(
      Array.from({ length: layers }, (_, layer) =>
        Promise.all(
          Array.from({ length: across }, async (_, head) =>
            (await row({ layer, head })).subarray(prefixTokens)
          )
        )
      )
    ),
    place = (/** @type {number} */ at) =>
      at < 0 ? 'CLS' : say('caption.patch', { row: Math.floor(at / columns), column: at % columns })
  runtime.close()
  return {
    rules: rulesOf(model.info),
    heads: await png(heads({ maps, rows, columns, scale, table })),
    map: inPage(await png(overlay({ weights, rows, columns, scale, table }).raster)),
    mark: ['under', 'over']
      .map((side) => `<path class="${side}" d="M${shown.query[1]} ${shown.query[0]}h1v1h-1z"/>`)
      .join(''),
    most: topOf(whole, 6)
      .map(
        (/** @type {{token: number, weight: number}} */ { token, weight }) =>
          `<tr><td>${place(token - prefixTokens)}</td><td>${percent(weight)}</td><td>${(weight * tokens).toFixed(2)}</td></tr>`
      )
      .join('')
  }
}

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/**
 * A figure with its numbers, where scripts do not run.
 * @param {Still} still
 * @param {string} picture its address
 */
export function stillIn({ rows = [], said, answer }, picture) {
  const lines = rows.map(
    (row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`
  )
  return `<noscript><img class="still" src="${picture}" alt="" width="320" height="320"><p>${escaped(said)}</p><table>${lines.join('')}</table><p>${escaped(answer)}</p></noscript>`
}

/**
 * A figure as a file, with its picture once, by the rules that a style sheet has for its parts.
 * @param {Still} still
 * @param {string} sheet
 */
export function fileOf({ svg }, sheet) {
  const rules = [...sheet.matchAll(/(?:^#story-picture [^{,]+[,{]\s*)+[^}]*\}/gm)].map(([rule]) =>
      rule.replaceAll('#story-picture ', '').replace('var(--ink)', 'gray')
    ),
    [picture] = /<image [^>]*>/.exec(svg) ?? ['']
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><style>${rules.join('')}</style><defs>${picture.replace('<image', '<image id="picture"')}</defs>${svg.replaceAll(picture, '<use href="#picture"/>')}</svg>\n`
}

if (!isMainThread) {
  const { plain, language } = workerData
  /* What the modules ask of a browser. */
  Object.assign(globalThis, {
    document: { documentElement: { lang: language } },
    ImageData: class {
      /** @param {Uint8ClampedArray} data @param {number} width @param {number} height */
      constructor(data, width, height) {
        Object.assign(this, { data, width, height })
      }
    }
  })
  parentPort?.postMessage(await draw(plain))
  process.exit()
}
