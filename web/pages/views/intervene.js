/* Heads taken out of the model: its maps and class shares follow. The bars have the shares with all heads beside those without. */
import { softmax } from '../maps.js'
import { percent } from '../plot/caption.js'

const made = (tag, textContent = '') => Object.assign(document.createElement(tag), { textContent })

export function interveneView(page, element) {
  const { store, engine } = page
  element.innerHTML = `<p class="hint">A head that is taken out adds nothing to its layer’s output; the model runs again at once. What its absence changes is closer to an explanation than where it looks.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Heads in use"><table class="switches"><caption>Heads in use</caption><tbody></tbody></table></div>
    <div class="row"><button type="button" name="all">All heads</button><button type="button" name="sweep">Each head alone out</button></div>
    <table><caption>Class shares</caption><thead><tr><th scope="col">class</th><th scope="col">all heads</th><th scope="col">without</th></tr></thead><tbody class="shares"></tbody></table><p class="hint" aria-live="polite"></p>`
  const table = element.querySelector('.switches tbody'), shares = element.querySelector('.shares'), said = element.querySelector('p[aria-live]')
  const without = (off, key) => (off.includes(key) ? off.filter((entry) => entry !== key) : [...off, key].sort())
  let effects = null, of = -1
  element.querySelector('[name=all]').addEventListener('click', () => store.set({ off: [] }))
  element.querySelector('[name=sweep]').addEventListener('click', () => sweep().catch(page.showError))

  /* How much of the first class's share each head holds up: one run without each. */
  async function sweep() {
    const { layers, heads } = engine.shape, { off } = store.get(), found = {}
    await page.ablate([])
    const whole = softmax(engine.result.logits), best = whole.indexOf(Math.max(...whole))
    for (let layer = 0; layer < layers; layer++)
      for (let head = 0; head < heads; head++) {
        await page.ablate([`${layer}.${head}`])
        found[`${layer}.${head}`] = softmax(engine.result.logits)[best] - whole[best]
        said.textContent = `Without layer ${layer}, head ${head}: ${percent(Math.abs(found[`${layer}.${head}`]))}`
      }
    effects = found
    await page.ablate(off)
    of = store.get().ran
    const least = Object.entries(effects).sort((a, b) => Math.abs(a[1]) - Math.abs(b[1]))[0][0]
    said.textContent = `Numbers in the cells: change of the share of “${engine.model.labels[best]}” when that head alone is out, in points of 100. Least important: ${least}.`
    draw()
  }

  function drawSwitches({ off }) {
    const { layers, heads } = engine.shape, focused = document.activeElement?.dataset.key
    table.replaceChildren(...Array.from({ length: layers }, (_, layer) => {
      const line = made('tr')
      line.append(Object.assign(made('th', `layer ${layer}`), { scope: 'row' }), ...Array.from({ length: heads }, (_, head) => {
        const key = `${layer}.${head}`, cell = made('td'), button = cell.appendChild(Object.assign(made('button', effects && of === store.get().ran ? (effects[key] * 100).toFixed(1) : key), { type: 'button' }))
        button.dataset.key = key
        button.setAttribute('aria-pressed', !off.includes(key))
        button.setAttribute('aria-label', `${button.textContent} layer ${layer}, head ${head}`)
        button.addEventListener('click', () => store.set({ off: without(store.get().off, key) }))
        return cell
      }))
      return line
    }))
    if (focused) table.querySelector(`[data-key="${focused}"]`)?.focus()
  }

  function draw() {
    const state = store.get(), { logits } = engine.result, before = page.whole?.picture === page.picture && page.whole.logits
    drawSwitches(state)
    if (!logits || !engine.canAblate) return (said.textContent = 'Heads are taken out of models with a classifier, opened as files or the demo.')
    const now = softmax(logits), all = before ? softmax(before) : null, order = Array.from(now.keys()).sort((a, b) => (all ?? now)[b] - (all ?? now)[a]).slice(0, 5)
    shares.replaceChildren(...order.map((index) => {
      const line = made('tr')
      line.append(made('td', engine.model.labels[index]), made('td', all ? percent(all[index]) : '–'), made('td', state.off.length ? percent(now[index]) : '–'))
      return line
    }))
  }
  return { keys: ['ran', 'measured', 'off'], draw }
}
