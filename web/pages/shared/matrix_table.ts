/* A small matrix as a table: numbers over colours, row and column names, cells that can be typed
 * into or stepped by arrow keys, or that explain themselves when they have the focus or the
 * pointer. Shared by the pages on learning and masks. */

import { html, nothing, noChange, render } from 'lit-html'
import { Directive, directive, type ElementPart } from 'lit-html/directive.js'
import { keyed } from 'lit-html/directives/keyed.js'
import { fixed } from '../plot/parts/numbers.js'
import { say } from '../languages/say.js'
import type { Cell, Of, TableOptions } from './types.js'

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
const shade = (share: number) => `--share: ${Math.round(45 * Math.min(1, Math.abs(share || 0)))}%`

/** The text of a field, which stays while someone types. */
class TextUnlessTyped extends Directive {
  render(_text: string) {
    return noChange
  }

  override update({ element }: ElementPart, [text]: Parameters<this['render']>) {
    if (document.activeElement !== element) (element as HTMLInputElement).value = text
    return noChange
  }
}
const showing = directive(TextUnlessTyped)

let pointer = '',
  painting = null as boolean | null, // what pressed last, and what the mouse that is down gives to the cells it enters
  dragged = null as { clientX: number; value: number } | null // where a mouse went down on a number, and the number
addEventListener('pointerup', () => {
  painting = null
})

type Change<Value> = (value: Value) => void

/** A number to type. A mouse drawn sideways across it changes it, 0.1 for each 8 pixels. */
function field(text: string, label: string, change: Change<number>) {
  const input = ({ target }: Of<HTMLInputElement>) => {
    if (Number.isFinite(target.valueAsNumber)) change(target.valueAsNumber)
  }
  const down = ({ pointerType, clientX, target }: PointerEvent & Of<HTMLInputElement>) => {
    dragged = pointerType === 'mouse' ? { clientX, value: target.valueAsNumber || 0 } : null
  }
  const move = ({ buttons, clientX, target }: PointerEvent & Of<HTMLInputElement>) => {
    const steps = dragged && buttons & 1 ? Math.round((clientX - dragged.clientX) / 8) : 0
    if (!steps) return
    target.value = String(Number(((dragged?.value ?? 0) + steps / 10).toFixed(3)))
    change(target.valueAsNumber)
  }
  return html`<input type="number" step="0.1" aria-label=${label} ${showing(text)} @input=${input} @pointerdown=${down} @pointermove=${move}>`
}

/** A button of true or false: a click turns it over, and a mouse drawn on from it gives the cells on
 * its way the same value. */
function bit(on: boolean, label: string, change: Change<boolean>) {
  const click = ({ detail }: MouseEvent) => {
    if (detail === 0 || pointer !== 'mouse') change(!on)
  } // keyboard, finger; the mouse's is below
  const down = ({ button, pointerType }: PointerEvent) => {
    pointer = pointerType
    if (button !== 0 || pointerType !== 'mouse') return
    painting = !on
    change(painting)
  }
  const enter = ({ buttons }: PointerEvent) => {
    if (buttons & 1 && painting !== null && on !== painting) change(painting)
  }
  return html`<button type="button" class=${on ? 'on' : nothing} aria-label=${`${label}: ${Number(on)}`} @click=${click} @pointerdown=${down} @pointerenter=${enter}>${Number(on)}</button>`
}

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

function cell(value: Cell, i: number, j: number, options: TableOptions) {
  const { caption, rows, columns, digits = 3, largest = 1, onEdit, onLook } = options,
    label = say('table.cell', { caption, row: rows[i], column: columns[j] }),
    marked = options.chosen?.(i, j) ? 'chosen' : nothing,
    change = (value: number | boolean) => onEdit?.(i, j, value)
  if (typeof value === 'boolean')
    return html`<td class=${marked}>${onEdit ? bit(value, label, change) : html`<span class=${value ? 'on' : nothing}>${Number(value)}</span>`}</td>`
  const kept = Boolean(options.hidden?.(i, j)),
    text = kept ? '?' : number(value, digits),
    look = ({ type }: Event) => onLook?.(i, j, type)
  const inner = onEdit
    ? field(String(Number(Number(value).toFixed(digits))), label, change)
    : onLook
      ? html`<button type="button" ?hidden=${value === null} @focus=${look} @pointerenter=${look} @click=${look}>${text}</button>`
      : html`<span ?hidden=${value === null}>${text}</span>`
  return html`<td class=${marked} .style=${shade(kept ? 0 : Number(value) / largest)}>${inner}</td>`
}

/** values: rows of numbers (null: nothing there) or of true and false. Editable with onEdit(row,
 * column, value); explained with onLook(row, column, event type); chosen(row, column): whether a
 * cell is marked, hidden(row, column): whether its number is kept back; after: { name: text of each
 * row }, columns that follow. */
export function showTable(host: HTMLElement, options: TableOptions) {
  const { caption, values, rows, columns, after } = options,
    more = Object.entries(after ?? {}),
    names = [...columns, ...more.map(([name]) => name)],
    kind = `small${typeof values[0][0] === 'boolean' ? ' bits' : ''}${columns.length > 8 ? ' many' : ''}`,
    before = host.firstElementChild
  const line = (row: Cell[], i: number) =>
    html`<tr><th scope="row">${rows[i]}</th>${row.map((value, j) => cell(value, i, j, options))}${more.map(([, texts]) => html`<td class="after">${texts[i]}</td>`)}</tr>`
  render(
    keyed(
      `${rows.join()}|${names.join()}`,
      html`<table class=${kind}><caption>${caption}</caption><thead><tr><td></td>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${values.map(line)}</tbody></table>`
    ),
    host
  )
  const table = host.firstElementChild as HTMLTableElement
  if (table !== before) connectArrows(table)
}
