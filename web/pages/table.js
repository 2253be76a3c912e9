/* A small matrix as a table: numbers over colours, row and column names, cells that can be typed into or stepped by arrow keys, or that
 * explain themselves when they have the focus or the pointer. Shared by the pages on learning and masks. */

const made = (tag, properties = {}, ...children) => { const element = Object.assign(document.createElement(tag), properties); element.append(...children); return element }
const number = (value, digits) => (Number.isNaN(value) ? 'NaN' : value === -Infinity ? '−∞' : Math.abs(value) >= 1e6 ? value.toExponential(0).replace('e+', 'e').replace('-', '−') : value.toFixed(digits).replace(/^-(?=0(\.0*)?$)/, '').replace('-', '−'))

/* A share of the accent below the number: 0 none, 1 most; contrast with the text stays. */
const shade = (cell, share) => cell.style.setProperty('--share', `${Math.round(45 * Math.min(1, Math.abs(share || 0)))}%`)

/* A mouse drawn sideways across a number changes it, 0.1 for each 8 pixels. */
function connectDrag(input, onEdit) {
  let from = null
  input.addEventListener('pointerdown', ({ pointerType, clientX }) => { from = pointerType === 'mouse' ? { clientX, value: input.valueAsNumber || 0 } : null })
  input.addEventListener('pointermove', ({ buttons, clientX }) => {
    const steps = from && buttons & 1 ? Math.round((clientX - from.clientX) / 8) : 0
    if (!steps) return
    input.value = Number((from.value + steps / 10).toFixed(3))
    onEdit(input.valueAsNumber)
  })
}

/** values: rows of numbers or of true and false. Editable with onEdit(row, column, value); explained with onLook(row, column, event type);
 * chosen(row, column): whether a cell is marked, hidden(row, column): whether its number is kept back. */
export function showTable(host, { caption, values, rows, columns, digits = 3, largest = 1, onEdit, onLook, chosen = null, hidden = null }) {
  const names = `${rows.join()}|${columns.join()}`
  if (host.firstElementChild && host.dataset.names === names) return refresh(host, values, { digits, largest, chosen, hidden })
  host.dataset.names = names
  const head = made('tr', {}, made('td'), ...columns.map((name) => made('th', { scope: 'col', textContent: name })))
  const body = values.map((line, i) => made('tr', {}, made('th', { scope: 'row', textContent: rows[i] }), ...line.map((value, j) => {
    const cell = made('td'), label = `${caption}, row ${rows[i]}, column ${columns[j]}`
    if (!onEdit && !onLook) cell.append(made('span'))
    else if (typeof value === 'boolean') {
      const box = cell.appendChild(made('button', { type: 'button' }))
      box.dataset.label = label
      box.addEventListener('click', () => onEdit(i, j, !box.classList.contains('on')))
    } else if (onEdit) {
      const input = cell.appendChild(made('input', { type: 'number', step: 0.1, ariaLabel: label }))
      input.addEventListener('input', () => { if (Number.isFinite(input.valueAsNumber)) onEdit(i, j, input.valueAsNumber) })
      connectDrag(input, (value) => onEdit(i, j, value))
    } else {
      const button = cell.appendChild(made('button', { type: 'button' }))
      for (const type of ['focus', 'pointerenter', 'click']) button.addEventListener(type, () => onLook(i, j, type))
    }
    return cell
  })))
  host.replaceChildren(made('table', { className: typeof values[0][0] === 'boolean' ? 'small bits' : 'small' }, made('caption', { textContent: caption }), made('thead', {}, head), made('tbody', {}, ...body)))
  refresh(host, values, { digits, largest, chosen, hidden })
}

function refresh(host, values, { digits, largest, chosen, hidden }) {
  const lines = host.querySelectorAll('tbody tr')
  for (const [i, line] of values.entries()) line.forEach((value, j) => {
    const cell = lines[i].children[j + 1], inner = cell.firstElementChild
    cell.classList.toggle('chosen', Boolean(chosen && chosen(i, j)))
    if (typeof value === 'boolean') {
      inner.textContent = value ? '1' : '0'
      inner.classList.toggle('on', value)
      if (inner.dataset.label) inner.setAttribute('aria-label', `${inner.dataset.label}: ${inner.textContent}`)
      return
    }
    const kept = Boolean(hidden && hidden(i, j))
    shade(cell, kept ? 0 : value / largest)
    if (inner.tagName !== 'INPUT') inner.textContent = kept ? '?' : number(value, digits)
    else if (document.activeElement !== inner) inner.value = Number(value.toFixed(digits))
  })
}
