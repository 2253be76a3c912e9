/* The cell as the front end of an anywidget: its traits are data, layer, head and query. */
import { show } from './cell.js'
import type { CellData, Choice } from './cell.js'

/** What anywidget gives: traits by name. */
interface Traits {
  get(name: 'data'): CellData
  get(name: keyof Choice): number
  set(name: keyof Choice, value: number): void
  save_changes(): void
  on(event: string, call: () => void): void
  off(event: string, call: () => void): void
}

const traits = ['layer', 'head', 'query'] as const

function render({ model, el }: { model: Traits; el: HTMLElement }) {
  const read = () =>
    Object.fromEntries(traits.map((name) => [name, model.get(name)])) as unknown as Choice
  const cell = show(el, { ...model.get('data'), ...read() }, (choice) => {
    for (const name of traits) model.set(name, choice[name])
    model.save_changes()
  })
  const moved = () => cell.choose(read())
  for (const name of traits) model.on(`change:${name}`, moved)
  return () => {
    for (const name of traits) model.off(`change:${name}`, moved)
  }
}

export default { render }
