/* Pictures from files. One is shown; of several, statistics of every head: mean and spread (standard
 * deviation with n - 1, by Welford 1962), as a table and as CSV. Loaded when files are opened. */
import '../controls/opened_advice.js'
import { fixed } from '../../plot/parts/numbers.js'
import { decode } from './decode_picture.js'
import { showDialog } from '../controls/dialog.js'
import { provenanceOf } from '../save/provenance.js'
import { provenanceText } from '../save/provenance_text.js'
import { download } from '../save/download_file.js'
import { showStatus, showStop } from '../controls/status.js'
import { say } from '../../languages/say.js'
import type { Page, Store } from '../types.js'
import type { PageStatistics } from '../../shared/types.js'
import type { Runner } from '../../shared/model_runner.js'

/** Mean and spread of each number of each head: add(statistics[layer][head]), then
 * layers[layer][head][key] = { mean, spread }. */
export function createSpread() {
  const heads = new Map()
  let count = 0
  return {
    get count() {
      return count
    },
    add(statistics: PageStatistics[][]) {
      count++
      for (const [layer, row] of statistics.entries())
        for (const [head, numbers] of row.entries())
          for (const [key, value] of Object.entries(numbers)) {
            const name = `${layer} ${head} ${key}`,
              of = heads.get(name) ?? { layer, head, key, mean: 0, squares: 0 },
              apart = value - of.mean
            of.mean += apart / count
            of.squares += apart * (value - of.mean)
            heads.set(name, of)
          }
    },
    get layers() {
      const layers: Spread[][] = []
      for (const { layer, head, key, mean, squares } of heads.values())
        ((layers[layer] ??= [])[head] ??= {})[key] = {
          mean,
          spread: count > 1 ? Math.sqrt(squares / (count - 1)) : 0
        }
      return layers
    }
  }
}

/** The numbers of a head over pictures. */
export type Spread = Record<string, { mean: number; spread: number }>

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A line a head. */
export function spreadTable(layers: Spread[][]) {
  const keys = Object.keys(layers[0][0])
  return [
    ['layer', 'head', ...keys.flatMap((key) => [`${snake(key)}_mean`, `${snake(key)}_spread`])],
    ...layers.flatMap((heads, l) =>
      heads.map((of, h) => [l, h, ...keys.flatMap((key) => [of[key].mean, of[key].spread])])
    )
  ]
    .map((row) => row.join(','))
    .join('\n')
}

/** Runs every picture; resolves to { spread, unread: names, first: a picture that was read }. */
async function measure(
  { engine, store }: { engine: Runner; store: Store },
  files: File[],
  signal: AbortSignal
) {
  const spread = createSpread(),
    unread = []
  let first = null
  for (const [i, file] of files.entries()) {
    showStatus(say('manyPictures.picture', { i: i + 1, files: files.length, name: file.name }))
    const picture = await decode(file, file.name).catch(() => null)
    if (!picture) {
      unread.push(file.name)
      continue
    }
    first ??= picture
    await engine.run(picture.source, { signal, fit: store.get().fit })
    const statistics = await engine.statistics()
    if (!statistics) throw new Error(say('errors.interrupted'))
    spread.add(statistics)
  }
  if (!first) throw new Error(say('errors.noneReadable', { count: files.length }))
  return { spread, unread, first }
}

async function overPictures(page: Page, files: File[]) {
  if (page.engine.saved) throw new Error(say('errors.mapsOfOne'))
  const stop = new AbortController(),
    before = page.picture
  let found = null
  showStop(stop)
  try {
    found = await measure(page, files, stop.signal)
  } finally {
    showStop(null)
    await page.run(found?.first ?? before)
  }
  const { spread, unread } = found,
    { layers, count } = spread,
    shown = { entropyPatches: 3, distance: 1, prefixMass: 3, selfMass: 3, top5Mass: 3 }
  const save = async () =>
    download(
      new Blob(
        [
          `# ${provenanceText({ ...(await provenanceOf(page)), picture: say('manyPictures.pictures', { count }) })}\n# ${files
            .filter(({ name }) => !unread.includes(name))
            .map(({ name }) => name)
            .join(', ')}\n${spreadTable(layers)}\n`
        ],
        { type: 'text/csv' }
      ),
      'heed-heads.csv'
    )
  await showDialog({
    title: say('manyPictures.headsOverPictures', { count }),
    label: say('manyPictures.heads'),
    columns: [
      'head',
      say('manyPictures.entropyNats'),
      say('manyPictures.distancePixels'),
      say('manyPictures.cls'),
      say('manyPictures.itself'),
      say('manyPictures.topFive')
    ],
    buttons: { [say('manyPictures.saveCsv')]: save },
    text: say('manyPictures.meanStandardDeviationOver', {
      unread: unread.length
        ? say('manyPictures.notReadPictures', { unread: unread.join(', ') })
        : ''
    }),
    rows: layers.flatMap((heads, l) =>
      heads.map((of, h) => [
        say('manyPictures.layerHead', { layer: l, head: h }),
        ...Object.entries(shown).map(
          ([key, digits]) => `${fixed(of[key].mean, digits)} ± ${fixed(of[key].spread, digits)}`
        )
      ])
    )
  })
}

/** One picture is shown; of several, the heads' numbers are put together. */
export async function openPictures(page: Page, files: File[]) {
  if ((page.engine.parts?.frames ?? 0) > 1) {
    const { openVideo } = await import('./open_video.js')
    await openVideo(page, files)
  } else if (files.length > 1) await overPictures(page, files)
  else await page.run(await decode(files[0], files[0].name))
}
