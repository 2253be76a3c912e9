/* The matrix of one head in numbers: as a table of its rows, and all of it as CSV. Loaded when asked for. */
import { prefixName, topOf } from '../../../plot/caption.js'
import { hundredths, namesOf } from '../../controls/table_cells.js'
import { lines, quoted, stageSaid, stageShown } from '../../save/csv_lines.js'
import { say } from '../../../languages/say.js'
import type { NumberTable, Page, State } from '../../types.js'

function stateOf({ store }: Page): State & { layer: number } {
  const state = store.get()
  if (state.layer === 'pool') throw new Error(say('matrixNumbers.poolOneQueryProbe'))
  return state as State & { layer: number }
}

/** The matrix in few columns: a line a query. All of it is in the CSV. */
export async function table(page: Page): Promise<NumberTable> {
  const { engine } = page,
    { layer, head } = stateOf(page),
    { tokens, prefixTokens } = engine.shape,
    weights = await engine.matrix(layer, head as number),
    of = namesOf(page)
  const rows = of.map((name, query) => {
    const row = weights.subarray(query * tokens, (query + 1) * tokens),
      [top] = topOf(row, 1)
    return [
      name,
      of[top.token],
      top.weight,
      row[query],
      row.subarray(0, prefixTokens).reduce((sum, weight) => sum + weight, 0),
      { plain: engine.explain.entropy(row) }
    ]
  })
  return {
    title: say('matrixNumbers.layerEveryQuery', {
      layer,
      head: head === 'mean' ? say('keyList.meanHeads') : say('matrix.head', { head })
    }),
    text: say('matrixNumbers.lineEachRowsMatrix', { tokens, rows: tokens, columns: tokens }),
    columns: [
      'query',
      say('matrixNumbers.most'),
      say('matrixNumbers.share'),
      say('matrixNumbers.itself'),
      say('matrixNumbers.onTokennames', {
        tokenNames: prefixName(prefixTokens, engine.shape.tokenNames)
      }),
      say('manyPictures.entropyNats')
    ],
    rows,
    show: hundredths
  }
}

export async function csv(page: Page) {
  const { engine } = page,
    { layer, head } = stateOf(page),
    score = stageShown(page),
    { tokens } = engine.shape,
    matrix = await engine.matrix(layer, head as number, score),
    names = Array.from({ length: tokens }, (_, token) => quoted(engine.nameOf(token)))
  return lines(
    [quoted(say('matrixNumbers.query', { score: stageSaid(score) })), ...names],
    names.map((name, i) => [name, ...matrix.subarray(i * tokens, (i + 1) * tokens)])
  )
}
