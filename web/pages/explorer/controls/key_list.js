/* The keys in words, in the dialog of help. Loaded when asked for. */
import { laterStyles } from '../later_styles.js'
import { letters, switchLetters } from './keys.js'
import { views } from '../views/view_list.js'

const keys = [
  ['arrows', 'another patch, or another head'],
  ['c', 'from CLS and back'],
  ['[ ]', 'layer'],
  [', .', 'head'],
  ['m', 'mean of the heads'],
  ['r', 'attention received by this patch'],
  ['+ −', 'strength of the map'],
  ['h', 'ablate the head, and restore it'],
  ['p', 'pin this row: a note, a comparison'],
  ['x', 'swap it with the pinned one'],
  ['Esc', 'back: the view, picture or query before'],
  ['Ctrl+Z', 'undo a change of the scene'],
  ['Ctrl+Y', 'redo it; also Ctrl+Shift+Z'],
  [`1–${Math.min(9, Object.keys(views).length)}`, 'views'],
  ['s', 'save as PNG'],
  ['l', 'copy link'],
  ['?', 'this list']
]

const markup = `<dialog id="keys" aria-labelledby="keys-title">
  <h2 id="keys-title">Keys</h2>
  <p>Letter keys work while the image or the views have the focus, ? everywhere. <label><input type="checkbox" id="letters"> Letter keys on</label></p>
  <dl class="keys" id="key-list"></dl>
  <p>Figures for print, with panels of your choice: Save…, Figure….</p>
  <p><button type="button" id="tour-again">Show the tour</button></p>
  <p class="hint" id="machine-why"></p>
  <form method="dialog"><button>Close</button></form>
</dialog>`

function makeDialog() {
  document.body.insertAdjacentHTML('beforeend', markup)
  const toggle = document.getElementById('letters')
  toggle.checked = letters.checked
  toggle.addEventListener('change', () => switchLetters(toggle.checked))
  document.getElementById('tour-again').addEventListener('click', () => {
    document.getElementById('keys').close()
    document.getElementById('tour-start').click()
  })
  document
    .getElementById('key-list')
    .replaceChildren(
      ...keys
        .flat()
        .map((textContent, i) =>
          Object.assign(document.createElement(i % 2 ? 'dd' : 'dt'), { textContent })
        )
    )
}

/** Opens the dialog of help. */
export async function showKeys() {
  await laterStyles()
  if (!document.getElementById('keys')) makeDialog()
  const machine = document.getElementById('machine')
  document.getElementById('machine-why').textContent =
    machine.title && `This browser: ${machine.textContent}. ${machine.title}.`
  document.getElementById('keys').showModal()
}
