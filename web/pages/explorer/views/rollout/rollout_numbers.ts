/* The row of the rollout in numbers: as a table. Loaded when asked for. */
import { hundredths, namesOf } from '../../controls/table_cells.js'
import { say } from '../../../languages/say.js'
import type { NumberTable, Page } from '../../types.js'

export function table(page: Page): NumberTable {
  const { drawn } = page
  return {
    title: drawn.title,
    text: drawn.caption,
    columns: ['token', say('matrixNumbers.share'), '× uniform'],
    rows: namesOf(page).map((name, token) => [
      name,
      drawn.row[token],
      { plain: drawn.row[token] * drawn.row.length }
    ]),
    show: hundredths
  }
}
