/* A lane for each layer, with a bar or a colour for each head: numbers of both signs. The cells are
 * buttons of one grid, with one tab stop. */
import { html, svg } from 'lit-html'
import { createGrid, makeGrid } from '../../controls/button_grid.js'

const barWidth = 0.72 // of a cell

export interface LaneOptions {
  label: string
  name: (layer: number, column: number) => string
  onPick: (layer: number, column: number) => void
}

/** Lanes with a grid of buttons; make one for a view. */
export class Lanes {
  #element
  #grid
  #size = ''

  constructor({ label, name, onPick }: LaneOptions) {
    this.#element = makeGrid(label)
    this.#grid = createGrid(this.#element, { name, onPick })
  }

  /** The bars of numbers [layers, columns], as large as `end` at most. */
  #bars(values: ArrayLike<number>, layers: number, columns: number, end: number) {
    return Array.from({ length: layers * columns }, (_, i) => {
      const share = Math.max(-1, Math.min(1, values[i] / end)) || 0,
        [row, column] = [Math.floor(i / columns), i % columns],
        height = Math.max(0.012, Math.abs(share) * 0.46)
      return svg`<rect class=${share < 0 ? 'less' : 'more'} x=${column + (1 - barWidth) / 2} y=${row + 0.5 - (share > 0 ? height : 0)} width=${barWidth} height=${height} />`
    })
  }

  /**
   * @param names of the columns
   * @param ground below the buttons: a canvas of a template; without it bars are drawn
   */
  show(
    values: ArrayLike<number>,
    layers: number,
    names: string[],
    { end, chosen, ground }: { end: number; chosen: [number, number] | null; ground?: unknown }
  ) {
    const columns = names.length,
      size = `${layers} ${columns}`,
      isNew = this.#size !== size
    this.#size = size
    this.#grid.resize(layers, columns)
    this.#grid.select(chosen && chosen[0] < layers ? chosen[0] : null, chosen?.[1])
    if (isNew) this.#grid.name()
    else this.#grid.relabel()
    const rules = Array.from(
      { length: layers },
      (_, i) => svg`<path class="zero" d=${`M0 ${i + 0.5}H${columns}`} />`
    )
    return html`<div class="lanes"><i></i><div class="across" aria-hidden="true">${names.map((name) => html`<span>${name}</span>`)}</div><div class="down" aria-hidden="true">${Array.from({ length: layers }, (_, i) => html`<span>${i}</span>`)}</div><div class="raster" .style=${`aspect-ratio: ${columns} / ${layers * (ground ? 1 : 0.8)}`}>${ground ?? html`<svg aria-hidden="true" preserveAspectRatio="none" viewBox=${`0 0 ${columns} ${layers}`}>${rules}${this.#bars(values, layers, columns, end)}</svg>`}${this.#element}</div></div>`
  }
}
