/* The AND as a picture: each factor is a sheet with holes where a query may attend to a key. The
 * sheets lie over one another; below them stands what all of them let through. */
import { html, render, svg } from 'lit-html'
import { say } from '../languages/say.js'

const width = 280,
  middle = 195, // of the sheets; names stand to their left
  span = 160, // of a sheet, across
  slope = 0.42,
  apart = 46 // from sheet to sheet

/**
 * The cells of a sheet that pass or bar, as one path.
 * @param top of the sheet
 */
function cells(sheet: boolean[][], top: number, passes: boolean) {
  const unit = span / (sheet.length + sheet[0].length),
    at = (i: number, j: number) =>
      `${(middle + (j - i + (sheet.length - sheet[0].length) / 2) * unit).toFixed(1)} ${(top + (i + j) * unit * slope).toFixed(1)}`
  return sheet
    .flatMap((row, i) =>
      row.map((open, j) =>
        open === passes ? `M${at(i, j)}L${at(i, j + 1)}L${at(i + 1, j + 1)}L${at(i + 1, j)}z` : ''
      )
    )
    .join('')
}

/**
 * @param sheets the first lies on top
 * @param mask what all of them let through
 */
export function drawSheets(
  figure: HTMLElement,
  sheets: [name: string, sheet: boolean[][]][],
  mask: boolean[][]
) {
  const passed = mask.flat().filter(Boolean).length,
    said = say('masks.sheetsSaid', { passed, all: mask.flat().length }),
    below = sheets.length * apart + 12,
    height = below + span * slope + 4
  const layers: [string, boolean[][], number, string][] = [
    [say('masks.all'), mask, below, 'through'],
    ...sheets
      .map(
        ([name, sheet], i) =>
          [name, sheet, i * apart + 2, 'open'] as [string, boolean[][], number, string]
      )
      .reverse()
  ]
  const drawn = ([name, sheet, top, passes]: (typeof layers)[0]) =>
    svg`<path class="shut" d=${cells(sheet, top, false)}/><path class=${passes} d=${cells(sheet, top, true)}/><text x="0" y=${top + (span * slope) / 2 + 4}>${name}</text>`
  render(
    html`<svg viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${[...sheets.map(([name]) => name), said].join(', ')}>${layers.map(drawn)}</svg><figcaption>${said}</figcaption>`,
    figure
  )
}
