/* What the tokens have become after a layer: how alike each patch is to the query (cosine of their
 * states), and how long each state is: a few very long ones are the artefacts that registers were
 * made for (Darcet et al. 2024). Beside them how alike the places are to the model before it has
 * seen anything: the cosine of position embeddings (Dosovitskiy et al. 2021, figure 7). */
import { fixed } from '../../plot/parts/numbers.js'
import { likeness } from '../model/token_similarity.js'
import { divergingTable } from '../../plot/diverging.js'
import { heat } from '../../plot/heat.js'
import { largestOf } from '../../plot/raster.js'
import { plainScale, signedScale } from '../../plot/scale.js'
import { drawSmallBar, smallBar } from './bar.js'
import { put } from './canvas.js'
import { say } from '../../languages/say.js'
/** @import {MakeView, Page, Runner} from '../../../types/pages.js' */
/** @import {Scale} from '../../../plot/index.js' */

const diverging = divergingTable(),
  cosines = signedScale('cosine', 1)
const names = [
  say('tokens.similarityQuery'),
  say('tokens.tokenNorm'),
  say('tokens.similarityPositions')
]

/**
 * @param {Runner} engine
 * @param {number} token
 */
const nameOf = (engine, token) => engine.nameOf(token)

/**
 * The patch, other than the query, that is most like it.
 * @param {Runner} engine
 * @param {number[]} alike
 * @param {number} token
 */
function nearest(engine, alike, token) {
  const others = alike.map((value, i) =>
      i === token || i < engine.shape.prefixTokens || Number.isNaN(value) ? -2 : value
    ),
    best = others.indexOf(Math.max(...others))
  return say('tokens.mostLikeCosine', {
    best: nameOf(engine, best),
    cosine: fixed(others[best], 3)
  })
}

/**
 * @param {Runner} engine
 * @param {Awaited<ReturnType<typeof likeness>>} found
 * @param {number} layer
 * @param {number} token
 */
function wordsOfStates(engine, { states, lengths, size }, layer, token) {
  if (!states) return say('tokens.hiddenStatesKeptSmall')
  const { prefixTokens, tokens } = engine.shape,
    patches = /** @type {number[]} */ (lengths).slice(prefixTokens),
    at = patches.indexOf(largestOf(patches)) + prefixTokens
  return say('tokens.afterLayerLongestState', {
    layer,
    token: nameOf(engine, token),
    likeness: nearest(engine, states, token),
    longest: nameOf(engine, at),
    tokens,
    size: Number(size)
  })
}

/**
 * @param {Runner} engine
 * @param {Awaited<ReturnType<typeof likeness>>} found
 * @param {number} token
 */
function wordsOfPositions(engine, { positions }, token) {
  if (!positions)
    return engine.saved
      ? say('tokens.savedMapsNoPosition')
      : say('tokens.modelNoPositionEmbeddings')
  return Number.isNaN(positions[token])
    ? say('tokens.noPositionEmbedding', { token: nameOf(engine, token) })
    : say('tokens.positionAloneEveryPicture', {
        token: nameOf(engine, token),
        likeness: nearest(engine, positions, token)
      })
}

/** @type {MakeView} */
export function view(page, element) {
  const { store, engine } = page
  element.innerHTML = `<div class="pair likenesses">${names.map((name) => `<figure><figcaption><b>${name}</b><br><span></span></figcaption><div class="raster"><canvas role="img" aria-label="${name}"></canvas></div>${smallBar}</figure>`).join('')}</div><p class="hint"></p><p class="hint"></p>`
  const figures = element.querySelectorAll('figure'),
    [ofStates, ofPositions] = element.querySelectorAll('.hint')

  /**
   * @param {number} index
   * @param {string} words
   * @param {number[] | null} numbers
   * @param {Scale} scale
   * @param {Uint8Array} colours
   */
  function show(index, words, numbers, scale, colours) {
    const { rows, columns, prefixTokens } = engine.shape
    figures[index].hidden = !numbers
    if (!numbers) return
    figures[index].querySelector('span').textContent = words
    drawSmallBar(figures[index], scale, colours)
    put(
      figures[index].querySelector('canvas'),
      heat({
        weights: Float32Array.from(numbers.slice(prefixTokens)),
        rows,
        columns,
        scale,
        table: colours
      })
    )
  }

  /** @param {() => boolean} latest */
  async function draw(latest) {
    const { layer, query, hover, colours } = store.get(),
      token = engine.token(hover ?? query),
      after = layer === 'pool' ? engine.shape.layers - 1 : layer, // what the probe looks at
      found = await likeness(page, after, token),
      table = engine.colours(colours)
    if (!latest()) return
    const { states, lengths, positions } = found,
      longest =
        lengths && largestOf(/** @type {number[]} */ (lengths).slice(engine.shape.prefixTokens))
    show(0, 'cosine', states, cosines, diverging)
    show(
      1,
      say('tokens.tokensNumbers'),
      lengths,
      plainScale('length', /** @type {number} */ (longest)),
      table
    )
    show(2, 'cosine', positions, cosines, diverging)
    element.querySelector('.pair').hidden = !states && !positions
    ofStates.textContent = wordsOfStates(engine, found, after, token)
    ofPositions.textContent = wordsOfPositions(engine, found, token)
  }
  return { keys: ['drawn'], draw }
}
