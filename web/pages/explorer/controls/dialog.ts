/* A dialog with a sentence, a table and buttons. Loaded when asked for. */

import { made } from '../../shared/elements.js'
import { laterStyles } from '../later_styles.js'
import { say } from '../../languages/say.js'

const cells = (tag: 'td' | 'th', texts: string[]) =>
  texts.map((textContent) => made(tag, { textContent }))

/** label: what the table is called; buttons: { text: action(event) }, to which Close is added;
 * figures: each line begins with its name, and numbers follow. */
export interface DialogOptions {
  title: string
  text: string
  label: string
  columns: string[]
  rows: string[][]
  buttons?: Record<string, (event: Event & { target: any }) => unknown>
  figures?: boolean
}

export async function showDialog({
  title,
  text,
  label,
  columns,
  rows,
  buttons = {},
  figures = false
}: DialogOptions) {
  await laterStyles()
  const dialog = document.body.appendChild(
      made('dialog', { className: figures ? 'report figures' : 'report' })
    ),
    heading = made('h2', { id: 'report-title', textContent: title }),
    head = made('tr', {}, ...cells('th', columns))
  for (const cell of head.children as HTMLCollectionOf<HTMLTableCellElement>) cell.scope = 'col'
  const line = (row: string[]) =>
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
