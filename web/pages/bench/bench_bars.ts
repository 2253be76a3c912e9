/* The first thing on the page: a bar for each kind of module, here and in the baseline, and a line
 * where the registers' ceiling is. Longer is faster. */
import { say } from '../languages/say.js'
import { fixed } from '../plot/parts/numbers.js'
import type { BenchRow } from '../shared/types.js'

const made = (className: string, textContent: string = '') =>
  Object.assign(document.createElement('span'), { className, textContent })

/** A bar and the line at its ceiling; no bar where nothing was measured. */
function bar(what: string, row: BenchRow | undefined, most: number) {
  const track = made(`track ${what}`),
    share = (value: number) => `${(100 * value) / most}%`
  if (!row) return track
  const filled = made('filled'),
    ceiling = made('ceiling')
  filled.style.width = share(row.model.gflops)
  ceiling.style.left = share(row.ceiling)
  track.append(filled, ceiling)
  return track
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
  list.replaceChildren(
    ...[...new Set([...rows, ...base].map(({ kind }) => kind))].map((kind) => {
      const line = document.createElement('li'),
        [here, other] = [of(rows, kind), of(base, kind)],
        tracks = made('tracks')
      tracks.append(bar('here', here, most), bar('base', other, most))
      line.append(
        made('name', nameOf(kind)),
        tracks,
        made(
          'speed',
          here
            ? say('bench.bar', { here: speed(here), baseline: speed(other) })
            : say('bench.baselineBar', { baseline: speed(other) })
        )
      )
      return line
    })
  )
}
