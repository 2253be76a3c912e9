/* The statistics of all heads in numbers: as CSV. Loaded when asked for. */
import { lines } from '../save/csv_lines.js'
/** @import {Page, PageStatistics} from '../../../types/pages.js' */

/** @param {Pick<Page, 'engine'>} options */
export async function csv({ engine }) {
  const statistics = await engine.statistics(),
    names = Object.keys(/** @type {PageStatistics[][]} */ (statistics)[0][0])
  return lines(
    [
      'layer',
      'head',
      ...names.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    ],
    /** @type {PageStatistics[][]} */ (statistics).flatMap((heads, l) =>
      heads.map((s, h) => [l, h, ...names.map((name) => s[/** @type {keyof typeof s} */ (name)])])
    )
  )
}
