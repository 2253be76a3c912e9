/* The keys in words, in the dialog of help. Loaded when asked for. */
import './keys.js' // the switch beside the list
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
  ['Esc', 'the view before'],
  [`1–${Math.min(9, Object.keys(views).length)}`, 'views'],
  ['s', 'save as PNG'],
  ['l', 'copy link'],
  ['?', 'this list']
]

/** @param {HTMLDListElement} list */
export function showKeys(list) {
  list.replaceChildren(
    ...keys
      .flat()
      .map((textContent, i) =>
        Object.assign(document.createElement(i % 2 ? 'dd' : 'dt'), { textContent })
      )
  )
}
