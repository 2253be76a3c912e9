/* On a phone the numbers are a sheet at the lower edge of the screen; style.css says when. Its
 * handle opens and closes it: pressed, by key, or drawn up and down; Escape closes it. */
import { element } from '../../shared/elements.js'

const far = 40 // pixels that a finger is drawn to open or close

export function connectSheet() {
  const sheet = element('numbers'),
    handle = element('handle')
  let from = null as number | null,
    drawn = false

  function open(opened: boolean) {
    sheet.classList.toggle('open', opened)
    handle.setAttribute('aria-expanded', opened)
    if (!opened) sheet.scrollTop = 0
  }
  const isOpen = () => sheet.classList.contains('open')

  handle.addEventListener('click', ({ detail }) => {
    if (!drawn || !detail) open(!isOpen()) // a key has no presses in its detail
    drawn = false
  })
  handle.addEventListener('pointerdown', ({ clientY, pointerId }) => {
    from = clientY
    drawn = false
    handle.setPointerCapture(pointerId)
  })
  handle.addEventListener('pointermove', ({ clientY }) => {
    if (from === null) return
    drawn ||= Math.abs(clientY - from) > 8
    sheet.style.setProperty('--drawn', `${clientY - from}px`)
  })
  const end = ({ clientY, type }: PointerEvent) => {
    if (from !== null && type === 'pointerup' && Math.abs(clientY - from) > far) {
      drawn = true // also where no movement was reported: the click that follows is not a press
      open(clientY < from)
    }
    from = null
    sheet.style.removeProperty('--drawn')
  }
  for (const type of ['pointerup', 'pointercancel'] as const) handle.addEventListener(type, end)
  sheet.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !isOpen() || document.querySelector(':popover-open')) return
    open(false)
    handle.focus()
  })
}
