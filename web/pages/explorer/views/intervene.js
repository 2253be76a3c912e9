/* The model's attention changed: heads taken out, patches dropped, pairs of the mask cut, a
 * temperature. Maps and class shares follow at once; the bars have the shares of the model as it is
 * beside those now. */
import { divergence } from '../model/row_distance.js'
import { isChanged, replacements, unchanged } from '../state/changes.js'
import { toggled } from '../controls/controls.js'
import { slice, softmax } from '../model/attention_rows.js'
import { percent } from '../../plot/caption.js'
/** @import {Field, MakeView, Page, PageQuery, RunnerResult, State} from '../../../types/pages.js' */

/** @param {string} tag */
const made = (tag, textContent = '') => Object.assign(document.createElement(tag), { textContent })
const nats = (/** @type {number} */ value) =>
    value > 0 && value < 5e-4 ? value.toExponential(1) : value.toFixed(4),
  points = (/** @type {number} */ share, digits = 2) =>
    (share * 100)
      .toFixed(digits)
      .replace(/^-(?=.*[1-9])/, '−')
      .replace('-', '')
const brushes = { '': 'chooses the query', drop: 'drops patches', cut: 'cuts query → patch' }
/** @param {{'': string, drop: string, cut: string} | Record<string, string>} names */
const options = (names) =>
  Object.entries(names)
    .map(([value, text]) => `<option value="${value}">${text}</option>`)
    .join('')

/**
 * What the answer is without each head, "layer.head".
 * @typedef {Record<string, {share: number, apart: number}>} Effects
 */

