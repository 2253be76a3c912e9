/* A view that takes squares of patches away, one at a time, and shows on the picture's grid what the
 * prediction loses: what occlusion.ts and ablation.ts share. */
import { html, nothing, render } from 'lit-html'
import { fixed } from '../../../plot/parts/numbers.js'
import { divergingTable } from '../../../plot/diverging.js'
import { heat } from '../../../plot/heat.js'
import { percent } from '../../../plot/caption.js'
import { largestOf } from '../../../plot/raster.js'
import { signedScale } from '../../../plot/scale.js'
import { bar } from '../parts/bar.js'
import { showing } from '../parts/canvas.js'
import { className } from '../../../shared/names.js'
import { say } from '../../../languages/say.js'
import type { Of } from '../../../shared/types.js'
import type { Page, View } from '../../types.js'

/** A square in patches; at the edges it may be smaller. */
export type Square = { row: number; column: number; down: number; wide: number }
/** How squares are taken away: class probabilities of the whole picture, and without a square; end()
 * once all are done. */
export type Removal = {
  whole: Float32Array
  without(square: Square): Promise<Float32Array>
  end(): unknown
}
/** What is lost: [rows * columns], a square's loss for each of its patches; the class that loses,
 * and its probability with nothing taken away. */
export type Losses = { drops: Float32Array; best: number; share: number }

const diverging = divergingTable()

/** The ranks of values, 1 the least; equal ones share the mean of theirs. */
function ranksOf(values: ArrayLike<number>) {
  const order = Array.from(values, (value, i) => ({ value, i })).sort((a, b) => a.value - b.value),
    ranks = new Array(values.length)
  for (let from = 0; from < order.length; ) {
    let end = from
    while (end < order.length && order[end].value === order[from].value) end++
    for (let i = from; i < end; i++) ranks[order[i].i] = (from + end + 1) / 2
    from = end
  }
  return ranks
}

/** Spearman's rank correlation; NaN where one of the two is constant. */
export function rankCorrelation(a: ArrayLike<number>, b: ArrayLike<number>) {
  const [x, y] = [ranksOf(a), ranksOf(b)],
    middle = (a.length + 1) / 2,
    sum = (u: number[], v: number[]) =>
      u.reduce((total, value, i) => total + (value - middle) * (v[i] - middle), 0)
  return sum(x, y) / Math.sqrt(sum(x, x) * sum(y, y))
}

/** Squares of `side` patches that cover a grid, in raster order. */
export function squaresOf(rows: number, columns: number, side: number) {
  const squares: Square[] = []
  for (let row = 0; row < rows; row += side)
    for (let column = 0; column < columns; column += side)
      squares.push({
        row,
        column,
        down: Math.min(side, rows - row),
        wide: Math.min(side, columns - column)
      })
  return squares
}

/** The numbers of a square's patches. */
export const patchesOf = ({ row, column, down, wide }: Square, columns: number) =>
  Array.from(
    { length: down * wide },
    (_, i) => (row + Math.floor(i / wide)) * columns + column + (i % wide)
  )

/**
 * What the model's class loses with each square taken away.
 * @param onStep whether to go on
 * @returns null: stopped
 */
async function lossesOf(
  { rows, columns }: Page['engine']['shape'],
  side: number,
  { whole, without }: Removal,
  onStep: (done: number, of: number) => boolean
): Promise<Losses | null> {
  const drops = new Float32Array(rows * columns),
    best = whole.indexOf(Math.max(...whole)),
    squares = squaresOf(rows, columns, side)
  for (const [i, square] of squares.entries()) {
    if (!onStep(i + 1, squares.length)) return null
    const drop = whole[best] - (await without(square))[best]
    for (const patch of patchesOf(square, columns)) drops[patch] = drop
  }
  return { drops, best, share: whole[best] }
}

const sides: [side: number, text: string][] = [
  [1, say('squareEffects.1Patch')],
  [2, say('squareEffects.22Patches')],
  [4, say('squareEffects.44Patches')]
]

/**
 * What was lost, as a figure and in words.
 * @param verb what was done to the square that costs most
 */
function shownBy(
  { engine, drawn }: Page,
  { drops, best, share }: Losses,
  verb: string,
  about: string
) {
  const { rows, columns, prefixTokens } = engine.shape,
    scale = signedScale('points', 100 * largestOf(drops.map(Math.abs))),
    at = drops.indexOf(Math.max(...drops)),
    name = `“${className(engine.model.labels[best] ?? say('squareEffects.class', { best }))}”`,
    correlation = rankCorrelation(drops, drawn.row.subarray(prefixTokens)),
    weights = drops.map((drop) => 100 * drop)
  const figure = html`<figure><figcaption>${say('squareEffects.losesPercentagePoints', { name })}</figcaption><div class="raster"><canvas role="img" aria-label=${say('squareEffects.changePrediction', { about })} ${showing(heat({ weights, rows, columns, scale, table: diverging }))}></canvas></div>${bar(scale, diverging)}</figure>`
  const said = say('squareEffects.squareAtPatchCosts', {
    name,
    share: percent(share),
    verb,
    row: Math.floor(at / columns),
    column: at % columns,
    points: fixed(100 * drops[at], 1),
    correlation: Number.isNaN(correlation)
      ? say('squareEffects.noneOneTwoConstant')
      : fixed(correlation, 2)
  })
  return { figure, said }
}

/** The view. about, press, verb: its words; unable: why it cannot run now, or ''; begin: how squares
 * are taken away. */
export function squareView(
  page: Page,
  element: HTMLElement,
  left: AbortSignal,
  {
    about,
    press,
    verb,
    unable,
    begin
  }: { about: string; press: string; verb: string; unable(): string; begin(): Promise<Removal> }
): View {
  const { store, engine } = page
  let found = null as (Losses & { ran: number }) | null,
    side = 2,
    running = false,
    stopped = false,
    words = ''
  const stop = () => {
    stopped = true
  }
  left.addEventListener('abort', stop)

  async function run() {
    const { ran } = store.get(),
      removal = await begin()
    running = true
    stopped = false
    let losses = null as Losses | null
    try {
      losses = await lossesOf(engine.shape, side, removal, (at, of) => {
        words = say('squareEffects.square', { at, of })
        draw()
        return !stopped && ran === store.get().ran
      })
    } finally {
      await removal.end()
      found = losses && { ...losses, ran: store.get().ran }
      words = losses ? '' : say('frames.stopped')
      running = false
      if (!left.aborted) draw()
    }
  }

  function draw() {
    const why = unable()
    if (found && found.ran !== store.get().ran) found = null
    const { figure, said } =
      found && !running
        ? shownBy(page, found, verb, about)
        : { figure: nothing, said: running ? words : why || words }
    render(
      html`<p class="hint">${about}</p>
      <div class="row"><label>${say('squareEffects.squares')} <select name="side" ?disabled=${!running && why !== ''} @change=${({
        target
      }: Of<HTMLSelectElement>) => {
        side = Number(target.value)
      }}>${sides.map(([value, text]) => html`<option value=${value} ?selected=${value === 2}>${text}</option>`)}</select></label><button type="button" name="run" ?disabled=${running || why !== ''} @click=${() => run().catch(page.showError)}>${press}</button><button type="button" name="stop" ?hidden=${!running} @click=${stop}>${say('frames.stop')}</button></div>
      ${figure}<p class="hint" aria-live="polite">${why && !running ? why : said}</p>`,
      element
    )
  }
  return { keys: ['drawn', 'ran'], draw }
}
