/* One query and one key, number by number: the products of their dimensions sum to the score (the
 * neuron view of Vig 2019). Below it the same products for the keys that the query gives most to. */
import { html, nothing, render } from 'lit-html'
import { fixed } from '../../../plot/parts/numbers.js'
import { divergingTable } from '../../../plot/diverging.js'
import { heat } from '../../../plot/heat.js'
import { percent, topOf } from '../../../plot/caption.js'
import { largestOf } from '../../../plot/raster.js'
import { signedScale } from '../../../plot/scale.js'
import { bar } from '../parts/bar.js'
import { showing } from '../parts/canvas.js'
import { say } from '../../../languages/say.js'
import type { RunnerResult } from '../../../shared/types.js'
import type { MakeView, Page } from '../../types.js'

const diverging = divergingTable(),
  shown = 5,
  kept = say('pair.queriesKeysKeptSmall'),
  single = say('pair.chooseOneHeadLayer')

/** The vector of a token in a head, [d]; null where the run did not keep it. values: of the run. */
export function vectorOf(
  { engine }: Page,
  what: 'query' | 'key' | 'value',
  layer: number,
  head: number,
  token: number,
  values: RunnerResult['values']
): Float32Array | null {
  const value = values[`layer.${layer}.${what}`],
    { heads, tokens } = engine.shape
  if (!value) return null
  const length = value.data.length / heads / tokens,
    from = (head * tokens + token) * length
  return (value.data as Float32Array).subarray(from, from + length)
}

/**
 * Of a query and a key: the products of their numbers, their sum (the raw score), and that over
 * the root of their length, in double.
 * @param query [d]
 * @param key [d]
 */
export function productsOf(query: Float32Array, key: Float32Array) {
  const products = Array.from(query, (value, i) => value * key[i]),
    raw = products.reduce((sum, value) => sum + value, 0)
  return { products, raw, scaled: raw / Math.sqrt(query.length) }
}

/** A row of the table: a name, its numbers as colours, what they sum to. */
function line(
  name: string,
  numbers: ArrayLike<number>,
  sum: string,
  end: number,
  head: unknown = name
) {
  const raster = heat({
    weights: Float32Array.from(numbers),
    rows: 1,
    columns: numbers.length,
    scale: signedScale('', end),
    table: diverging
  })
  return html`<tr><th scope="row">${head}</th><td><canvas role="img" aria-label=${`${name}: ${Array.from(numbers, (value) => fixed(value, 2)).join(', ')}`} ${showing(raster)}></canvas></td><td>${sum}</td></tr>`
}

const largestSize = (numbers: Iterable<number>) => largestOf(Float32Array.from(numbers, Math.abs))

/** What the dimensions that count most give. */
const countsMost = (products: number[]) =>
  products
    .map((value, i) => ({ i, value }))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, 3)
    .map(({ i, value }) => `${i} (${fixed(value, 2)})`)
    .join(', ')

export const wordsOfProducts = (
  { products, raw, scaled }: { products: number[]; raw: number; scaled: number },
  weight: string
) =>
  say('pair.productsSumOverRoot', {
    raw: fixed(raw, 3),
    depth: products.length,
    scaled: fixed(scaled, 3),
    weight,
    products: countsMost(products)
  })

const captionOf = (engine: Page['engine'], query: number, key: number, depth: number) =>
  say('pair.asksAskedDimensions', {
    token: engine.nameOf(query),
    key: engine.nameOf(key),
    depth
  })

/**
 * The products of a query with the chosen key, and with those that it gives most to.
 * @param chosen null: the key with the most weight
 */
function productsOfKeys(
  page: Page,
  {
    query,
    weights,
    token,
    values,
    chosen
  }: {
    query: Float32Array
    weights: Float32Array
    token: number
    values: RunnerResult['values']
    chosen: number | null
  },
  choose: (key: number) => void
) {
  const { engine, store } = page,
    { layer, head } = store.get(),
    most = topOf(weights, shown + 1)
      .map((entry) => entry.token)
      .filter((key) => key !== token)
      .slice(0, shown),
    key = chosen !== null && chosen < weights.length ? chosen : most[0],
    vectorOfKey = (other: number) =>
      vectorOf(page, 'key', +layer, +head, other, values) as Float32Array,
    ofKey = vectorOfKey(key),
    found = productsOf(query, ofKey),
    end = largestSize(found.products),
    endOfBoth = largestSize([...query, ...ofKey])
  const lineOfKey = (other: number) => {
    const { products, raw } = productsOf(query, vectorOfKey(other)),
      name = engine.nameOf(other)
    return line(
      name,
      products,
      `${fixed(raw, 2)}, ${percent(weights[other])}`,
      end,
      html`<button type="button" aria-pressed=${other === key} @click=${() => choose(other)}>${name}</button>`
    )
  }
  const table = html`<div class="scroll" tabindex="0" role="region" aria-label=${say('pair.numbersQueryKey')}><table class="products"><caption>${captionOf(engine, token, key, query.length)}</caption><tbody>${line('query', query, '', endOfBoth)}${line('key', ofKey, '', endOfBoth)}${[...new Set([key, ...most])].map(lineOfKey)}</tbody></table></div>${bar(signedScale('product', end), diverging)}`
  return { table, said: wordsOfProducts(found, percent(weights[key])) }
}

export const view: MakeView = (page, element, { left, redraw }) => {
  const { store, engine } = page
  /* The chosen key; null: the one with the most weight. */
  let chosen = null as number | null,
    picking = false
  const paint: Page['paint'] = (row, column, how) => {
    if (how !== 'step') choose(engine.token([row, column])) // steps move the focus, Enter picks
    return true
  }
  left.addEventListener('abort', () => {
    page.paint = null
  })

  function choose(token: number) {
    chosen = token
    redraw()
  }
  function pick() {
    picking = !picking
    page.paint = picking ? paint : null
    redraw()
  }

  async function draw(latest: () => boolean) {
    const { layer, head } = store.get(),
      token = engine.token(page.query()),
      one = layer !== 'pool' && head !== 'mean',
      at = page.query(),
      values = one ? await engine.values([`layer.${layer}.query`, `layer.${layer}.key`]) : {},
      query = one ? vectorOf(page, 'query', +layer, +head, token, values) : null,
      weights = query && (await engine.row({ layer, head, query: at }))
    if (!latest()) return
    const { table = nothing, said } = weights
      ? productsOfKeys(
          page,
          { query: query as Float32Array, weights, token, values, chosen },
          choose
        )
      : { said: one ? kept : single }
    render(
      html`<div class="row"><button type="button" name="pick" aria-pressed=${picking} ?disabled=${!query} @click=${pick}>${say('pair.chooseKeyPicture')}</button></div>
      ${table}<p class="hint" aria-live="polite">${said}</p>`,
      element
    )
  }

  return { keys: ['drawn'], draw }
}
