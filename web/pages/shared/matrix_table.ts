/* A small matrix as a table: numbers over colours, row and column names, cells that can be typed
 * into or stepped by arrow keys, or that explain themselves when they have the focus or the
 * pointer. Shared by the pages on learning and masks. */

import { made } from './elements.js'
import { fixed } from '../plot/parts/numbers.js'
import { say } from '../languages/say.js'
import type { Cell, TableOptions } from './types.js'

const number = (value: number | null, digits: number) =>
  value === null
    ? ''
    : Number.isNaN(value)
      ? 'NaN'
      : value === -Infinity
        ? '−∞'
        : Math.abs(value) >= 1e6
          ? value.toExponential(0).replace('e+', 'e').replace('-', '−')
          : fixed(value, digits)
              .replace(/^-(?=0(\.0*)?$)/, '')
              .replace('-', '−')

/** A share of the accent below the number: 0 none, 1 most; contrast with the text stays. */
const shade = (cell: HTMLElement, share: number) =>
  cell.style.setProperty('--share', `${Math.round(45 * Math.min(1, Math.abs(share || 0)))}%`)

/** A mouse drawn sideways across a number changes it, 0.1 for each 8 pixels. */
function connectDrag(input: HTMLInputElement, onEdit: (value: number) => void) {
  let from = null as { clientX: number; value: number } | null
  input.addEventListener('pointerdown', ({ pointerType, clientX }) => {
    from = pointerType === 'mouse' ? { clientX, value: input.valueAsNumber || 0 } : null
  })
  input.addEventListener('pointermove', ({ buttons, clientX }) => {
    const steps = from && buttons & 1 ? Math.round((clientX - from.clientX) / 8) : 0
    if (!steps) return
    input.value = String(Number(((from?.value ?? 0) + steps / 10).toFixed(3)))
    onEdit(input.valueAsNumber)
  })
}

/** A button of true or false: a click turns it over, and a mouse drawn on from it gives the cells on
 * its way the same value. */
function connectPaint(
  box: HTMLElement,
  i: number,
  j: number,
  onEdit: (row: number, column: number, value: boolean) => void
) {
  const on = () => box.classList.contains('on')
  box.addEventListener('click', ({ detail }) => {
    if (detail === 0 || pointer !== 'mouse') onEdit(i, j, !on())
  }) // keyboard, finger; the mouse's is below
  box.addEventListener('pointerdown', ({ button, pointerType }) => {
    pointer = pointerType
    if (button !== 0 || pointerType !== 'mouse') return
    painting = !on()
    onEdit(i, j, painting)
  })
  box.addEventListener('pointerenter', ({ buttons }) => {
    if (buttons & 1 && painting !== null && on() !== painting) onEdit(i, j, painting)
  })
}
let pointer = '',
  painting = null as boolean | null // what pressed last, and what the mouse that is down gives to the cells it enters
addEventListener('pointerup', () => {
  painting = null
})

const steps: Record<string, number[]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -Infinity],
  End: [0, Infinity]
}

/** One tab stop for a table of buttons, arrow keys within it (the grid pattern of ARIA). */
function connectArrows(table: HTMLTableElement) {
  const lines = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll('button')])
  if (!lines[0].length) return
  table.setAttribute('role', 'grid')
  lines.flat().forEach((button, n) => {
    button.tabIndex = n ? -1 : 0
  })
  table.addEventListener('focusin', ({ target }) =>
    lines.flat().forEach((button) => {
      button.tabIndex = button === target ? 0 : -1
    })
  )
  table.addEventListener('keydown', (event) => {
    const step = steps[event.key],
      i = lines.findIndex((line) => line.includes(event.target as HTMLElement))
    if (!step || i < 0) return
    event.preventDefault()
    const within = (at: number, count: number) => Math.max(0, Math.min(count - 1, at)),
      line = lines[within(i + step[0], lines.length)]
    line[within(lines[i].indexOf(event.target as HTMLElement) + step[1], line.length)].focus()
  })
}