/** @type {MakeView} */
export function view(page, element, { left, redraw }) {
  const { store, engine } = page
  element.innerHTML = `<p class="hint">The effect of a change on the prediction explains more than where a head attends. The model runs again at once.</p>
    <div class="row"><label>Click on the image <select name="brush">${options(brushes)}</select></label></div>
    <div><label class="range">Temperature <input type="range" name="temperature" min="0.1" max="4" step="0.1"> <output></output></label></div>
    <div><label class="range"><span class="gain"></span> <input type="range" name="gain" min="0" max="100" step="5"> <output></output></label></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Active heads"><table class="switches"><caption>Active heads; ablated heads output <select name="how" aria-label="Output of ablated heads">${options(replacements)}</select></caption><tbody></tbody></table></div>
    <div class="row after"><button type="button" name="all">Undo all</button><button type="button" name="sweep">Ablate each head alone</button></div>
    <div class="scroll effects" tabindex="0" role="region" aria-label="Heads by the change of the prediction without them" hidden><table><caption>Each head ablated alone, smallest change first</caption><thead><tr><th scope="col">head</th><th scope="col"></th><th scope="col">all classes, nats</th></tr></thead><tbody></tbody></table></div>
    <table><caption>Class probabilities</caption><thead><tr><th scope="col">class</th><th scope="col">original</th><th scope="col">changed</th></tr></thead><tbody class="shares"></tbody></table><p class="hint downstream"></p><p class="hint" aria-live="polite"></p>`
  /** @param {string} name */
  const field = (name) => /** @type {Field} */ (element.querySelector(`[name=${name}]`))
  const table = element.querySelector('.switches tbody'),
    shares = element.querySelector('.shares'),
    said = element.querySelector('p[aria-live]')
  const ranking = element.querySelector('.effects')
  let effects = /** @type {{} | null} */ (null),
    of = -1,
    painting = true
  field('all').addEventListener('click', () => store.set(unchanged))
  field('sweep').addEventListener('click', () => sweep().catch(page.showError))
  field('how').addEventListener('change', ({ target }) =>
    store.set({ how: /** @type {State['how']} */ (target.value) })
  )
  field('temperature').addEventListener('input', ({ target }) =>
    store.set({ temperature: Number(target.value) })
  )

  field('gain').addEventListener('input', ({ target }) => {
    const { layer, head, gains } = store.get(),
      others = gains.filter((gain) => !gain.startsWith(`${layer}.${head}.`)),
      percent = Number(target.value)
    store.set({
      gains: percent === 100 ? others : [...others, `${layer}.${head}.${percent}`].sort()
    })
  })

  /* A stroke goes on as its first patch began: setting, or taking back. */
  page.paint = (/** @type {number} */ row, /** @type {number} */ column, how) => {
    const brush = field('brush').value,
      { columns, prefixTokens } = engine.shape,
      patch = row * columns + column,
      { query } = store.get()
    if (!brush || !engine.canChange) return false
    if (how === 'step') return true // the focus moves, Enter paints
    const [key, entry] =
        brush === 'drop'
          ? ['dropped', patch]
          : ['cuts', `${engine.token(query)}.${prefixTokens + patch}`],
      list = /** @type {(string | number)[]} */ (
        store.get()[/** @type {'off' | 'dropped'} */ (key)]
      )
    if (how === 'press') painting = !list.includes(entry)
    store.set({
      [key]: toggled(/** @type {string[]} */ (list), /** @type {string} */ (entry), painting)
    })
    return true
  }

  left.addEventListener('abort', () => {
    page.paint = null
  })

  /* What the answer is without each head: the change of the first class's share, and the
   * Jensen-Shannon divergence of all classes' shares from those of the whole model, which also sees
   * what happens among the others. One run without each, until the view is left. */
  async function sweep() {
    const { layers, heads } = engine.shape,
      { how } = store.get(),
      { logits } = /** @type {RunnerResult} */ (engine.whole),
      whole = softmax(/** @type {ArrayLike<number>} */ (logits)),
      best = whole.indexOf(Math.max(...whole))
    const found = /** @type {Effects} */ ({}),
      { source } = page.picture
    for (let layer = 0; layer < layers; layer++)
      for (let head = 0; head < heads && !left.aborted; head++) {
        const key = `${layer}.${head}`
        const shares = softmax(
          /** @type {ArrayLike<number>} */ (
            await engine.logits(source, { ...unchanged, how, off: [key] })
          )
        )
        found[key] = { share: shares[best] - whole[best], apart: divergence(whole, shares) }
        said.textContent = `Without layer ${layer}, head ${head}: ${nats(found[key].apart)} nats`
      }
    await page.run(page.picture)
    if (left.aborted) return
    effects = found
    of = store.get().ran
    rank(engine.model.labels[best])
    redraw()
  }

  /**
   * The heads by how little the answer needs them; the first and the last are named.
   * @param {string} label
   */
  function rank(label) {
    const order = Object.entries(/** @type {Effects} */ (effects)).sort(
        ([, a], [, b]) => a.apart - b.apart
      ),
      [[least, low]] = order,
      [most, high] = /** @type {[string, Effects[string]]} */ (order.at(-1))
    ranking.querySelector('th:nth-child(2)').textContent = `${label}, points`
    ranking.querySelector('tbody').replaceChildren(
      ...order.map(([key, { share, apart }]) => {
        const line = made('tr'),
          [layer, head] = key.split('.').map(Number),
          button = Object.assign(made('button', `layer ${layer}, head ${head}`), {
            type: 'button'
          }),
          name = made('td')
        button.addEventListener('click', () => store.set({ layer, head }))
        name.append(button)
        line.append(name, made('td', points(share)), made('td', nats(apart)))
        return line
      })
    )
    said.textContent = `Ablating ${least} changes the prediction least (${nats(low.apart)} nats); ablating ${most} changes it most (${nats(high.apart)} nats). The change is the Jensen–Shannon divergence of the class probabilities. Each cell shows the change of “${label}” in percentage points.`
  }

  /** @param {{off: string[]}} options */
  function drawSwitches({ off }) {
    const { layers, heads } = engine.shape,
      focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.key
    table.replaceChildren(
      ...Array.from({ length: layers }, (_, layer) => {
        const line = made('tr')
        line.append(
          Object.assign(made('th', `layer ${layer}`), { scope: 'row' }),
          ...Array.from({ length: heads }, (_, head) => {
            const key = `${layer}.${head}`,
              cell = made('td'),
              button = cell.appendChild(
                Object.assign(
                  made(
                    'button',
                    effects && of === store.get().ran
                      ? points(/** @type {Effects} */ (effects)[key].share, 1)
                      : key
                  ),
                  { type: 'button' }
                )
              )
            button.dataset.key = key
            button.setAttribute('aria-pressed', !off.includes(key))
            button.setAttribute('aria-label', `${button.textContent} layer ${layer}, head ${head}`)
            button.addEventListener('click', () =>
              store.set({ off: toggled(store.get().off, key) })
            )
            return cell
          })
        )
        return line
      })
    )
    if (focused) table.querySelector(`[data-key="${focused}"]`)?.focus()
  }

  /**
   * How much of what it gives the chosen head may give.
   * @param {Pick<State, 'layer' | 'head' | 'gains'>} options
   */
  function drawGain({ layer, head, gains }) {
    const [, , percent = '100'] =
      gains.find((gain) => gain.startsWith(`${layer}.${head}.`))?.split('.') ?? []
    element.querySelector('.gain').textContent =
      head === 'mean' ? 'Gain of a head' : `Gain of ${layer}.${head}`
    field('gain').disabled = head === 'mean'
    field('gain').value = percent
    field('gain').nextElementSibling.textContent = `${percent} %`
  }

  /**
   * Which map of the query has changed most: layers above what was changed see other keys and
   * values.
   * @param {{query: PageQuery, off: string[]}} options
   * @param {boolean | undefined} changed
   */
  function showDownstream({ query, off }, changed) {
    const { layers, heads, tokens } = engine.shape,
      token = engine.token(query),
      at = (
        /** @type {Float32Array[]} */ attention,
        /** @type {number} */ layer,
        /** @type {number} */ head
      ) => slice(attention[layer], head, tokens, token)
    const apart = !changed
      ? []
      : Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads])
          .filter((place) => !off.includes(place.join('.')))
          .map(([layer, head]) => ({
            name: `${layer}.${head}`,
            by: divergence(
              at(
                /** @type {Float32Array[]} */ (
                  /** @type {RunnerResult} */ (engine.whole).attention
                ),
                layer,
                head
              ),
              at(/** @type {Float32Array[]} */ (engine.result.attention), layer, head)
            )
          }))
          .sort((a, b) => b.by - a.by)
    const moved = apart.filter(({ by }) => by > 1e-9)
    element.querySelector('.downstream').textContent = !changed
      ? ''
      : moved.length
        ? `Maps of this query: ${moved.length} of ${layers * heads} heads changed, most of all ${moved[0].name}, by ${nats(moved[0].by)} nats.`
        : 'Maps of this query: no active head changed.'
  }

  /**
   * @param {number} share
   * @param {string} text
   */
  const bar = (share, text) => {
    const cell = made('td', text)
    cell.style.setProperty('--share', `${share * 100}%`)
    return cell
  }

  function draw() {
    const state = store.get(),
      { logits } = engine.result,
      changed = engine.result.changes && isChanged(engine.result.changes)
    for (const name of ['how', 'temperature'])
      field(name).value = String(state[/** @type {keyof State} */ (name)])
    field('temperature').nextElementSibling.textContent = String(state.temperature)
    for (const control of /** @type {NodeListOf<HTMLInputElement>} */ (
      element.querySelectorAll('button, select, input')
    ))
      control.disabled = !engine.canChange
    if (!engine.canChange)
      return (said.textContent =
        'Interventions need a model small enough to keep all maps; saved maps have none.')
    drawSwitches(state)
    ranking.hidden = of !== state.ran
    drawGain(state)
    showDownstream(state, changed)
    field('sweep').disabled = !logits
    if (!logits) return (said.textContent = 'This model has no classifier: only its maps change.')
    const before = softmax(
        /** @type {ArrayLike<number>} */ (/** @type {RunnerResult} */ (engine.whole).logits)
      ),
      now = softmax(logits),
      most = (/** @type {number} */ i) => Math.max(before[i], now[i])
    const order = Array.from(now.keys())
      .sort((a, b) => most(b) - most(a))
      .slice(0, 5)
    shares.replaceChildren(
      ...order.map((index) => {
        const line = made('tr')
        line.append(
          made('td', engine.model.labels[index]),
          bar(before[index], percent(before[index])),
          changed ? bar(now[index], percent(now[index])) : made('td', '–')
        )
        return line
      })
    )
  }
  return { keys: ['ran', 'measured', 'layer', 'head', 'query', ...Object.keys(unchanged)], draw }
}
