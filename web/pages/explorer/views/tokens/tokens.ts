/* What the tokens have become after a layer: how alike each patch is to the query (cosine of their
 * states), and how long each state is: a few very long ones are the artefacts that registers were
 * made for (Darcet et al. 2024). Beside them how alike the places are to the model before it has
 * seen anything: the cosine of position embeddings (Dosovitskiy et al. 2021, figure 7). */
import { html, render } from 'lit-html'
import { fixed } from '../../../plot/parts/numbers.js'
import { likeness } from '../../model/token_similarity.js'
import { divergingTable } from '../../../plot/diverging.js'
import { heat } from '../../../plot/heat.js'
import { largestOf } from '../../../plot/raster.js'
import { plainScale, signedScale } from '../../../plot/scale.js'
import { bar } from '../parts/bar.js'
import { showing } from '../parts/canvas.js'
import { say } from '../../../languages/say.js'
import type { MakeView } from '../../types.js'
import type { Runner } from '../../../shared/model_runner.js'
import type { Scale } from 'heed/plot'

const diverging = divergingTable(),
  cosines = signedScale('cosine', 1)

const nameOf = (engine: Runner, token: number) => engine.nameOf(token)

/** The patch, other than the query, that is most like it. */
function nearest(engine: Runner, alike: number[], token: number) {
  const others = alike.map((value, i) =>
      i === token || i < engine.shape.prefixTokens || Number.isNaN(value) ? -2 : value
    ),
    best = others.indexOf(Math.max(...others))
  return say('tokens.mostLikeCosine', {
    best: nameOf(engine, best),
    cosine: fixed(others[best], 3)
  })
}

function wordsOfStates(
  engine: Runner,
  { states, lengths, size }: Awaited<ReturnType<typeof likeness>>,
  layer: number,
  token: number
) {
  if (!states) return say('tokens.hiddenStatesKeptSmall')
  const { prefixTokens, tokens } = engine.shape,
    patches = (lengths as number[]).slice(prefixTokens),
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

function wordsOfPositions(
  engine: Runner,
  { positions }: Awaited<ReturnType<typeof likeness>>,
  token: number
) {
  if (!positions)
    return engine.only
      ? engine.parts
        ? say('parts.only')
        : say('tokens.savedMapsNoPosition')
      : say('tokens.modelNoPositionEmbeddings')
  return Number.isNaN(positions[token])
    ? say('tokens.noPositionEmbedding', { token: nameOf(engine, token) })
    : say('tokens.positionAloneEveryPicture', {
        token: nameOf(engine, token),
        likeness: nearest(engine, positions, token)
      })
}

export const view: MakeView = (page, element) => {
  const { store, engine } = page

  function figure(
    name: string,
    words: string,
    numbers: number[] | null,
    scale: Scale,
    table: Uint8Array
  ) {
    const { rows, columns, prefixTokens } = engine.shape
    if (!numbers) return html`<figure hidden></figure>`
    const weights = Float32Array.from(numbers.slice(prefixTokens))
    return html`<figure><figcaption><b>${name}</b><br><span>${words}</span></figcaption><div class="raster"><canvas role="img" aria-label=${name} ${showing(heat({ weights, rows, columns, scale, table }))}></canvas></div>${bar(scale, table)}</figure>`
  }

  async function draw(latest: () => boolean) {
    const { layer, query, hover, colours } = store.get(),
      token = engine.token(hover ?? query),
      after = layer === 'pool' ? engine.shape.layers - 1 : layer, // what the probe looks at
      found = await likeness(page, after, token)
    if (!latest()) return
    const { states, lengths, positions } = found,
      longest = lengths && largestOf(lengths.slice(engine.shape.prefixTokens))
    render(
      html`<div class="pair likenesses" ?hidden=${!states && !positions}>${figure(say('tokens.similarityQuery'), 'cosine', states, cosines, diverging)}${figure(say('tokens.tokenNorm'), say('tokens.tokensNumbers'), lengths, plainScale('length', longest as number), engine.colours(colours))}${figure(say('tokens.similarityPositions'), 'cosine', positions, cosines, diverging)}</div><p class="hint">${wordsOfStates(engine, found, after, token)}</p><p class="hint">${wordsOfPositions(engine, found, token)}</p>`,
      element
    )
  }
  return { keys: ['drawn'], draw }
}
