/* The numbers that a picture shows, as a table in a dialog, to be read and to be copied in full
 * precision: the stage's map in its own shape, or the table of a view. Loaded when asked for. */
import { significant } from '../../plot/parts/numbers.js'
import { showDialog } from './dialog.js'
import { hundredths, numbered, score } from './table_cells.js'
import { views } from '../views/view_list.js'
import { say } from '../../languages/say.js'
import type { ListedView, NumberTable, Page, ViewName } from '../types.js'

/** The map in the picture's shape; what has no place in the picture comes first. */
function stage({ engine, drawn }: Page) {
  const { prefixTokens, rows, columns } = engine.shape,
    values = drawn.scores ?? drawn.row,
    line = (row: number) => [
      say('numberTables.row', { row }),
      ...values.subarray(prefixTokens + row * columns, prefixTokens + (row + 1) * columns)
    ]
  const first = Array.from(values.subarray(0, prefixTokens), (value, token) => [
    engine.nameOf(token),
    value,
    ...Array(columns - 1).fill('')
  ])
  return {
    title: drawn.title,
    text: say('numberTables.tablePatchesTheyLie', {
      caption: drawn.caption,
      scores: drawn.scores ? say('numberTables.scores') : say('numberTables.shares')
    }),
    columns: ['column', ...numbered(columns)],
    rows: [...first, ...numbered(rows).map(line)],
    show: drawn.scores ? score : hundredths
  }
}

export type TableCell = NumberTable['rows'][0][0]

/** Numbers with a unit of their own stand as { plain }. */
const shown = (value: TableCell, show: (value: number) => string) =>
  typeof value === 'string'
    ? value
    : typeof value === 'number'
      ? show(value)
      : significant(value.plain, 4)
const copied = (value: TableCell) => (typeof value === 'object' ? value.plain : value)

/** The numbers of a view, or of the stage. */
async function tableOf(page: Page, which: 'stage' | ViewName): Promise<NumberTable> {
  if (which === 'stage') return stage(page)
  const view: ListedView = views[which]
  const { table } = await (view as Required<ListedView>).table()
  return table(page)
}

export async function showTable(page: Page, which: 'stage' | ViewName) {
  const { title, text, columns, rows, show } = await tableOf(page, which)
  await showDialog({
    title,
    text,
    columns: columns as string[],
    label: say('numberTables.numbers', { title }),
    figures: true,
    rows: rows.map((row) => row.map((value) => shown(value, show))),
    buttons: {
      [say('numberTables.copy')]: async ({ target }) => {
        await navigator.clipboard.writeText(
          [columns, ...rows].map((row) => row.map(copied).join('\t')).join('\n')
        )
        target.textContent = say('numberTables.copied')
      }
    }
  })
}
