/* The model's attention changed: heads taken out, patches dropped, pairs of the mask cut, a
 * temperature. Maps and class shares follow at once; the bars have the shares of the model as it is
 * beside those now. */
import { fixed } from '../../plot/parts/numbers.js'
import { probabilitiesOf } from '../model/probabilities.js'
import { divergence } from '../model/row_distance.js'
import { replacements } from '../state/change_words.js'
import { isChanged, unchanged } from '../state/changes.js'
import { toggled } from '../controls/controls.js'
import { slice } from '../model/attention_rows.js'
import { percent } from '../../plot/caption.js'
import { className } from '../../shared/names.js'
import { say } from '../../languages/say.js'
import type {
  Field,
  MakeView,
  Page,
  PageQuery,
  Runner,
  RunnerResult,
  State,
  Store
} from '../../../types/pages.js'

const made = (tag: string, textContent = '') =>
  Object.assign(document.createElement(tag), { textContent })
const pressable = (text: string) => Object.assign(made('button', text), { type: 'button' })
/** An element that holds others: a row its cells, a cell its button. */
const holding = (tag: 'tr' | 'td', ...children: HTMLElement[]) => {
  const element = made(tag)
  element.append(...children)
  return element
}
const nats = (value: number) =>
    value > 0 && value < 5e-4 ? value.toExponential(1) : fixed(value, 4),
  points = (share: number, digits = 2) =>
    fixed(share * 100, digits)
      .replace(/^-(?=.*[1-9])/, '−')
      .replace('-', '')
const brushes = {
  '': say('intervene.choosesQuery'),
  drop: say('intervene.dropsPatches'),
  cut: say('intervene.cutsQueryPatch')
}
const options = (names: { '': string; drop: string; cut: string } | Record<string, string>) =>
  Object.entries(names)
    .map(([value, text]) => `<option value="${value}">${text}</option>`)
    .join('')

const markup = `<p class="hint">${say('intervene.effectChangePredictionExplains')}</p>
    <div class="row"><label>${say('intervene.clickImage')} <select name="brush">${options(brushes)}</select></label></div>
    <div><label class="range">${say('intervene.temperature')} <input type="range" name="temperature" min="0.1" max="4" step="0.1"> <output></output></label></div>
    <div><label class="range"><span class="gain"></span> <input type="range" name="gain" min="0" max="100" step="5"> <output></output></label></div>
    <div class="scroll" tabindex="0" role="region" aria-label="${say('intervene.activeHeads')}"><table class="switches"><caption>${say('intervene.activeHeadsAblatedHeads')} <select name="how" aria-label="${say('intervene.outputAblatedHeads')}">${options(replacements)}</select></caption><tbody></tbody></table></div>
    <div class="row after"><button type="button" name="all">${say('intervene.undoAll')}</button><button type="button" name="sweep">${say('intervene.ablateEachHeadAlone')}</button></div>
    <div class="scroll effects" tabindex="0" role="region" aria-label="${say('intervene.headsChangePredictionWithout')}" hidden><table><caption>${say('intervene.eachHeadAblatedAlone')}</caption><thead><tr><th scope="col">${say('modelDifference.head')}</th><th scope="col"></th><th scope="col">${say('intervene.allClassesNats')}</th></tr></thead><tbody></tbody></table></div>
    <table><caption>${say('intervene.classProbabilities')}</caption><thead><tr><th scope="col">${say('intervene.class')}</th><th scope="col">${say('intervene.original')}</th><th scope="col">${say('intervene.changed')}</th></tr></thead><tbody class="shares"></tbody></table><p class="hint downstream"></p><p class="hint" aria-live="polite"></p>`

/** @param result of a model with a classifier */
const probabilities = (engine: Runner, result: RunnerResult | null) =>
  probabilitiesOf(engine, (result as RunnerResult).logits as ArrayLike<number>)

/**
 * The gains with that of the chosen head set; at 100 % a head has none.
 * @param share in percent
 */
function gainsWith({ layer, head, gains }: Pick<State, 'layer' | 'head' | 'gains'>, share: number) {
  const others = gains.filter((gain) => !gain.startsWith(`${layer}.${head}.`))
  return share === 100 ? others : [...others, `${layer}.${head}.${share}`].sort()
}

/** The settings of the change, as the fields have them. */
function connectSettings(store: Store, field: (name: string) => Field) {
  field('all').addEventListener('click', () => store.set(unchanged))
  field('how').addEventListener('change', ({ target }) =>
    store.set({ how: target.value as State['how'] })
  )
  field('temperature').addEventListener('input', ({ target }) =>
    store.set({ temperature: Number(target.value) })
  )
  field('gain').addEventListener('input', ({ target }) =>
    store.set({ gains: gainsWith(store.get(), Number(target.value)) })
  )
}

/** A press on the patches with the brush, as page.paint: drops them, or cuts the query from them. A
 * stroke goes on as its first patch began: setting, or taking back. */