function makeCell(
  value: Cell,
  i: number,
  j: number,
  label: string,
  { onEdit, onLook }: Pick<TableOptions, 'onEdit' | 'onLook'>
) {
  const cell = made('td')
  if (!onEdit && !onLook) cell.append(made('span'))
  else if (typeof value === 'boolean') {
    const box = cell.appendChild(made('button', { type: 'button' }))
    box.dataset.label = label
    connectPaint(box, i, j, onEdit as NonNullable<typeof onEdit>)
  } else if (onEdit) {
    const input = cell.appendChild(made('input', { type: 'number', step: 0.1, ariaLabel: label }))
    input.addEventListener('input', () => {
      if (Number.isFinite(input.valueAsNumber)) onEdit(i, j, input.valueAsNumber)
    })
    connectDrag(input, (value) => onEdit(i, j, value))
  } else {
    const button = cell.appendChild(made('button', { type: 'button' }))
    for (const type of ['focus', 'pointerenter', 'click'])
      button.addEventListener(type, () => onLook?.(i, j, type))
  }
  return cell
}

/** values: rows of numbers (null: nothing there) or of true and false. Editable with onEdit(row,
 * column, value); explained with onLook(row, column, event type); chosen(row, column): whether a
 * cell is marked, hidden(row, column): whether its number is kept back; after: { name: text of each
 * row }, columns that follow. */
export function showTable(host: HTMLElement, options: TableOptions) {
  const { caption, values, rows, columns, after } = options,
    more = Object.keys(after ?? {}),
    names = `${caption}|${rows.join()}|${columns.join()}|${more.join()}`
  if (host.firstElementChild && host.dataset.names === names) return refresh(host, options)
  host.dataset.names = names
  const head = made(
    'tr',
    {},
    made('td'),
    ...[...columns, ...more].map((name) => made('th', { scope: 'col', textContent: name }))
  )
  const body = values.map((line, i) =>
    made(
      'tr',
      {},
      made('th', { scope: 'row', textContent: rows[i] }),
      ...line.map((value, j) =>
        makeCell(
          value,
          i,
          j,
          say('table.cell', { caption, row: rows[i], column: columns[j] }),
          options
        )
      ),
      ...more.map(() => made('td', { className: 'after' }))
    )
  )
  const kind = `small${typeof values[0][0] === 'boolean' ? ' bits' : ''}${columns.length > 8 ? ' many' : ''}`
  const table = made(
    'table',
    { className: kind },
    made('caption', { textContent: caption }),
    made('thead', {}, head),
    made('tbody', {}, ...body)
  )
  host.replaceChildren(table)
  connectArrows(table)
  refresh(host, options)
}

function refresh(
  host: HTMLElement,
  { values, digits = 3, largest = 1, chosen = null, hidden = null, after }: TableOptions
) {
  const lines = host.querySelectorAll('tbody tr')
  for (const [i, line] of values.entries()) {
    line.forEach((value, j) => {
      const cell = lines[i].children[j + 1],
        inner = cell.firstElementChild as HTMLInputElement
      cell.classList.toggle('chosen', Boolean(chosen && chosen(i, j)))
      inner.hidden = value === null
      if (typeof value === 'boolean') return refreshBit(inner as HTMLElement, value)
      const kept = Boolean(hidden && hidden(i, j))
      shade(cell, kept ? 0 : (value as number) / largest)
      if ((inner as HTMLElement).tagName !== 'INPUT')
        inner.textContent = kept ? '?' : number(value, digits)
      else if (document.activeElement !== inner)
        inner.value = String(Number((value as number).toFixed(digits)))
    })
    Object.values(after ?? {}).forEach((texts, n) => {
      lines[i].children[line.length + 1 + n].textContent = String(texts[i])
    })
  }
}

function refreshBit(inner: HTMLElement, value: boolean) {
  inner.textContent = value ? '1' : '0'
  inner.classList.toggle('on', value)
  if (inner.dataset.label)
    inner.setAttribute('aria-label', `${inner.dataset.label}: ${inner.textContent}`)
}
