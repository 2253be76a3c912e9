/* A grid of transparent buttons over a picture or a raster: one tab stop, arrow keys, the mouse, a
 * finger drawn across it. ARIA grid pattern; onPick(row, column, how, event of a press): 'press',
 * 'drag' to further cells, 'step' by arrow keys. Cells are named when they are asked for by
 * name(row, column), after things have settled. */

/** @type {Record<string, [rows: number, columns: number]>} */
const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
const settled = 300 // ms

/**
 * @typedef {object} GridOptions
 * @property {(row: number, column: number) => string} name
 * @property {(row: number, column: number, how: string, event?: PointerEvent) => unknown} onPick
 * @property {(row: number | null, column?: number) => void} [onHover] null: over none of them
 */

/**
 * @param {HTMLElement} element
 * @param {number} rows
 * @param {number} columns
 * @param {number} count
 */
function makeCells(element, rows, columns, count) {
  /** @type {HTMLButtonElement[]} */
  const cells = []
  for (let r = 0; r < rows; r++) {
    const row = element.appendChild(Object.assign(document.createElement('div'), { role: 'row' }))
    for (let c = 0; c < columns && r * columns + c < count; c++) {
      const cell = row.appendChild(
        Object.assign(document.createElement('button'), {
          type: 'button',
          role: 'gridcell',
          tabIndex: -1
        })
      )
      cells.push(cell)
    }
  }
  return cells
}

/**
 * @param {HTMLButtonElement[]} cells
 * @param {number} index -1: none
 */
function showChosen(cells, index) {
  cells.forEach((cell, i) => {
    if (i === index) cell.setAttribute('aria-selected', 'true')
    else if (cell.hasAttribute('aria-selected')) cell.removeAttribute('aria-selected')
  })
}

/**
 * What pointers and keys need of a grid.
 * @typedef {object} Cells
 * @property {HTMLElement} element
 * @property {() => {rows: number, columns: number, current: number}} size current: the index that has the tab stop
 * @property {(row: number, column: number) => HTMLButtonElement | undefined} cell
 * @property {(button: EventTarget | null) => [row: number, column: number] | null} placeOf null: not one of the cells
 */

/**
 * A finger may be about to scroll the page: it picks where it is lifted, or once it has been drawn
 * sideways, which scrolls nothing.
 * @param {PointerEvent} from
 * @param {PointerEvent} to
 */
function isStroke(from, to) {
  const across = Math.abs(to.clientX - from.clientX),
    along = Math.hypot(to.clientX - from.clientX, to.clientY - from.clientY)
  return along > 40 || (along > 6 && across > along * 0.8)
}

/**
 * Which of so many equal parts of a length is nearest.
 * @param {number} at
 * @param {number} length
 * @param {number} count
 */
export const nth = (at, length, count) =>
  Math.min(count - 1, Math.max(0, Math.floor((at / length) * count)))

/**
 * @param {Cells} grid
 * @param {GridOptions['onPick']} onPick
 * @param {Required<GridOptions>['onHover']} onHover
 */
function connectPointer({ element, size, cell, placeOf }, onPick, onHover) {
  /* Where the grid lay as a stroke began: text above it that grows by a line takes the stroke to no
   * other cells. */
  /** @type {DOMRect | null} */
  let held = null
  /**
   * The cell under a pointer, also while it is captured.
   * @param {PointerEvent} event
   */
  function cellAt(event) {
    const { rows, columns } = size(),
      target = /** @type {any} */ (event.target),
      place = placeOf(target)
    /* A finger's pointer is captured by the cell where it went down. */
    if (place && !target.hasPointerCapture(event.pointerId)) return place
    const { left, top, width, height } = held ?? element.getBoundingClientRect()
    return [nth(event.clientY - top, height, rows), nth(event.clientX - left, width, columns)]
  }

  let from = /** @type {PointerEvent | null} */ (null),
    scrubbing = false // where a pointer went down; whether it picks
  function begin() {
    const [row, column] = cellAt(/** @type {PointerEvent} */ (from))
    scrubbing = true
    held = element.getBoundingClientRect()
    onPick(row, column, 'press', /** @type {PointerEvent} */ (from))
    cell(row, column)?.focus({ preventScroll: true })
  }

  function end() {
    from = held = null
    scrubbing = false
  }

  element.addEventListener('pointerdown', (event) => {
    const [row, column] = cellAt(event)
    if (event.button !== 0 || !cell(row, column)) return
    from = event
    if (event.pointerType === 'touch') return
    element.setPointerCapture(event.pointerId)
    begin()
  })
  /** @param {PointerEvent} event */
  function follow(event) {
    const [row, column] = cellAt(event)
    if (from && !scrubbing && isStroke(from, event)) begin()
    if (!cell(row, column)) return
    if (scrubbing) onPick(row, column, 'drag')
    else if (event.pointerType === 'mouse') onHover(row, column)
  }
  /* Browsers hold pointermove back until the next frame begins. What another cell shows is drawn while
   * that frame is waited for, once a frame. */
  let over = /** @type {EventTarget | null} */ (null),
    early = over
  element.addEventListener('pointermove', (event) => {
    early = null
    follow(event)
  })
  element.addEventListener(/** @type {'pointermove'} */ ('pointerrawupdate'), (event) => {
    if (event.buttons || early || event.target === over) return
    early = over = event.target
    follow(event)
  })
  element.addEventListener('pointerup', () => {
    if (from && !scrubbing) begin()
    end()
  })
  element.addEventListener('pointercancel', end)
  element.addEventListener('pointerleave', () => onHover(null))
}

