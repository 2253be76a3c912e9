/* The first thing on the page: a bar for each kind of module, here and in the baseline, and a line
 * where the registers' ceiling is. Longer is faster. */
import { html, nothing } from 'lit-html'
import { fill } from '../shared/fill.js'
import { say } from '../languages/say.js'
import { fixed } from '../plot/parts/numbers.js'
import type { BenchRow } from '../shared/types.js'

/** A bar and the line at its ceiling; no bar where nothing was measured. */
function bar(what: string, row: BenchRow | undefined, most: number) {
  const share = (value: number) => `${(100 * value) / most}%`
  return html`<span class=${`track ${what}`}>${
    row
      ? html`<span class="filled" .style=${`width: ${share(row.model.gflops)}`}></span><span class="ceiling" .style=${`left: ${share(row.ceiling)}`}></span>`
      : nothing
  }</span>`
}

/** @param rows measured here; none before that */
export function showBars(
  list: HTMLElement,
  rows: BenchRow[],
  base: BenchRow[],
  nameOf: (kind: string) => string
) {
  const of = (from: BenchRow[], kind: string) => from.find((row) => row.kind === kind),
    speed = (row: BenchRow | undefined) => (row ? fixed(row.model.gflops, 1) : '–'),
    most = Math.max(...[...rows, ...base].flatMap(({ ceiling, model }) => [ceiling, model.gflops]))
  const line = (kind: string) => {
    const [here, other] = [of(rows, kind), of(base, kind)],
      words = here
        ? say('bench.bar', { here: speed(here), baseline: speed(other) })
        : say('bench.baselineBar', { baseline: speed(other) })
    return html`<li><span class="name">${nameOf(kind)}</span><span class="tracks">${bar('here', here, most)}${bar('base', other, most)}</span><span class="speed">${words}</span></li>`
  }
  fill(list, [...new Set([...rows, ...base].map(({ kind }) => kind))].map(line))
}
