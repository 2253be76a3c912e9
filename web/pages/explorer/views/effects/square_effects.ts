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
/** What the model's class loses with each square of `side` patches taken away. onStep: a run has
 * ended. */
export type LossesOf = (
  side: number,
  onStep: (done: number, of: number) => void,
  stop: AbortSignal
) => Promise<Losses>
/** What is lost: [rows * columns], a square's loss for each of its patches; the class that loses,
 * and its probability with nothing taken away. */
export type Losses = { drops: Float32Array; best: number; share: number }

const diverging = divergingTable()

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
    correlation = engine.explain.rankCorrelation(drops, drawn.row.slice(prefixTokens)),
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

/** The view. about, press, verb: its words; unable: why it cannot run now, or ''. */
export function squareView(
  page: Page,
  element: HTMLElement,
  left: AbortSignal,
  {
    about,
    press,
    verb,
    unable,
    lossesOf
  }: { about: string; press: string; verb: string; unable(): string; lossesOf: LossesOf }
): View {
  const { store } = page
  let found = null as (Losses & { ran: number }) | null,
    side = 2,
    running = null as AbortController | null,
    words = ''
  const stop = () => running?.abort()
  left.addEventListener('abort', stop)

  async function run() {
    const { ran } = store.get(),
      own = (running = new AbortController())
    let losses = null as Losses | null
    words = say('explainer.running')
    draw()
    try {
      losses = await lossesOf(
        side,
        (at, of) => {
          if (ran !== store.get().ran) stop()
          words = say('squareEffects.square', { at, of })
          draw()
        },
        own.signal
      )
    } catch (error) {
      if (!own.signal.aborted) throw error
    } finally {
      found = losses && { ...losses, ran: store.get().ran }
      words = losses ? '' : say('frames.stopped')
      running = null
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
