/* The statistics of all heads in numbers: as CSV. Loaded when asked for. */
import { say } from '../../../languages/say.js'
import { lines } from '../../save/csv_lines.js'
import type { Page } from '../../types.js'
import type { PageStatistics } from '../../../shared/types.js'

export async function csv({ engine }: Pick<Page, 'engine'>) {
  if (engine.parts && engine.parts.frames > 1) throw new Error(say('parts.only'))
  const statistics = await engine.statistics(),
    names = Object.keys((statistics as PageStatistics[][])[0][0])
  return lines(
    [
      'layer',
      'head',
      ...names.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    ],
    (statistics as PageStatistics[][]).flatMap((heads, l) =>
      heads.map((s, h) => [l, h, ...names.map((name) => s[name as keyof typeof s])])
    )
  )
}
