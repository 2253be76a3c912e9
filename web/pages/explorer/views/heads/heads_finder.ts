/* What the menu over the maps of all heads has: an order, a filter, and the mean of the heads.
 * Loaded when it is opened for the first time. */
import { html } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { parseFilter } from '../../model/head_finder.js'
import { numbersOfHeads } from '../../model/head_numbers.js'
import { say } from '../../../languages/say.js'
import type { Of } from '../../../shared/types.js'
import type { Page } from '../../types.js'

const numbers = Object.entries(numbersOfHeads).map(([name, [, text]]) => [
  name,
  text.replace(/,.*/, '')
])

/** What stands in the menu, with the state in it. */
export function finder({ store }: Page) {
  const { sort, descending, filter, head } = store.get()
  return html`<div class="row finder"><label>${say('heads.sort')} <select name="sort" @change=${({ target }: Of<HTMLSelectElement>) => store.set({ sort: target.value })}>${[['', say('heads.layer')], ...numbers].map(([name, text]) => html`<option value=${name} .selected=${live(name === sort)}>${text}</option>`)}</select></label>
    <button type="button" name="descending" aria-label=${say('heads.largestFirst')} aria-pressed=${descending} @click=${() => store.set({ descending: !descending })}>↓</button>
    <label>${say('heads.only')} <input name="filter" size="17" maxlength="60" placeholder="entropy &lt; 1.5" spellcheck="false" autocomplete="off" aria-invalid=${parseFilter(filter) === null} .value=${live(filter)} @input=${({ target }: Of<HTMLInputElement>) => store.set({ filter: target.value })}></label>
    <button type="button" name="mean" aria-pressed=${head === 'mean'} @click=${() => store.set({ head: head === 'mean' ? 0 : 'mean' })}>${say('heads.mean')}</button></div>`
}
