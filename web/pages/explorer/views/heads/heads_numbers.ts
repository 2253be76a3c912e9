/* The weights of all heads for the query in numbers: as a table and as CSV. Loaded when asked for. */
import { cellsMost, hundredths, namesOf, numbered, score } from '../../controls/table_cells.js'
import { onStage, stageSaid, stageShown, tokenTable } from '../../save/csv_lines.js'
import { say } from '../../../languages/say.js'
import type { NumberTable, Page } from '../../types.js'
import type { Runner } from '../../../shared/model_runner.js'

/** @param layer as a row of engine.rows() */
const nameOf = (engine: Runner, layer: number, head: number) => `${engine.layerAt(layer)}.${head}`

/** A line a token, a column a head. */
export async function table(page: Page): Promise<NumberTable> {
  const { store, engine, drawn } = page,
    { query, reverse, score: kind, layer } = store.get(),
    { layers, heads: count, tokens } = engine.shape
  const all = await engine.rows({ query, reverse, score: kind }),
    fits = layers * count * tokens <= cellsMost
  const shown = numbered(all.length).filter((l) => fits || engine.layerAt(l) === layer),
    columns = shown.flatMap((l) =>
      all[l].map((row, h) => [nameOf(engine, l, h), row] as [string, Float32Array])
    )
  return {
    title: say('headsNumbers.allHeads'),
    text: say('headsNumbers.layerHeadAcross', {
      where: drawn.title.replace(/^[^:]*: /, ''),
      numbers: drawn.scale.numbers ? '' : say('headsNumbers.shares'),
      layer: fits
        ? ''
        : say('headsNumbers.allLayersWouldBe', {
            layer: layer === 'pool' ? layer : say('heads.layer2', { layer })
          })
    }),
    columns: ['token', ...columns.map(([name]) => name)],
    rows: namesOf(page).map((name, token) => [name, ...columns.map(([, row]) => row[token])]),
    show: drawn.scale.numbers ? score : hundredths
  }
}

export async function csv(page: Page) {
  const { query, reverse } = page.store.get(),
    score = stageShown(page),
    rows = await page.engine.rows({ query, reverse, score })
  return tokenTable(page, {
    ...onStage(page.drawn),
    ...Object.fromEntries(
      rows.flatMap((layer, l) =>
        layer.map((row, h) => [`${nameOf(page.engine, l, h)}${stageSaid(score)}`, row])
      )
    )
  })
}
