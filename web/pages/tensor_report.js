/* Which tensors of a model's files are used, and for what: a dialog with a table. Loaded when asked for. */

const made = (tag, properties = {}, ...children) => { const element = Object.assign(document.createElement(tag), properties); element.append(...children); return element }
const cells = (tag, ...texts) => texts.map((textContent) => made(tag, { textContent }))

/** report: { found: [{ name, dtype, shape, used, role }], absent: [name] }. */
export function showReport(name, { found, absent }) {
  const used = found.filter((tensor) => tensor.used).length, dialog = document.body.appendChild(made('dialog', { className: 'report' }))
  const rows = found.map(({ name, dtype, shape, used, role }) => made('tr', {}, ...cells('td', name, role ?? (used ? 'by its name' : 'not used'), `${shape.join(' × ')} ${dtype}`)))
  const head = made('tr', {}, ...cells('th', 'tensor', 'what it is', 'shape'))
  for (const cell of head.children) cell.scope = 'col'
  const close = made('button', { type: 'button', textContent: 'Close' }), title = made('h2', { id: 'report-title', textContent: `Tensors of ${name}` })
  dialog.setAttribute('aria-labelledby', title.id)
  dialog.append(title, made('p', { textContent: `${used} of ${found.length} tensors are used${used === found.length ? '' : '; the others do not belong to the model that runs'}.${absent.length ? ` Optional parts that the files do not have: ${absent.join(', ')}.` : ''}` }),
    made('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: 'Tensors' }, made('table', {}, made('thead', {}, head), made('tbody', {}, ...rows))), close)
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  dialog.showModal()
}
