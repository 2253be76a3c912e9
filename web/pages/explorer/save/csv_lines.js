/* Lines of CSV: how a cell is quoted, and a table with a line a token. */
import { stageWords } from '../../shared/scores.js'
/** @import {Drawn, Page, ScoreStage} from '../../../types/pages.js' */

/**
 * @param {string[]} names
 * @param {(string | number)[][]} rows
 */
export const lines = (names, rows) => [names, ...rows].map((row) => row.join(',')).join('\n')
/** @param {string} text */
export const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`

/**
 * A line a token, a column a row of weights.
 * @param {Pick<Page, 'engine' | 'drawn'>} page
 * @param {Record<string, ArrayLike<number>>} columns
 */
export function tokenTable({ engine, drawn }, columns) {
  const names = Object.keys(columns)
  return lines(
    ['token', 'name', ...names.map(quoted)],
    Array.from(drawn.row, (_, token) => [
      token,
      quoted(engine.nameOf(token)),
      ...names.map((name) => columns[name][token])
    ])
  )
}

/**
 * What the stage shows of each token.
 * @param {Pick<Drawn, 'row' | 'scores'>} drawn
 */
export const onStage = ({ row, scores }) => ({
  weight: row,
  times_uniform: row.map((weight) => weight * row.length),
  ...(scores ? { score: scores } : {})
})

/**
 * The stage that the views' maps are of: weights where scores are not kept.
 * @param {Page} options
 */
export const stageShown = ({ drawn }) => drawn.at.score
/** @param {ScoreStage} score */
export const stageSaid = (score) => (score === 'softmax' ? '' : `, ${stageWords[score]}`)