function patchBrush({ store, engine }: Page, brush: Field): NonNullable<Page['paint']> {
  let painting = true
  return (row, column, how) => {
    const { columns, prefixTokens } = engine.shape,
      patch = row * columns + column,
      { query } = store.get()
    if (!brush.value || !engine.canChange) return false
    if (how === 'step') return true // the focus moves, Enter paints
    const [key, entry] =
        brush.value === 'drop'
          ? ['dropped', patch]
          : ['cuts', `${engine.token(query)}.${prefixTokens + patch}`],
      list = store.get()[key as 'off' | 'dropped'] as (string | number)[]
    if (how === 'press') painting = !list.includes(entry)
    store.set({
      [key]: toggled(list as string[], entry as string, painting)
    })
    return true
  }
}

/** What the answer is without a head: the change of the first class's share, and the Jensen-Shannon
 * divergence of all classes' shares from those of the whole model, which also sees what happens
 * among the others. */
export type Effect = { share: number; apart: number }
/** each head ablated alone */
export interface Sweep {
  /** the run that the effects belong to; -1: none yet */
  ran: number
  /** by "layer.head" */
  effects: Record<string, Effect>
}

/** The effect of each head, by one run without it, until the view is left. */
async function effectsOfHeads(
  { store, engine, picture }: Page,
  left: AbortSignal,
  onEffect: (layer: number, head: number, effect: Effect) => void
) {
  const { layers, heads } = engine.shape,
    { how } = store.get(),
    whole = probabilities(engine, engine.whole),
    best = whole.indexOf(Math.max(...whole)),
    effects = {} as Sweep['effects']
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads && !left.aborted; head++) {
      const key = `${layer}.${head}`,
        shares = probabilitiesOf(
          engine,
          (await engine.logits(picture.source, {
            ...unchanged,
            how,
            off: [key]
          })) as ArrayLike<number>
        )
      effects[key] = { share: shares[best] - whole[best], apart: divergence(whole, shares) }
      onEffect(layer, head, effects[key])
    }
  return { effects, best }
}

/**
 * The heads by how much the answer needs them, as a table; in words, the first and the last.
 * @param label of the class whose share they change
 */
function drawRanking(store: Store, table: HTMLElement, effects: Sweep['effects'], label: string) {
  const order = Object.entries(effects).sort(([, a], [, b]) => b.apart - a.apart),
    [[most, high]] = order,
    [least, low] = order.at(-1) as [string, Effect]
  table.querySelector('th:nth-child(2)').textContent = say('intervene.points', { label })
  table.querySelector('tbody').replaceChildren(
    ...order.map(([key, { share, apart }]) => {
      const [layer, head] = key.split('.').map(Number),
        button = pressable(say('manyPictures.layerHead', { layer, head }))
      button.addEventListener('click', () => store.set({ layer, head }))
      const row = holding(
        'tr',
        holding('td', button),
        made('td', points(share)),
        made('td', nats(apart))
      )
      row.style.setProperty('--share', `${(100 * apart) / (high.apart || 1)}%`)
      return row
    })
  )
  return say('intervene.ablatingChangesPredictionMost', {
    most,
    apart: nats(high.apart),
    least,
    smallest: nats(low.apart),
    label
  })
}

/**
 * A button that takes a head out of the model, or back.
 * @param key "layer.head"
 */
function headSwitch(store: Store, key: string, text: string) {
  const button = pressable(text),
    [layer, head] = key.split('.')
  button.dataset.key = key
  button.setAttribute('aria-pressed', !store.get().off.includes(key))
  button.setAttribute('aria-label', `${text} ${say('manyPictures.layerHead', { layer, head })}`)
  button.addEventListener('click', () => store.set({ off: toggled(store.get().off, key) }))
  return button
}

/** A switch a head, a row a layer. A switch has its head's effect where the sweep is of this run,
 * else its name. */
function drawSwitches({ store, engine }: Page, table: HTMLElement, { ran, effects }: Sweep) {
  const { layers, heads } = engine.shape,
    measured = ran === store.get().ran,
    focused = (document.activeElement as HTMLElement | null)?.dataset.key
  const many = heads > 8
  table.parentElement?.classList.toggle('many', many)
  const cellOf = (key: string) => {
    const name = many ? key.split('.')[1] : key
    return holding('td', headSwitch(store, key, measured ? points(effects[key].share, 1) : name))
  }
  table.replaceChildren(
    ...Array.from({ length: layers }, (_, layer) =>
      holding(
        'tr',
        Object.assign(made('th', many ? String(layer) : say('heads.layer2', { layer })), {
          scope: 'row',
          ariaLabel: say('heads.layer2', { layer })
        }),
        ...Array.from({ length: heads }, (_, head) => cellOf(`${layer}.${head}`))
      )
    )
  )
  if (focused) table.querySelector(`[data-key="${focused}"]`)?.focus()
}

