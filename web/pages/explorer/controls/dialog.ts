/* A dialog with a sentence, a table and buttons. Loaded when asked for. */

import { html, nothing, render, type TemplateResult } from 'lit-html'
import { laterStyles } from '../later_styles.js'
import { say } from '../../languages/say.js'

/** label: what the table is called; above: what stands before it; buttons: { text: action(event) }, to which Close is added;
 * figures: each line begins with its name, and numbers follow. */
export interface DialogOptions {
  title: string
  text: string
  label: string
  above?: TemplateResult
  columns: string[]
  rows: string[][]
  buttons?: Record<string, (event: Event & { target: any }) => unknown>
  figures?: boolean
}

export async function showDialog({
  title,
  text,
  label,
  above,
  columns,
  rows,
  buttons = {},
  figures = false
}: DialogOptions) {
  await laterStyles()
  const dialog = document.body.appendChild(document.createElement('dialog')),
    line = ([first, ...rest]: string[]) =>
      html`<tr>${figures ? html`<th scope="row">${first}</th>` : html`<td>${first}</td>`}${rest.map((cell) => html`<td>${cell}</td>`)}</tr>`
  const close = () => dialog.close(),
    button = ([name, act]: [string, (event: any) => unknown]) =>
      html`<button type="button" @click=${act}>${name}</button>`
  dialog.className = figures ? 'report figures' : 'report'
  dialog.setAttribute('aria-labelledby', 'report-title')
  render(
    html`<h2 id="report-title">${title}</h2><p>${text}</p>${above ?? nothing}<div class="scroll" tabindex="0" role="region" aria-label=${label}><table><thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows.map(line)}</tbody></table></div><div class="row">${[...Object.entries(buttons), [say('dialog.close'), close] as [string, () => void]].map(button)}</div>`,
    dialog
  )
  dialog.addEventListener('close', () => dialog.remove())
  dialog.showModal()
  dialog.scrollTop = 0 // what has the focus may stand further down
}
