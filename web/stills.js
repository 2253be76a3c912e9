/* Learn's ten figures with their numbers, for readers without scripts. addStills(plain) draws them by
 * the page's own modules in PLAIN, one process a language, as modules know one language each:
 * node stills.js PLAIN LANGUAGE prints [{svg, rows, said, answer}]. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { addresses, languageAt, languages, pageIn } from './words.js'
/** @typedef {{svg: string, rows?: string[][], said: string, answer: string}} Still */

const self = fileURLToPath(import.meta.url)

/** What the modules ask of a browser. @param {string} language */
const asBrowser = (language) =>
  Object.assign(globalThis, {
    document: { documentElement: { lang: language } },
    ImageData: class {
      /**
       * @param {Uint8ClampedArray} data
       * @param {number} width
       * @param {number} height
       */
      constructor(data, width, height) {
        Object.assign(this, { data, width, height })
      }
    }
  })

/**
 * @param {string} plain
 * @param {string} language
 */
async function draw(plain, language) {
  asBrowser(language)
  const load = (/** @type {string} */ name) => import(pathToFileURL(join(plain, name)).href),
    file = async (/** @type {string} */ name) =>
      Object.assign(new Blob([await readFile(join(plain, 'heed/demo', name))]), { name }),
    source = {
      weights: await file('model.safetensors'),
      config: await file('config.json'),
      preprocessor: await file('preprocessor_config.json')
    }
  const { createRunner } = await load('explorer/model/model_runner.js'),
    { scenePictures } = await load('explorer/open/scene_pictures.js'),
    { at, makeStory, steps } = await load('learn/story_steps.js'),
    engine = await createRunner({ source, threads: 1 }),
    [picture] = await scenePictures({ engine }, [at.scene]),
    png = await readFile(join(plain, 'first-picture.png')),
    address = `data:image/png;base64,${png.toString('base64')}`,
    story = await makeStory(engine, picture, address, source)
  return steps.map((/** @type {(story: any, temperature: number) => Still} */ step) =>
    step(story, 1)
  )
}

/** The sheet's rules for parts of the figure. @param {string} sheet */
const rulesOf = (sheet) =>
  [...sheet.matchAll(/(?:^#story-picture [^{,]+[,{]\s*)+[^}]*\}/gm)]
    .map(([rule]) => rule.replaceAll('#story-picture ', '').replace('var(--ink)', 'gray'))
    .join('')

/**
 * @param {string} text
 */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/**
 * @param {Still} still
 * @param {string} picture its address
 */
function markup({ rows = [], said, answer }, picture) {
  const cell = (/** @type {string} */ text) => `<td>${escaped(text)}</td>`,
    lines = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`)
  return `<noscript><img class="still" src="${picture}" alt="" width="320" height="320"><p>${escaped(said)}</p><table>${lines.join('')}</table><p>${escaped(answer)}</p></noscript>`
}

/**
 * A figure as a file, with its picture once.
 * @param {string} svg
 * @param {string} rules
 */
function fileOf(svg, rules) {
  const [picture] = /<image [^>]*>/.exec(svg) ?? ['']
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><style>${rules}</style><defs>${picture.replace('<image', '<image id="picture"')}</defs>${svg.replaceAll(picture, '<use href="#picture"/>')}</svg>\n`
}

/**
 * Puts a figure into each chapter of learn.html at each of its addresses.
 * @param {string} plain
 */
export async function addStills(plain) {
  const rules = rulesOf(await readFile(join(plain, 'shared/lessons.css'), 'utf8')),
    drawn = new Map(
      await Promise.all(
        Object.keys(languages).map(async (language) => {
          const { stdout } = await promisify(execFile)(process.execPath, [self, plain, language], {
            maxBuffer: 1e8
          })
          return /** @type {[string, Still[]]} */ ([language, JSON.parse(stdout)])
        })
      )
    ),
    written = /** @type {Map<string, string>} */ (new Map())
  for (const address of addresses) {
    const page = join(plain, pageIn('learn.html', address)),
      language = languageAt(address),
      marks = /** @type {string[]} */ ([])
    for (const [i, still] of /** @type {Still[]} */ (drawn.get(language)).entries()) {
      const name = written.get(still.svg) ?? `learn/step-${i + 1}-${language}.svg`
      written.set(still.svg, name)
      await writeFile(join(plain, name), fileOf(still.svg, rules))
      marks.push(markup(still, name))
    }
    const parts = (await readFile(page, 'utf8')).split('</article>')
    await writeFile(
      page,
      parts.map((part, i) => part + (marks[i] ? `${marks[i]}</article>` : '')).join('')
    )
  }
}

if (process.argv[1] && resolve(process.argv[1]) === self) {
  const [plain, language] = process.argv.slice(2)
  process.stdout.write(JSON.stringify(await draw(resolve(plain), language)), () => process.exit())
}