/** How much of what it gives the chosen head may give. */
function drawGain(
  label: HTMLElement,
  field: Field,
  { layer, head, gains }: Pick<State, 'layer' | 'head' | 'gains'>
) {
  const [, , share = '100'] =
    gains.find((gain) => gain.startsWith(`${layer}.${head}.`))?.split('.') ?? []
  const one = head !== 'mean' && layer !== 'pool'
  label.textContent = one ? say('intervene.gain', { layer, head }) : say('intervene.gainHead')
  field.disabled = !one
  field.value = share
  field.nextElementSibling.textContent = `${share} %`
}

/** The active heads whose map of a query differs from that of the whole model, the largest
 * divergence first. */
function movedHeads({ whole, result, shape }: Runner, token: number, off: string[]) {
  const { layers, heads, tokens } = shape
  const map = (of: RunnerResult | null, layer: number, head: number) =>
    slice(((of as RunnerResult).attention as Float32Array[])[layer], head, tokens, token)
  return Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads])
    .filter((place) => !off.includes(place.join('.')))
    .map(([layer, head]) => ({
      name: `${layer}.${head}`,
      by: divergence(map(whole, layer, head), map(result, layer, head))
    }))
    .sort((a, b) => b.by - a.by)
    .filter(({ by }) => by > 1e-9)
}

/** Which map of the query has changed most, in words: layers above what was changed see other keys
 * and values. */
function wordsOfMoved(engine: Runner, { query, off }: { query: PageQuery; off: string[] }) {
  const { layers, heads } = engine.shape,
    moved = movedHeads(engine, engine.token(query), off)
  return moved.length
    ? say('intervene.mapsQueryHeadsChanged', {
        moved: moved.length,
        heads: layers * heads,
        name: moved[0].name,
        by: nats(moved[0].by)
      })
    : say('intervene.mapsQueryNoActive')
}

const bar = (share: number) => {
  const cell = made('td', percent(share))
  cell.style.setProperty('--share', `${share * 100}%`)
  return cell
}

/** The five most probable classes of the model as it is and of the changed one, with their shares. */
function drawShares(engine: Runner, table: HTMLElement, changed: boolean | undefined) {
  const { whole, result, model } = engine,
    before = probabilities(engine, whole),
    now = probabilities(engine, result),
    most = (i: number) => Math.max(before[i], now[i])
  const order = Array.from(now.keys())
    .sort((a, b) => most(b) - most(a))
    .slice(0, 5)
  table.replaceChildren(
    ...order.map((index) =>
      holding(
        'tr',
        made('td', className(model.labels[index])),
        bar(before[index]),
        changed ? bar(now[index]) : made('td', '–')
      )
    )
  )
}

export const view: MakeView = (page, element, { left, redraw }) => {
  const { store, engine } = page
  element.innerHTML = markup
  const field = (name: string) => element.querySelector(`[name=${name}]`) as Field
  const said = element.querySelector('p[aria-live]'),
    ranking = element.querySelector('.effects')
  let sweep = { ran: -1, effects: {} } as Sweep
  connectSettings(store, field)
  page.paint = patchBrush(page, field('brush'))
  left.addEventListener('abort', () => {
    page.paint = null
  })
  field('sweep').addEventListener('click', () => sweepHeads().catch(page.showError))

  async function sweepHeads() {
    const { effects, best } = await effectsOfHeads(page, left, (layer, head, { apart }) => {
      said.textContent = say('intervene.withoutLayerHeadNats', { layer, head, apart: nats(apart) })
    })
    await page.run(page.picture)
    if (left.aborted) return
    sweep = { ran: store.get().ran, effects }
    said.textContent = drawRanking(store, ranking, effects, className(engine.model.labels[best]))
    redraw()
  }

  function drawSettings(state: Readonly<State>) {
    for (const name of ['how', 'temperature'])
      field(name).value = String(state[name as keyof State])
    field('temperature').nextElementSibling.textContent = String(state.temperature)
    for (const control of element.querySelectorAll(
      'button, select, input'
    ) as NodeListOf<HTMLInputElement>)
      control.disabled = !engine.canChange
  }

  function draw() {
    const state = store.get(),
      { changes, logits } = engine.result,
      changed = changes && isChanged(changes)
    drawSettings(state)
    if (!engine.canChange) return (said.textContent = say('intervene.interventionsNeedModelSmall'))
    drawSwitches(page, element.querySelector('.switches tbody'), sweep)
    ranking.hidden = sweep.ran !== state.ran
    drawGain(element.querySelector('.gain'), field('gain'), state)
    element.querySelector('.downstream').textContent = changed ? wordsOfMoved(engine, state) : ''
    field('sweep').disabled = !logits
    if (!logits) return (said.textContent = say('intervene.modelNoClassifierOnly'))
    drawShares(engine, element.querySelector('.shares'), changed)
  }
  return { keys: ['ran', 'measured', 'layer', 'head', 'query', ...Object.keys(unchanged)], draw }
}
