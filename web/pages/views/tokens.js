/* What the tokens have become after a layer: how alike each patch is to the query (cosine of their states), and how long each state is:
 * a few very long ones are the artefacts that registers were made for (Darcet et al. 2024). */
import { cosine } from '../maps.js'
import { tokenName } from '../plot/caption.js'
import { divergingTable } from '../plot/diverging.js'
import { heat } from '../plot/heat.js'
import { largestOf } from '../plot/raster.js'
import { signedScale } from '../plot/scale.js'
import { put } from './canvas.js'

const diverging = divergingTable(), cosines = signedScale('cosine', 1)

export function tokensView({ store, engine }, element) {
  element.innerHTML = `<div class="pair">${['Likeness to the query', 'Length of the state'].map((name) => `<figure><figcaption><b>${name}</b><br><span></span></figcaption><div class="raster"><canvas role="img" aria-label="${name}"></canvas></div></figure>`).join('')}</div><p class="hint"></p>`
  const figures = element.querySelectorAll('figure'), hint = element.lastElementChild

  function show(index, words, weights, scale, colours) {
    const { rows, columns } = engine.shape
    figures[index].querySelector('span').textContent = words
    put(figures[index].querySelector('canvas'), heat({ weights, rows, columns, scale, table: colours }))
  }

  async function draw() {
    const { layer } = store.get(), { tokens, prefixTokens, columns } = engine.shape, states = engine.states(layer)
    element.querySelector('.pair').hidden = !states
    if (!states) return (hint.textContent = 'States are kept for models that are small enough; saved maps have none.')
    const { query, hover } = store.get(), token = engine.token(hover ?? query), alike = states.map((state) => cosine(state, states[token])), norms = states.map((state) => Math.hypot(...state))
    const patches = (numbers) => Float32Array.from(numbers.slice(prefixTokens)), lengths = patches(norms), longest = largestOf(lengths), at = lengths.indexOf(longest) + prefixTokens
    show(0, 'blue −1, white 0, orange 1', patches(alike), cosines, diverging)
    show(1, `0 to ${longest.toFixed(1)}`, lengths, { position: (value) => value / longest }, await engine.colours(store.get().colours))
    const nearest = alike.map((value, i) => (i === token || i < prefixTokens ? -2 : value)), best = nearest.indexOf(Math.max(...nearest))
    hint.textContent = `After layer ${layer}: ${tokenName(token, prefixTokens, columns)} is most like ${tokenName(best, prefixTokens, columns)}, cosine ${alike[best].toFixed(3)}. The longest state of a patch is that of ${tokenName(at, prefixTokens, columns)}; ${tokens} tokens have ${states[0].length} numbers each.`
  }
  return { keys: ['drawn'], draw }
}
