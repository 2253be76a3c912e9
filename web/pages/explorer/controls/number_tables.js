/* The numbers that a picture shows, as a table in a dialog, to be read and to be copied in full
 * precision: the stage's map in its own shape, or the table of a view. Loaded when asked for. */
import { significant } from '../../plot/parts/numbers.js'
import { showDialog } from './dialog.js'
import { hundredths, numbered, score } from './table_cells.js'
import { views } from '../views/view_list.js'
import { say } from '../../languages/say.js'
/** @import {ListedView, NumberTable, Page, ViewName} from '../../../types/pages.js' */

/**
 * The map in the picture's shape; what has no place in the picture comes first.
 * @param {Page} page
 */
function stage({ engine, drawn }) {
  const { prefixTokens, rows, columns } = engine.shape,
    values = drawn.scores ?? drawn.row,
    line = (/** @type {number} */ row) => [
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

/** @typedef {NumberTable['rows'][0][0]} TableCell */

/**
 * Numbers with a unit of their own stand as { plain }.
 * @param {TableCell} value
 * @param {(value: number) => string} show
 */
const shown = (value, show) =>
  typeof value === 'string'
    ? value
    : typeof value === 'number'
      ? show(value)
      : significant(value.plain, 4)
/** @param {TableCell} value */
const copied = (value) => (typeof value === 'object' ? value.plain : value)

/**
 * The numbers of a view, or of the stage.
 * @param {Page} page
 * @param {'stage' | ViewName} which
 * @returns {Promise<NumberTable>}
 */
async function tableOf(page, which) {
  if (which === 'stage') return stage(page)
  /** @type {ListedView} */
  const view = views[which]
  const { table } = await /** @type {Required<ListedView>} */ (view).table()
  return table(page)
}

/**
 * @param {Page} page
 * @param {'stage' | ViewName} which
 */
export async function showTable(page, which) {
  const { title, text, columns, rows, show } = await tableOf(page, which)
  await showDialog({
    title,
    text,
    columns: /** @type {string[]} */ (columns),
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
