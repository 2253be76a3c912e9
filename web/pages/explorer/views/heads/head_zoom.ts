/* The map of a head, enlarged beside the pointer: for grids whose cells are small. Fetched with the first. */
import { laterStyles } from '../../later_styles.js'

const side = 12 // rem

let box: HTMLElement | undefined

/** The box of a grid, which leaves the page with it. */
function boxIn(grid: HTMLElement) {
  if (box?.parentElement !== grid) {
    box = grid.appendChild(
      Object.assign(document.createElement('figure'), {
        className: 'head-zoom',
        innerHTML: '<canvas></canvas><figcaption></figcaption>'
      })
    )
    box.setAttribute('aria-hidden', 'true') // the cell has its name, and a press shows the map on the stage
  }
  return box
}

/**
 * @param grid with the canvas of all maps, one transparent pixel after each
 * @param shape of a map
 * @param which null: none
 */
export async function zoom(
  grid: HTMLElement,
  { rows, columns }: { rows: number; columns: number },
  { row, column = 0, name = '' }: { row: number | null; column?: number; name?: string }
) {
  await laterStyles()
  const place = boxIn(grid)
  place.hidden = row === null
  if (row === null) return
  const maps = grid.querySelector('.raster canvas') as HTMLCanvasElement,
    canvas = place.querySelector('canvas') as HTMLCanvasElement,
    cell = grid.querySelectorAll('.cells [role="row"]')[row]?.children[column]
  Object.assign(canvas, { width: columns, height: rows })
  canvas
    .getContext('2d')
    ?.drawImage(maps, column * (columns + 1), row * (rows + 1), columns, rows, 0, 0, columns, rows)
  place.querySelector('figcaption').textContent = name
  if (!cell) return
  const { left, right, top } = cell.getBoundingClientRect(),
    rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
    room = side * rem + 16
  place.style.left = `${right + room < innerWidth ? right + 8 : left - room}px`
  place.style.top = `${Math.max(8, Math.min(top, innerHeight - room - 2 * rem))}px`
}
