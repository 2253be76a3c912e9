/* Lines of CSV: how a cell is quoted, and a table with a line a token. */
import { stageWords } from '../../shared/scores.js'
import type { Drawn, Page } from '../types.js'
import type { ScoreStage } from '../../shared/types.js'

export const lines = (names: string[], rows: (string | number)[][]) =>
  [names, ...rows].map((row) => row.join(',')).join('\n')
export const quoted = (text: string) => `"${String(text).replaceAll('"', '""')}"`

/** A line a token, a column a row of weights. */
export function tokenTable(
  { engine, drawn }: Pick<Page, 'engine' | 'drawn'>,
  columns: Record<string, ArrayLike<number>>
) {
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

/** What the stage shows of each token. */
export const onStage = ({ row, scores }: Pick<Drawn, 'row' | 'scores'>) => ({
  weight: row,
  times_uniform: row.map((weight) => weight * row.length),
  ...(scores ? { score: scores } : {})
})

/** The stage that the views' maps are of: weights where scores are not kept. */
export const stageShown = ({ drawn }: Page) => drawn.at.score
export const stageSaid = (score: ScoreStage) =>
  score === 'softmax' ? '' : `, ${stageWords[score]}`
