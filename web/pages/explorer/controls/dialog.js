/* A dialog with a sentence, a table and buttons. Loaded when asked for. */

import { laterStyles } from '../later_styles.js'
import { say } from '../../languages/say.js'

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {object} [properties]
 * @param {...(Node | string)} children
 */
const made = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}
/**
 * @param {'td' | 'th'} tag
 * @param {string[]} texts
 */
const cells = (tag, texts) => texts.map((textContent) => made(tag, { textContent }))

/**
 * label: what the table is called; buttons: { text: action(event) }, to which Close is added;
 * figures: each line begins with its name, and numbers follow.
 * @typedef {object} DialogOptions
 * @property {string} title
 * @property {string} text
 * @property {string} label
 * @property {string[]} columns
 * @property {string[][]} rows
 * @property {Record<string, (event: Event & {target: any}) => unknown>} [buttons]
 * @property {boolean} [figures]
 */

/** @param {DialogOptions} options */
export async function showDialog({
  title,
  text,
  label,
  columns,
  rows,
  buttons = {},
  figures = false
}) {
  await laterStyles()
  const dialog = document.body.appendChild(
      made('dialog', { className: figures ? 'report figures' : 'report' })
    ),
    heading = made('h2', { id: 'report-title', textContent: title }),
    head = made('tr', {}, ...cells('th', columns))
  for (const cell of /** @type {HTMLCollectionOf<HTMLTableCellElement>} */ (head.children))
    cell.scope = 'col'
  /** @param {string[]} row */
  const line = (row) =>
    figures
      ? made(
          'tr',
          {},
          made('th', { scope: 'row', textContent: row[0] }),
          ...cells('td', row.slice(1))
        )
      : made('tr', {}, ...cells('td', row))
  dialog.setAttribute('aria-labelledby', heading.id)
  const close = made('button', { type: 'button', textContent: say('dialog.close') }),
    others = Object.entries(buttons).map(([textContent, act]) => {
      const button = made('button', { type: 'button', textContent })
      button.addEventListener('click', act)
      return button
    })
  dialog.append(
    heading,
    made('p', { textContent: text }),
    made(
      'div',
      { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: label },
      made('table', {}, made('thead', {}, head), made('tbody', {}, ...rows.map(line)))
    ),
    made('div', { className: 'row' }, ...others, close)
  )
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  dialog.showModal()
}
