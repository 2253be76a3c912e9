/* The keys in words, in the dialog of help. Loaded when asked for. */
import { element } from '../../shared/elements.js'
import { laterStyles } from '../later_styles.js'
import { letters, switchLetters } from './keys.js'
import { views } from '../views/view_list.js'
import { reasonOf } from './machine_reason.js'
import { say } from '../../languages/say.js'

const keys = [
  [say('keyList.arrows'), say('keyList.anotherPatchAnotherHead')],
  ['c', say('keyList.fromClsBack')],
  ['[ ]', say('explorer.layer')],
  [', .', say('explorer.head')],
  ['m', say('keyList.meanHeads')],
  ['r', say('keyList.attentionReceivedPatch')],
  ['+ −', say('keyList.strengthMap')],
  ['h', say('keyList.ablateHeadRestore')],
  ['p', say('keyList.pinRowNoteComparison')],
  ['x', say('keyList.swapPinnedOne')],
  ['Esc', say('keyList.backViewPictureQuery')],
  ['Ctrl+Z', say('keyList.undoChangeScene')],
  ['Ctrl+Y', say('keyList.redoAlsoCtrlShift')],
  [`1–${Math.min(9, Object.keys(views).length)}`, say('keyList.views')],
  ['s', say('keyList.savePng')],
  ['l', say('keyList.copyLink')],
  ['?', say('keyList.list')]
]

const markup = `<dialog id="keys" aria-labelledby="keys-title">
  <h2 id="keys-title">${say('keyList.keys')}</h2>
  <p>${say('keyList.letterKeysWorkWhile')} <label><input type="checkbox" id="letters"> ${say('keyList.letterKeys')}</label></p>
  <dl class="keys" id="key-list"></dl>
  <p>${say('keyList.figuresPrintPanelsYour')}</p>
  <p><button type="button" id="tour-again">${say('keyList.showTour')}</button></p>
  <p class="hint" id="machine-why"></p>
  <form method="dialog"><button>${say('dialog.close')}</button></form>
</dialog>`

function makeDialog() {
  document.body.insertAdjacentHTML('beforeend', markup)
  const toggle = element('letters')
  toggle.checked = letters.checked
  toggle.addEventListener('change', () => switchLetters(toggle.checked))
  element('tour-again').addEventListener('click', () => {
    element('keys').close()
    element('tour-start').click()
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
  if (!element('keys')) makeDialog()
  const machine = element('machine')
  element('machine-why').textContent = machine.dataset.why
    ? say('keyList.browser', {
        textContent: machine.textContent,
        title: reasonOf(machine.dataset.why)
      })
    : ''
  element('keys').showModal()
}
