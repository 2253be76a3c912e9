/* The keys in words, in the dialog of help. Loaded when asked for. */
import { html, render } from 'lit-html'
import { element } from '../../shared/elements.js'
import { laterStyles } from '../later_styles.js'
import { letters, switchLetters } from './keys.js'
import { views } from '../views/view_list.js'
import { reasonOf } from './machine_reason.js'
import { say } from '../../languages/say.js'
import type { Of } from '../../shared/types.js'

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

/** The dialog, the one template of the body, with how this machine runs the model. */
function show(machine: string) {
  const tour = () => {
    element('keys').close()
    element('tour-start').click()
  }
  const toggle = ({ target }: Of<HTMLInputElement>) => switchLetters(target.checked)
  render(
    html`<dialog id="keys" aria-labelledby="keys-title">
  <h2 id="keys-title">${say('keyList.keys')}</h2>
  <p>${say('keyList.letterKeysWorkWhile')} <label><input type="checkbox" id="letters" .checked=${letters.checked} @change=${toggle}> ${say('keyList.letterKeys')}</label></p>
  <dl class="keys" id="key-list">${keys.map(([key, does]) => html`<dt>${key}</dt><dd>${does}</dd>`)}</dl>
  <p>${say('keyList.figuresPrintPanelsYour')}</p>
  <p><button type="button" id="tour-again" @click=${tour}>${say('keyList.showTour')}</button></p>
  <p class="hint" id="machine-why">${machine}</p>
  <form method="dialog"><button>${say('dialog.close')}</button></form>
</dialog>`,
    document.body
  )
}

/** Opens the dialog of help. */
export async function showKeys() {
  await laterStyles()
  const { textContent, dataset } = element('machine')
  show(dataset.why ? say('keyList.browser', { textContent, title: reasonOf(dataset.why) }) : '')
  element('keys').showModal()
}
