/* A and B in numbers: as a table and as CSV, with the other pins. Loaded when asked for. */
import { hundredths, namesOf } from '../../controls/table_cells.js'
import { tokenTable } from '../../save/csv_lines.js'
import { say } from '../../../languages/say.js'
import type { NumberTable, Page } from '../../types.js'

export function table(page: Page): NumberTable {
  const { drawn, compared } = page
  if (!compared)
    return {
      title: say('compareNumbers.b'),
      text: say('compareNumbers.thereNoBYet'),
      columns: ['token', 'A, %'],
      rows: namesOf(page).map((name, token) => [name, drawn.row[token]]),
      show: hundredths
    }
  return {
    title: say('compareNumbers.bTheirDifference'),
    text: `A: ${drawn.title}. B: ${compared.title}.`,
    columns: ['token', 'A, %', 'B, %', 'A − B, %'],
    rows: namesOf(page).map((name, token) => [
      name,
      drawn.row[token],
      compared.row[token],
      drawn.row[token] - compared.row[token]
    ]),
    show: hundredths
  }
}

export async function csv(page: Page) {
  const { drawn, compared } = page,
    sides = { A: drawn, ...(compared && { B: compared }) },
    scores = drawn.scores && compared?.scores && compared.score === page.store.get().score
  const columns = (of: string, what: string) =>
    Object.entries(sides).map(([name, side]) => [
      `${name}: ${side.title}${what}`,
      (side as Record<string, any>)[of]
    ])
  const { pins, pinned } = page.store.get(),
    others = pins.filter((pin) => pin !== pinned && pin.row.length === drawn.row.length)
  const named = others.map(({ title, name, note, row }) => [
    `pin: ${[title, name, note].filter(Boolean).join('; ')}`,
    row
  ])
  return tokenTable(
    page,
    Object.fromEntries([
      ...columns('row', ''),
      ...(scores ? columns('scores', say('compareNumbers.scores')) : []),
      ...named
    ])
  )
}
