/* What the menu over the maps of all heads has: an order, a filter, and the mean of the heads.
 * Loaded when it is opened for the first time. */
import { parseFilter } from '../model/head_finder.js'
import { numbersOfHeads } from '../model/head_numbers.js'
import { say } from '../../languages/say.js'
import type { Field, Page, State } from '../../../types/pages.js'

const markup = `<div class="row finder"><label>${say('heads.sort')} <select name="sort"><option value="">${say('heads.layer')}</option></select></label>
    <button type="button" name="descending" aria-label="${say('heads.largestFirst')}">↓</button>
    <label>${say('heads.only')} <input name="filter" size="17" maxlength="60" placeholder="entropy &lt; 1.5" spellcheck="false" autocomplete="off"></label>
    <button type="button" name="mean">${say('heads.mean')}</button></div>`

/** Fills the menu. Returns a function that shows the state in it. */
export function createFinder({ store }: Page, menu: HTMLElement) {
  menu.insertAdjacentHTML('beforeend', markup)
  const field = (name: string) => menu.querySelector(`[name=${name}]`) as Field
  field('sort').append(
    ...Object.entries(numbersOfHeads).map(
      ([name, [, text]]) => new Option(text.replace(/,.*/, ''), name)
    )
  )
  field('sort').addEventListener('change', ({ target }) => store.set({ sort: target.value }))
  field('descending').addEventListener('click', () =>
    store.set({ descending: !store.get().descending })
  )
  field('filter').addEventListener('input', ({ target }) => store.set({ filter: target.value }))
  field('mean').addEventListener('click', () =>
    store.set({ head: store.get().head === 'mean' ? 0 : 'mean' })
  )

  function show({ sort, descending, filter, head }: Readonly<State>) {
    field('sort').value = sort
    field('descending').setAttribute('aria-pressed', descending)
    if (document.activeElement !== field('filter')) field('filter').value = filter
    field('filter').setAttribute('aria-invalid', parseFilter(filter) === null)
    field('mean').setAttribute('aria-pressed', head === 'mean')
  }
  show(store.get())
  return show
}
