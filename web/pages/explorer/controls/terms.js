/* Terms of the page explained where they stand: on hover, on focus and on a press, in one box that
 * Escape closes. Loaded with the first of them. */
import { laterStyles } from '../later_styles.js'

/** By the beginning of the term's text. */
const glossary = /** @type {[string, string][]} */ ([
  ['× uniform', 'Weight × number of tokens. 1 = what equal attention would give every token.'],
  ['% of the row', 'The share of the query’s attention that a token receives.'],
  ['share of each', 'Each map has its own end: colours of different maps do not compare.'],
  ['q·k', 'The score of a pair before softmax: a dot product of query and key.'],
  ['Head’s entropy', 'The mean entropy over all patch queries of this head.'],
  ['Entropy', 'How spread the row is: 0 = one token has all, ln N = all tokens alike.'],
  ['of the maximum', 'Entropy divided by ln N, which a row of equal weights has.'],
  ['On itself', 'The share of attention that the query gives to its own token.'],
  ['From itself', 'The share of its own attention that the token gives to itself.'],
  [
    'On ',
    'CLS and registers are tokens without a place in the picture; CLS collects the picture for the classifier.'
  ],
  [
    'From ',
    'CLS and registers are tokens without a place in the picture; CLS collects the picture for the classifier.'
  ],
  [
    'Head’s mean distance',
    'How far from its query this head attends on average, over all queries.'
  ],
  ['Mean of all', 'The mean weight that all queries give to this token.'],
  ['that is', 'The same number as times uniform: 1 = equal attention.'],
  ['head', 'One of several independent attentions of a layer.']
])
const otherwise = 'A score of each pair before softmax turns a row into shares that sum to 1.'

/** @type {HTMLElement | undefined} */
let box
/** @type {Element | null} */
let shown = null

function hide() {
  if (box) box.hidden = true
  shown?.removeAttribute('aria-describedby')
  shown = null
}

function makeBox() {
  box = document.body.appendChild(
    Object.assign(document.createElement('p'), { id: 'term-said', className: 'term-said' })
  )
  box.setAttribute('role', 'tooltip')
  addEventListener('keydown', ({ key }) => key === 'Escape' && hide())
  for (const type of ['pointerover', 'focusin', 'scroll'])
    addEventListener(type, ({ target }) => target !== shown && target !== box && hide(), true)
  return box
}

/**
 * Shows what a term means below it, or above it where there is no room.
 * @param {Element} term
 */
export async function explain(term) {
  await laterStyles()
  // While this loaded, the pointer or the focus may have left it.
  if (shown === term || !term.matches(':hover, :focus')) return
  const said = box ?? makeBox(),
    text = term.textContent ?? ''
  hide()
  shown = term
  said.textContent = glossary.find(([start]) => text.startsWith(start))?.[1] ?? otherwise
  said.hidden = false
  term.setAttribute('aria-describedby', said.id)
  const { left, top, bottom } = term.getBoundingClientRect(),
    below = bottom + 6 + said.offsetHeight < innerHeight
  said.style.left = `${Math.max(8, Math.min(left, innerWidth - said.offsetWidth - 8))}px`
  said.style.top = `${below ? bottom + 6 : top - 6 - said.offsetHeight}px`
}
