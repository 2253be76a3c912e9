/* Lines from tokens to tokens: the picture twice, queries at the left and keys at the right, and a
 * line for a weight (Vig 2019, figure 1, on words). From one query it has all keys above uniform;
 * of all queries the strongest pairs of the head. Width and opacity follow the weight. */
import { html, render, svg } from 'lit-html'
import { percent, times } from '../../../plot/caption.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page } from '../../types.js'
import type { Of } from '../../../shared/types.js'

/* Lines of all queries: more cannot be told apart. */
const most = 200
const side = 100
const gap = 40

/** Where a token is in a picture whose left edge is at x: patches at their middle, others in a row
 * above it. */
function placeOf({ engine: { shape } }: Page, token: number, x: number): [x: number, y: number] {
  const { rows, columns, prefixTokens } = shape,
    unit = side / Math.max(rows, columns),
    patch = token - prefixTokens
  return patch < 0
    ? [x + (token + 0.5) * 8, -6]
    : [x + ((patch % columns) + 0.5) * unit, (Math.floor(patch / columns) + 0.5) * unit]
}

/**
 * The pairs that are drawn, the weakest first: of one row those above uniform, which is no choice
 * of the head, of a matrix the strongest of these.
 * @param matrix rows of queries, [T] or [T, T]
 * @param first token of the first row
 */
export function pairsOf(
  matrix: Float32Array,
  tokens: number,
  first: number
): { query: number; key: number; weight: number }[] {
  const least =
      matrix.length > tokens ? Float32Array.from(matrix).sort()[matrix.length - most] : -Infinity,
    pairs = []
  for (let i = 0; i < matrix.length; i++)
    if (matrix[i] >= least && matrix[i] * tokens > 1)
      pairs.push({ query: first + Math.floor(i / tokens), key: i % tokens, weight: matrix[i] })
  return pairs.sort((a, b) => a.weight - b.weight).slice(-Math.max(most, tokens))
}

/** The part of the picture that the model saw, as an address. */
function pictureOf({ engine, picture }: Page) {
  const { x, y, width, height } = engine.result.region,
    { rows, columns } = engine.shape,
    canvas = document.createElement('canvas'),
    { source } = picture,
    scale = 256 / Math.max(rows, columns)
  canvas.width = columns * scale
  canvas.height = rows * scale
  const context = canvas.getContext('2d') as CanvasRenderingContext2D
  const whole = document.createElement('canvas')
  if (source instanceof ImageData) {
    whole.width = source.width
    whole.height = source.height
    whole.getContext('2d')?.putImageData(source, 0, 0)
  }
  context.drawImage(
    source instanceof ImageData ? whole : source,
    x,
    y,
    width,
    height,
    0,
    0,
    canvas.width,
    canvas.height
  )
  return canvas.toDataURL()
}

type Pair = ReturnType<typeof pairsOf>[number]

/** The picture twice, and the pairs as lines from one to the other. */
function linesOf(page: Page, pairs: Pair[]) {
  const { engine } = page,
    { rows, columns, prefixTokens } = engine.shape,
    unit = side / Math.max(rows, columns),
    [width, height] = [columns * unit, rows * unit],
    right = width + gap,
    address = pictureOf(page),
    largest = pairs.at(-1)?.weight ?? 1
  const point = (token: number, x: number) => {
    const [cx, cy] = placeOf(page, token, x)
    return svg`<circle cx=${cx} cy=${cy} r="2"><title>${engine.nameOf(token)}</title></circle>`
  }
  const line = ({ query, key, weight }: Pair) => {
    const [x, y] = placeOf(page, query, 0),
      [u, v] = placeOf(page, key, right),
      share = weight / largest
    return svg`<path class="line" d=${`M${x.toFixed(1)} ${y.toFixed(1)}L${u.toFixed(1)} ${v.toFixed(1)}`} stroke-width=${(0.3 + 1.7 * share).toFixed(2)} opacity=${(0.15 + 0.85 * share).toFixed(2)}><title>${say('lines.pair', { query: engine.nameOf(query), key: engine.nameOf(key), weight: percent(weight) })}</title></path>`
  }
  return html`<svg role="img" aria-label=${say('lines.linesFromQueriesAt')} viewBox=${`-2 -12 ${right + width + 4} ${height + 14}`}>
    <image href=${address} width=${width} height=${height} /><image href=${address} x=${right} width=${width} height=${height} />
    ${Array.from({ length: prefixTokens }, (_, token) => [0, right].map((x) => point(token, x)))}${pairs.map(line)}
  </svg>`
}

/** @param of numbers that pairs were chosen of */
function wordsOf({ engine }: Page, pairs: Pair[], of: number, all: boolean) {
  const { tokens } = engine.shape,
    last = pairs.at(-1)
  if (!last) return say('lines.noKeyMoreThan')
  return say('lines.pairsEachAboveUniform', {
    pairs: pairs.length,
    of,
    query: engine.nameOf(last.query),
    key: engine.nameOf(last.key),
    times: times(last.weight, tokens),
    share: percent(pairs.reduce((sum, { weight }) => sum + weight, 0) / (all ? tokens : 1)),
    all: all ? say('lines.allQueries2') : ''
  })
}

export const view: MakeView = (page, element, { redraw }) => {
  const { store, engine } = page
  let every = false

  async function draw(latest: () => boolean) {
    const { layer, head } = store.get(),
      { tokens } = engine.shape,
      one = layer === 'pool' || head === 'mean',
      all = every && !one,
      matrix = all
        ? await engine.matrix(layer as number, head as number)
        : await engine.row({ layer, head, query: page.query() })
    if (!latest()) return
    const pairs = pairsOf(matrix, tokens, all ? 0 : engine.token(page.query()))
    render(
      html`<div class="row"><label><input type="checkbox" name="every" ?disabled=${one} @change=${({
        target
      }: Of<HTMLInputElement>) => {
        every = target.checked
        redraw()
      }}> ${say('lines.allQueries')}</label></div>
      <figure class="lines">${linesOf(page, pairs)}</figure><p class="hint" aria-live="polite">${wordsOf(page, pairs, matrix.length, all)}</p>`,
      element
    )
  }
  return { keys: ['drawn'], draw }
}