/**
 * @param {Cells} grid
 * @param {(row: number, column: number) => void} select
 * @param {GridOptions['onPick']} onPick
 */
function connectKeys({ element, size, cell, placeOf }, select, onPick) {
  element.addEventListener('click', (event) => {
    if (event.detail !== 0) return // a pointer's, dealt with; keys and screen readers click with 0
    const place = placeOf(/** @type {Element} */ (event.target).closest('button'))
    if (place) onPick(...place, 'press')
  })
  element.addEventListener('keydown', (event) => {
    const { rows, columns, current } = size(),
      step = steps[event.key],
      ends = /** @type {Record<string, number>} */ ({ Home: 0, End: columns - 1 })
    if ((!step && !(event.key in ends)) || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const row = Math.floor(current / columns),
      column = current % columns
    /** @type {[row: number, column: number]} */
    const to = step ? [row + step[0], column + step[1]] : [row, ends[event.key]]
    if (to[0] < 0 || to[1] < 0 || to[0] >= rows || to[1] >= columns || !cell(...to)) return
    select(...to)
    cell(...to)?.focus()
    onPick(...to, 'step')
  })
}

/**
 * @param {HTMLElement} element
 * @param {GridOptions} options
 */
export function createGrid(element, { name, onPick, onHover = () => {} }) {
  let rows = 0,
    columns = 0,
    count = 0,
    cells = /** @type {HTMLButtonElement[]} */ ([]),
    current = 0
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer

  /**
   * Only the first newCount cells are made.
   * @param {number} newRows
   * @param {number} newColumns
   */
  function resize(newRows, newColumns, newCount = newRows * newColumns) {
    if (newRows === rows && newColumns === columns && newCount === count) return
    clearTimeout(timer) // of the cells before
    rows = newRows
    columns = newColumns
    count = newCount
    element.replaceChildren()
    element.style.setProperty('--rows', rows)
    element.style.setProperty('--columns', columns)
    cells = makeCells(element, rows, columns, count)
    current = 0
    if (cells.length) cells[0].tabIndex = 0
  }

  /**
   * @param {number | null} row
   * @param {number} [column]
   */
  function select(row, column) {
    const index = row === null ? -1 : row * columns + /** @type {number} */ (column)
    showChosen(cells, index)
    if (index < 0 || !cells[index]) return
    cells[current].tabIndex = -1
    cells[index].tabIndex = 0
    if (element.contains(document.activeElement)) cells[index].focus({ preventScroll: true })
    current = index
  }

  /** @returns {[row: number, column: number]} */
  const rowAndColumn = (/** @type {number} */ index) => [
    Math.floor(index / columns),
    index % columns
  ]
  const nameAll = () =>
    cells.forEach((cell, i) => cell.setAttribute('aria-label', name(...rowAndColumn(i))))
  function relabel() {
    clearTimeout(timer)
    timer = setTimeout(nameAll, settled)
  }

  const grid = {
    element,
    size: () => ({ rows, columns, current }),
    cell: (/** @type {number} */ row, /** @type {number} */ column) =>
      cells[row * columns + column],
    placeOf: (/** @type {any} */ button) => {
      const index = cells.indexOf(button)
      return index < 0 ? null : rowAndColumn(index)
    }
  }
  connectPointer(grid, onPick, onHover)
  connectKeys(grid, select, onPick)
  return { resize, select, relabel }
}
