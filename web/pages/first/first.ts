/* What stands in the pages before any script has run: in the explorer the demo's scene, its map, the
 * heads' maps and the first numbers, in Learn the ten figures for readers without scripts. The build
 * asks for it in each language (web/build/first.js). */
import { defaults } from '../explorer/state/defaults.js'
import { rulesOf } from '../explorer/model/rules_line.js'
import { views } from '../explorer/views/view_list.js'
import { demoModel } from '../heed/demo.js'
import { createRuntime } from '../heed/index.js'
import { stopNames, stops } from '../explorer/zoom/stops.js'
import { say } from '../languages/say.js'
import { at, makeStory, steps } from '../learn/story_steps.js'
import { gridScale, heads, largestOf, makeScale, overlay, percent, topOf } from '../plot/index.js'
import { createRunner } from '../shared/model_runner.js'
import { className } from '../shared/names.js'
import { scenePictures } from '../shared/scene_pictures.js'
import type { PageSource } from '../shared/types.js'
import type { Shown } from '../learn/story_steps.js'
import type { Raster } from 'heed/plot'

const { layer, head, query } = defaults

/** The explorer's map, those of all heads, and the largest weights of the row. */
async function drawMaps(image: ImageData) {
  const runtime = await createRuntime({ threads: 1 }),
    table = await runtime.colormap('cividis'),
    model = await runtime.loadModel(demoModel),
    session = model.createSession({ taps: 'rows' }),
    { rows, columns, prefixTokens, tokens, layers, heads: across } = await session.ready
  await session.run(image)
  const row = (layer: number, head: number) => session.attention({ layer, head, query }),
    whole = await row(layer, head),
    weights = whole.subarray(prefixTokens),
    scale = makeScale('uniform', { tokens, largest: largestOf(weights) }),
    maps = await Promise.all(
      Array.from({ length: layers }, (_, layer) =>
        Promise.all(
          Array.from({ length: across }, async (_, head) =>
            (await row(layer, head)).subarray(prefixTokens)
          )
        )
      )
    ),
    place = (at: number) =>
      at < 0 ? 'CLS' : say('caption.patch', { row: Math.floor(at / columns), column: at % columns })
  runtime.close()
  return {
    rules: rulesOf(model.info),
    heads: heads({
      maps,
      rows,
      columns,
      scale: gridScale('uniform', {
        tokens,
        largests: maps.map((layer) => layer.map(largestOf))
      }),
      table
    }),
    map: overlay({ weights, rows, columns, scale, table }).raster,
    most: topOf(whole, 6)
      .map(
        ({ token, weight }) =>
          `<tr><td>${place(token - prefixTokens)}</td><td>${percent(weight)}</td><td>${(weight * tokens).toFixed(2)}</td></tr>`
      )
      .join('')
  }
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** A figure with its numbers, where scripts do not run. */
function stillIn({ rows = [], said, answer }: Shown, picture: string) {
  const lines = rows.map(
    (row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`
  )
  return `<noscript><img class="still" src="${picture}" alt="" width="320" height="320"><p>${escaped(said)}</p><table>${lines.join('')}</table><p>${escaped(answer)}</p></noscript>`
}

/** A figure as a file, with its picture once, by the rules that a style sheet has for its parts. */
function fileOf({ svg }: Shown, sheet: string) {
  const rules = [...sheet.matchAll(/(?:^#story-picture [^{,]+[,{]\s*)+[^}]*\}/gm)].map(([rule]) =>
      rule.replaceAll('#story-picture ', '').replace('var(--ink)', 'gray')
    ),
    [picture] = /<image [^>]*>/.exec(svg) ?? ['']
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><style>${rules.join('')}</style><defs>${picture.replace('<image', '<image id="picture"')}</defs>${svg.replaceAll(picture, '<use href="#picture"/>')}</svg>\n`
}

/**
 * values: what pages/*.html name in double braces; of step.N the build knows the address of the file
 * that steps[N - 1] is. Pictures are PNG files in base64.
 * @param sheet the style sheet with the rules of the story's figures
 * @param png few: of few colours, since noise of the drawn scene costs most of the bytes, and the
 * picture is on the screen before anything else
 */
export async function drawFirst(
  source: PageSource,
  sheet: string,
  png: (raster: Raster, few?: boolean) => Promise<string>
) {
  const inPage = (base64: string) => `data:image/png;base64,${base64}`,
    engine = await createRunner({ source, threads: 1 }),
    [scene] = await scenePictures({ engine }, [at.scene]),
    picture = await png(scene.source as ImageData, true),
    story = await makeStory(engine, scene, inPage(picture), source),
    shown = steps.map((step) => step(story, 1)),
    [{ shares }] = story.answers,
    best = shares.indexOf(Math.max(...shares)),
    maps = await drawMaps(scene.source as ImageData)
  return {
    picture,
    heads: await png(maps.heads),
    steps: shown.map((step) => fileOf(step, sheet)),
    values: {
      'demo.label': className(engine.model.labels[best]),
      'demo.share': percent(shares[best]),
      'demo.rules': maps.rules,
      'demo.picture': inPage(picture),
      'demo.map': inPage(await png(maps.map)),
      'demo.mark': ['under', 'over']
        .map((side) => `<path class="${side}" d="M${query[1]} ${query[0]}h1v1h-1z"/>`)
        .join(''),
      'demo.most': maps.most,
      tabs: Object.entries(views)
        .map(
          ([name, { title }]) =>
            `<button type="button" role="tab" id="tab-${name}" aria-controls="view">${title}</button>`
        )
        .join('\n      '),
      stops: stopNames
        .map(
          (name, i) =>
            `<button type="button" data-stop="${name}"${i ? '' : ' aria-current="step"'}>${say(stops[name].title)}</button>`
        )
        .join(''),
      ...Object.fromEntries(
        shown.map((step, i) => [`still.${i + 1}`, stillIn(step, `{{step.${i + 1}}}`)])
      )
    } as Record<string, string>
  }
}
