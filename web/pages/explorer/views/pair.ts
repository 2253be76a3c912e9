/* One query and one key, number by number: the products of their dimensions sum to the score (the
 * neuron view of Vig 2019). Below it the same products for the keys that the query gives most to. */
import { fixed } from '../../plot/parts/numbers.js'
import { divergingTable } from '../../plot/diverging.js'
import { heat } from '../../plot/heat.js'
import { percent, topOf } from '../../plot/caption.js'
import { largestOf } from '../../plot/raster.js'
import { signedScale } from '../../plot/scale.js'
import { drawSmallBar, smallBar } from './bar.js'
import { put } from './canvas.js'
import { say } from '../../languages/say.js'
import type { MakeView, Page } from '../../../types/pages.js'

const diverging = divergingTable(),
  shown = 5,
  kept = say('pair.queriesKeysKeptSmall'),
  single = say('pair.chooseOneHeadLayer')

/** The vector of a token in a head, [d]; null where the run did not keep it. */
export function vectorOf(
  { engine }: Page,
  what: 'query' | 'key',
  layer: number,
  head: number,
  token: number
): Float32Array | null {
  const value = engine.result.values[`layer.${layer}.${what}`],
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
function line(name: HTMLElement | string, numbers: ArrayLike<number>, sum: string, end: number) {
  const row = document.createElement('tr'),
    head = Object.assign(document.createElement('th'), { scope: 'row' }),
    cell = document.createElement('td'),
    canvas = document.createElement('canvas')
  head.append(name)
  put(
    canvas,
    heat({
      weights: Float32Array.from(numbers),
      rows: 1,
      columns: numbers.length,
      scale: signedScale('', end),
      table: diverging
    })
  )
  canvas.setAttribute('role', 'img')
  canvas.setAttribute(
    'aria-label',
    `${head.textContent}: ${Array.from(numbers, (value) => fixed(value, 2)).join(', ')}`
  )
  cell.append(canvas)
  row.append(head, cell, Object.assign(document.createElement('td'), { textContent: sum }))
  return row
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

const wordsOf = (
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

function nameButton(textContent: string, pressed: boolean) {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent })
  button.setAttribute('aria-pressed', String(pressed))
  return button
}

export const view: MakeView = (page, element, { left }) => {
  const { store, engine } = page
  element.innerHTML = `<div class="row"><button type="button" name="pick" aria-pressed="false">${say('pair.chooseKeyPicture')}</button></div>
    <div class="scroll" tabindex="0" role="region" aria-label="${say('pair.numbersQueryKey')}"><table class="products"><caption></caption><tbody></tbody></table></div>${smallBar}<p class="hint" aria-live="polite"></p>`
  const pick = element.querySelector('[name=pick]') as HTMLButtonElement,
    body = element.querySelector('tbody'),
    said = element.querySelector('p')
  /* The chosen key; null: the one with the most weight. */
  let chosen = null as number | null
  const picking = () => pick.getAttribute('aria-pressed') === 'true'
  pick.addEventListener('click', () => pick.setAttribute('aria-pressed', String(!picking())))
  page.paint = (row, column, how) => {
    if (!picking()) return false
    if (how !== 'step') choose(engine.token([row, column])) // steps move the focus, Enter picks
    return true
  }
  left.addEventListener('abort', () => {
    page.paint = null
  })

  function choose(token: number) {
    chosen = token
    draw(() => true).catch(page.showError)
  }

  async function draw(latest: () => boolean) {
    const { layer, head } = store.get(),
      token = engine.token(page.query()),
      one = layer !== 'pool' && head !== 'mean'
    const query = one ? vectorOf(page, 'query', +layer, +head, token) : null
    element.querySelector('.scroll').hidden = element.querySelector('.bar').hidden = !query
    pick.disabled = !query
    if (!query) return (said.textContent = one ? kept : single)
    const weights = await engine.row({ layer, head, query: page.query() })
    if (!latest()) return
    const most = topOf(weights, shown + 1)
        .map((entry) => entry.token)
        .filter((key) => key !== token)
        .slice(0, shown),
      key = chosen !== null && chosen < weights.length ? chosen : most[0],
      keys = [...new Set([key, ...most])],
      vectorOfKey = (other: number) => vectorOf(page, 'key', +layer, +head, other) as Float32Array,
      ofKey = vectorOfKey(key),
      found = new Map(keys.map((other) => [other, productsOf(query, vectorOfKey(other))])),
      { products, raw, scaled } = found.get(key) ?? productsOf(query, ofKey),
      end = largestSize(products),
      endOfBoth = largestSize([...query, ...ofKey])
    element.querySelector('caption').textContent = captionOf(engine, token, key, query.length)
    body.replaceChildren(
      line('query', query, '', endOfBoth),
      line('key', ofKey, '', endOfBoth),
      ...keys.map((other) => {
        const { products, raw } = found.get(other) ?? productsOf(query, ofKey),
          button = nameButton(engine.nameOf(other), other === key)
        button.addEventListener('click', () => choose(other))
        return line(button, products, `${fixed(raw, 2)}, ${percent(weights[other])}`, end)
      })
    )
    drawSmallBar(element, signedScale('product', end), diverging)
    said.textContent = wordsOf({ products, raw, scaled }, percent(weights[key]))
  }
  return { keys: ['drawn'], draw }
}
