/* Terms of the page explained where they stand: on hover, on focus and on a press, in one box that
 * Escape closes. Loaded with the first of them. */
import { laterStyles } from '../later_styles.js'
import { reasonOf } from './machine_reason.js'
import { say } from '../../languages/say.js'

/** By the term's text: how it begins, or in Japanese ends. */
const glossary = [
  ['× uniform', say('terms.weightNumberTokens1')],
  [say('scale.share'), say('terms.shareQuerysAttentionToken')],
  [say('scale.own'), say('menus.eachMapOwnEnd')],
  ['q·k', say('terms.scorePairBeforeSoftmax')],
  [say('terms.headsEntropy'), say('terms.meanEntropyOverAll')],
  [say('terms.entropy'), say('terms.howSpreadRow0')],
  [say('terms.maximum'), say('terms.entropyDividedLnN')],
  [say('terms.itself'), say('terms.shareAttentionQueryGives')],
  [say('terms.fromItself'), say('terms.shareOwnAttentionToken')],
  [say('terms.on'), say('terms.clsRegistersTokensWithout')],
  [say('terms.from'), say('terms.clsRegistersTokensWithout')],
  [say('terms.headsMeanDistance'), say('terms.howFarFromQuery')],
  [say('terms.meanAll'), say('terms.meanWeightAllQueries')],
  [say('terms.thatIs'), say('terms.sameNumberTimesUniform')],
  [say('explorer.head'), say('terms.oneSeveralIndependentAttentions')],
  [say('terms.layer'), say('terms.oneSeveralSteps')],
  [say('terms.patch'), say('terms.queryIsToken')],
  ['CLS', say('terms.clsRegistersTokensWithout')]
] as [string, string][]
const otherwise = say('terms.scoreEachPairBefore')

let box: HTMLElement | undefined
let shown: Element | null = null

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
  box.addEventListener('click', hide) // a finger can point at nothing else below it
  for (const type of ['pointerover', 'focusin', 'scroll'])
    addEventListener(type, ({ target }) => target !== shown && target !== box && hide(), true)
  return box
}

/** Shows what a term means below it, or above it where there is no room. */
export async function explain(term: Element) {
  await laterStyles()
  // While this loaded, the pointer or the focus may have left it.
  if (shown === term || !term.matches(':hover, :focus')) return
  const said = box ?? makeBox(),
    text = term.textContent ?? '',
    { why } = (term as HTMLElement).dataset // of the machine
  hide()
  shown = term
  said.textContent = why
    ? reasonOf(why)
    : (glossary.find(([start]) => text.startsWith(start) || text.endsWith(start))?.[1] ?? otherwise)
  said.hidden = false
  term.setAttribute('aria-describedby', said.id)
  const { left, top, bottom } = term.getBoundingClientRect(),
    below = bottom + 6 + said.offsetHeight < innerHeight
  said.style.left = `${Math.max(8, Math.min(left, innerWidth - said.offsetWidth - 8))}px`
  said.style.top = `${below ? bottom + 6 : top - 6 - said.offsetHeight}px`
}
