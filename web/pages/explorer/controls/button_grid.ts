/* A grid of transparent buttons over a picture or a raster: one tab stop, arrow keys, the mouse, a
 * finger drawn across it. ARIA grid pattern; onPick(row, column, how, event of a press): 'press',
 * 'drag' to further cells, 'step' by arrow keys. Cells are named when they are asked for by
 * name(row, column), after things have settled. */

const steps: Record<string, [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1]
}
const settled = 300 // ms

export interface GridOptions {
  name: (row: number, column: number) => string
  onPick: (row: number, column: number, how: string, event?: PointerEvent) => unknown
  /** null: over none of them */
  onHover?: (row: number | null, column?: number) => void
}

function makeCells(element: HTMLElement, rows: number, columns: number, count: number) {
  const cells: HTMLButtonElement[] = []
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

/** @param index 1: none */
function showChosen(cells: HTMLButtonElement[], index: number) {
  cells.forEach((cell, i) => {
    if (i === index) cell.setAttribute('aria-selected', 'true')
    else if (cell.hasAttribute('aria-selected')) cell.removeAttribute('aria-selected')
  })
}

/** What pointers and keys need of a grid. */
export interface Cells {
  element: HTMLElement
  /** current: the index that has the tab stop */
  size: () => { rows: number; columns: number; current: number }
  cell: (row: number, column: number) => HTMLButtonElement | undefined
  /** null: not one of the cells */
  placeOf: (button: EventTarget | null) => [row: number, column: number] | null
}

/** A finger may be about to scroll the page: it picks where it is lifted, or once it has been drawn
 * sideways, which scrolls nothing. */
function isStroke(from: PointerEvent, to: PointerEvent) {
  const across = Math.abs(to.clientX - from.clientX),
    along = Math.hypot(to.clientX - from.clientX, to.clientY - from.clientY)
  return along > 40 || (along > 6 && across > along * 0.8)
}

/** Which of so many equal parts of a length is nearest. */
export const nth = (at: number, length: number, count: number) =>
  Math.min(count - 1, Math.max(0, Math.floor((at / length) * count)))

function connectPointer(
  { element, size, cell, placeOf }: Cells,
  onPick: GridOptions['onPick'],
  onHover: Required<GridOptions>['onHover']
) {
  /* Where the grid lay as a stroke began: text above it that grows by a line takes the stroke to no
   * other cells. */
  let held: DOMRect | null = null
  /** The cell under a pointer, also while it is captured. */
  function cellAt(event: PointerEvent) {
    const { rows, columns } = size(),
      target = event.target as HTMLElement,
      place = placeOf(target)
    /* A finger's pointer is captured by the cell where it went down. */
    if (place && !target.hasPointerCapture(event.pointerId)) return place
    const { left, top, width, height } = held ?? element.getBoundingClientRect()
    return [nth(event.clientY - top, height, rows), nth(event.clientX - left, width, columns)]
  }

  let from = null as PointerEvent | null,
    scrubbing = false // where a pointer went down; whether it picks
  function begin() {
    const [row, column] = cellAt(from as PointerEvent)
    scrubbing = true
    held = element.getBoundingClientRect()
    onPick(row, column, 'press', from as PointerEvent)
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
  function follow(event: PointerEvent) {
    const [row, column] = cellAt(event)
    if (from && !scrubbing && isStroke(from, event)) begin()
    if (!cell(row, column)) return
    if (scrubbing) onPick(row, column, 'drag')
    else if (event.pointerType === 'mouse') onHover(row, column)
  }
  /* Browsers hold pointermove back until the next frame begins. What another cell shows is drawn while
   * that frame is waited for, once a frame. */
  let over = null as EventTarget | null,
    early = over
  element.addEventListener('pointermove', (event) => {
    early = null
    follow(event)
  })
  element.addEventListener('pointerrawupdate' as 'pointermove', (event) => {
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

function connectKeys(
  { element, size, cell, placeOf }: Cells,
  select: (row: number, column: number) => void,
  onPick: GridOptions['onPick']
) {
  element.addEventListener('click', (event) => {
    if (event.detail !== 0) return // a pointer's, dealt with; keys and screen readers click with 0
    const place = placeOf((event.target as Element).closest('button'))
    if (place) onPick(...place, 'press')
  })
  element.addEventListener('keydown', (event) => {
    const { rows, columns, current } = size(),
      step = steps[event.key],
      ends = { Home: 0, End: columns - 1 } as Record<string, number>
    if ((!step && !(event.key in ends)) || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const row = Math.floor(current / columns),
      column = current % columns
    const to: [row: number, column: number] = step
      ? [row + step[0], column + step[1]]
      : [row, ends[event.key]]
    if (to[0] < 0 || to[1] < 0 || to[0] >= rows || to[1] >= columns || !cell(...to)) return
    select(...to)
    cell(...to)?.focus()
    onPick(...to, 'step')
  })
}

/** An element for a grid of what the label says. */
export const makeGrid = (label: string) =>
  Object.assign(document.createElement('div'), {
    className: 'cells',
    role: 'grid',
    ariaLabel: label
  })

export function createGrid(
  element: HTMLElement,
  { name, onPick, onHover = () => {} }: GridOptions
) {
  let rows = 0,
    columns = 0,
    count = 0,
    cells: HTMLButtonElement[] = [],
    current = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Only the first newCount cells are made. */
  function resize(newRows: number, newColumns: number, newCount = newRows * newColumns) {
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

  function select(row: number | null, column?: number) {
    const index = row === null ? -1 : row * columns + (column as number)
    showChosen(cells, index)
    if (index < 0 || !cells[index]) return
    cells[current].tabIndex = -1
    cells[index].tabIndex = 0
    if (element.contains(document.activeElement)) cells[index].focus({ preventScroll: true })
    current = index
  }

  const rowAndColumn = (index: number): [row: number, column: number] => [
    Math.floor(index / columns),
    index % columns
  ]
  const nameAll = () =>
    cells.forEach((cell, i) => cell.setAttribute('aria-label', name(...rowAndColumn(i))))
  function relabel() {
    clearTimeout(timer)
    timer = setTimeout(nameAll, settled)
  }

  /** What stands in the cells. */
  const write = (text: (index: number) => string) =>
    cells.forEach((cell, i) => {
      const textContent = text(i)
      cell.replaceChildren(
        ...(textContent ? [Object.assign(document.createElement('small'), { textContent })] : [])
      )
    })

  const grid = {
    element,
    size: () => ({ rows, columns, current }),
    cell: (row: number, column: number) => cells[row * columns + column],
    placeOf: (button: EventTarget | null) => {
      const index = cells.indexOf(button as HTMLButtonElement)
      return index < 0 ? null : rowAndColumn(index)
    }
  }
  connectPointer(grid, onPick, onHover)
  connectKeys(grid, select, onPick)
  return { resize, select, relabel, name: nameAll, write }
}
