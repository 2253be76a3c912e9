/* What the model is, below its name: its family and rules, what was assumed of it, the licence that
 * its files state, and the SHA-256 of its weights. Loaded for another model than the demo's, which the page has from the start; weights are
 * hashed beside the page's own work, large ones when asked for. */
import { html, nothing } from 'lit-html'
import { element } from '../../shared/elements.js'
import { fixed } from '../../plot/parts/numbers.js'
import { demoModel } from '../../heed/demo.js'
import { say } from '../../languages/say.js'
import { rulesOf } from './rules_line.js'
import { hashesOf, weightsOf } from '../../shared/weight_hashes.js'
import { showNotice } from '../controls/status.js'
import { copyHashes } from '../controls/copying.js'
import { sourceOf } from '../state/place.js'
import { fill } from '../../shared/fill.js'
import type { Page } from '../types.js'
import type { PageSource, SavedMaps } from '../../shared/types.js'

/* Larger weights are hashed when asked for: the browser holds a whole file for it. In bytes. */
const hashAtOnce = 2e8

/** The hash, or what computes it, as a button. */
const hashButton = (text: string, title: string, label: string, act: () => void) =>
  html`SHA-256 <button type="button" class="plain" title=${title} aria-label=${label} @click=${act}>${text}</button>`

/** The first eight digits; all of them on hover and copied on a press. */
function wordsOfHash(hashes: Record<string, string | null>, many: number) {
  const known = Object.entries(hashes).filter(([, sum]) => sum),
    all = known.map(([name, sum]) => `${sum}  ${name}`).join('\n')
  if (!known.length) return say('origin.tooLarge')
  const first = `${(known[0][1] as string).slice(0, 8)}…`,
    short = many > 1 ? say('origin.more', { short: first, more: many - 1 }) : first
  return hashButton(short, all, say('origin.copyHash', { short }), () => copyHashes(all))
}

/**
 * The button that starts from the first token says which that is.
 * @param tokenNames of the tokens before the patches
 */
function nameFirst([first]: string[]) {
  const button = element('cls') as HTMLButtonElement
  button.textContent = say('origin.fromToken', { name: first ?? 'CLS' })
}

export async function showOrigin(page: Page) {
  const host = element('model-origin'),
    source = sourceOf(page),
    { model } = page.engine,
    current = () => source === sourceOf(page)
  nameFirst(model.tokenNames ?? ['CLS'])
  if ((source as SavedMaps).attention) return fill(host, say('origin.maps'))
  const licence =
    source === demoModel
      ? 'Apache-2.0'
      : await import('./licence.js').then(({ readLicence }) => readLicence(source as PageSource))
  if (!current()) return
  const weights = weightsOf(source as PageSource),
    size = weights.reduce((sum, [, file]) => sum + (file.size ?? 0), 0)
  const show = (sum: unknown) =>
    fill(
      host,
      html`${rulesOf(model)}<br>${model.note ? html`${model.note}.<br>` : nothing}${say('origin.licence', { licence })}<br><span>${sum}</span>`
    )
  show(nothing)
  const work = async () => {
    const hashes = await hashesOf(source as PageSource)
    if (current()) show(wordsOfHash(hashes, weights.length))
  }
  if (model.headsGuessed) showNotice(say('origin.assumed', { assumed: model.assumed as string }))
  if (size <= hashAtOnce) return work()
  show(
    hashButton(
      say('origin.compute'),
      say('origin.toRead', { gigabytes: fixed(size / 1e9, 1) }),
      say('origin.computeHash'),
      () => {
        show('SHA-256 …')
        work().catch(page.showError)
      }
    )
  )
}
