/* The model's attention changed: heads taken out, patches dropped, pairs of the mask cut, a
 * temperature. Maps and class shares follow at once; the bars have the shares of the model as it is
 * beside those now. */
import { html, nothing, render } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { probabilitiesOf } from '../../model/probabilities.js'
import { replacements } from '../../state/change_words.js'
import { isChanged, unchanged } from '../../../shared/changes.js'
import { toggled } from '../../controls/controls.js'
import { stoppable } from '../../controls/stoppable.js'
import { percent } from '../../../plot/caption.js'
import { className } from '../../../shared/names.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page, State, Store } from '../../types.js'
import type { Of, PageQuery, RunnerResult } from '../../../shared/types.js'
import type { Runner } from '../../../shared/model_runner.js'

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

/** A press on the patches with the brush, as page.paint: drops them, or cuts the query from them. A
 * stroke goes on as its first patch began: setting, or taking back. */
function patchBrush({ store, engine }: Page, brushOf: () => string): NonNullable<Page['paint']> {
  let painting = true
  return (row, column, how) => {
    const { columns, prefixTokens } = engine.shape,
      patch = row * columns + column,
      { query } = store.get(),
      brush = brushOf()
    if (!engine.canChange) return false
    if (how === 'step') return true // the focus moves, Enter paints
    const [key, entry] =
        brush === 'drop'
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
  /** of the class whose share they change */
  label: string
}

/** The effect of each head, by one run without it, until it is stopped. */
async function effectsOfHeads(
  { store, engine, picture }: Page,
  stopped: AbortSignal,
  onEffect: (layer: number, head: number, effect: Effect) => void
) {
  const { layers, heads } = engine.shape,
    { how } = store.get(),
    whole = Float32Array.from(probabilities(engine, engine.whole)),
    best = whole.indexOf(Math.max(...whole)),
    effects = {} as Sweep['effects']
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads && !stopped.aborted; head++) {
      const key = `${layer}.${head}`,
        logits = (await engine.logits(picture.source, {
          ...unchanged,
          how,
          off: [key]
        })) as ArrayLike<number>,
        shares = Float32Array.from(probabilitiesOf(engine, logits))
      effects[key] = {
        share: shares[best] - whole[best],
        apart: engine.explain.divergence(whole, shares)
      }
      onEffect(layer, head, effects[key])
    }
  return { effects, best }
}

/** Null where it was stopped. The page's own run is made again. */
async function sweepOf(page: Page, left: AbortSignal, told: (text: string) => void) {
  const found = await stoppable(left, (stopped) =>
    effectsOfHeads(page, stopped, (layer, head, { apart }) =>
      told(say('intervene.withoutLayerHeadNats', { layer, head, apart: nats(apart) }))
    )
  )
  await page.run(page.picture)
  return (
    found && {
      ran: page.store.get().ran,
      effects: found.effects,
      label: className(page.engine.model.labels[found.best])
    }
  )
}

/** The heads by how much the answer needs them. */
const byEffect = (effects: Sweep['effects']) =>
  Object.entries(effects).sort(([, a], [, b]) => b.apart - a.apart)

/** The first and the last of the ranking, in words. */
function wordsOfSweep({ effects, label }: Sweep) {
  const order = byEffect(effects),
    [[most, high]] = order,
    [least, low] = order.at(-1) as [string, Effect]
  return say('intervene.ablatingChangesPredictionMost', {
    most,
    apart: nats(high.apart),
    least,
    smallest: nats(low.apart),
    label
  })
}

function ranking(store: Store, { effects, label }: Sweep) {
  const order = byEffect(effects),
    largest = order[0]?.[1].apart || 1
  const line = ([key, { share, apart }]: [string, Effect]) => {
    const [layer, head] = key.split('.').map(Number)
    return html`<tr .style=${`--share: ${(100 * apart) / largest}%`}><td><button type="button" @click=${() => store.set({ layer, head })}>${say('manyPictures.layerHead', { layer, head })}</button></td><td>${points(share)}</td><td>${nats(apart)}</td></tr>`
  }
  return html`<table><caption>${say('intervene.eachHeadAblatedAlone')}</caption><thead><tr><th scope="col">${say('modelDifference.head')}</th><th scope="col">${label && say('intervene.points', { label })}</th><th scope="col">${say('intervene.allClassesNats')}</th></tr></thead><tbody>${order.map(line)}</tbody></table>`
}

/** A switch a head, a row a layer: a press takes a head out of the model, or back. A switch has its
 * head's effect where the sweep is of this run, else its name. */
function switches({ store, engine }: Page, { ran, effects }: Sweep) {
  const { layers, heads } = engine.shape,
    measured = ran === store.get().ran,
    many = heads > 4 || layers > 6
  const cell = (layer: number, head: number) => {
    const key = `${layer}.${head}`,
      { off } = store.get(),
      text = measured ? points(effects[key].share, 1) : many ? head : key
    return html`<td><button type="button" data-key=${key} aria-pressed=${!off.includes(key)} aria-label=${`${text} ${say('manyPictures.layerHead', { layer, head })}`} @click=${() => store.set({ off: toggled(store.get().off, key) })}>${text}</button></td>`
  }
  return Array.from({ length: layers }, (_, layer) => {
    const name = say('heads.layer2', { layer })
    return html`<tr><th scope="row" aria-label=${name}>${many ? layer : name}</th>${Array.from({ length: heads }, (_, head) => cell(layer, head))}</tr>`
  })
}

/** How much of what it gives the chosen head may give. */
function gainOf({ layer, head, gains }: Pick<State, 'layer' | 'head' | 'gains'>) {
  const [, , share = '100'] =
      gains.find((gain) => gain.startsWith(`${layer}.${head}.`))?.split('.') ?? [],
    one = head !== 'mean' && layer !== 'pool'
  return {
    one,
    share,
    text: one ? say('intervene.gain', { layer, head }) : say('intervene.gainHead')
  }
}

/** The active heads whose map of a query differs from that of the whole model, the largest
 * divergence first. */
async function movedHeads(engine: Runner, token: number, off: string[]) {
  const { explain, whole, result, shape } = engine,
    { layers, heads } = shape,
    [before, now] = await Promise.all(
      [whole as RunnerResult, result].map((of) => engine.rows({ token, of }))
    )
  return Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads])
    .filter((place) => !off.includes(place.join('.')))
    .map(([layer, head]) => ({
      name: `${layer}.${head}`,
      by: explain.divergence(before[layer][head], now[layer][head])
    }))
    .sort((a, b) => b.by - a.by)
    .filter(({ by }) => by > 1e-9)
}

/** Which map of the query has changed most, in words: layers above what was changed see other keys
 * and values. */
async function wordsOfMoved(engine: Runner, { query, off }: { query: PageQuery; off: string[] }) {
  const { layers, heads } = engine.shape,
    moved = await movedHeads(engine, engine.token(query), off)
  return moved.length
    ? say('intervene.mapsQueryHeadsChanged', {
        moved: moved.length,
        heads: layers * heads,
        name: moved[0].name,
        by: nats(moved[0].by)
      })
    : say('intervene.mapsQueryNoActive')
}

const bar = (share: number) => html`<td .style=${`--share: ${share * 100}%`}>${percent(share)}</td>`

/** The five most probable classes of the model as it is and of the changed one, with their shares. */
function sharesOf(engine: Runner, changed: boolean | undefined) {
  const { whole, result, model } = engine,
    before = probabilities(engine, whole),
    now = probabilities(engine, result),
    most = (i: number) => Math.max(before[i], now[i])
  return Array.from(now.keys())
    .sort((a, b) => most(b) - most(a))
    .slice(0, 5)
    .map(
      (index) =>
        html`<tr><td>${className(model.labels[index])}</td>${bar(before[index])}${changed ? bar(now[index]) : html`<td>–</td>`}</tr>`
    )
}

export const view: MakeView = (page, element, { left, redraw }) => {
  const { store, engine } = page
  let sweep: Sweep = { ran: -1, effects: {}, label: '' },
    brush = '',
    moved = '',
    said = ''
  const paint = patchBrush(page, () => brush)
  left.addEventListener('abort', () => {
    page.paint = null
  })

  async function sweepHeads() {
    const found = await sweepOf(page, left, (text) => {
      said = text
      show()
    })
    if (left.aborted) return
    sweep = found ?? sweep
    said = found ? wordsOfSweep(found) : say('work.stopped')
    redraw()
  }

  const options = (names: Record<string, string>, chosen: string) =>
    Object.entries(names).map(
      ([value, text]) =>
        html`<option value=${value} .selected=${live(value === chosen)}>${text}</option>`
    )
  function settings(state: Readonly<State>, off: boolean) {
    const gain = gainOf(state)
    return html`<div class="row"><label>${say('intervene.clickImage')} <select name="brush" ?disabled=${off} @change=${({
      target
    }: Of<HTMLSelectElement>) => {
      brush = target.value
      page.paint = brush ? paint : null // without a brush shapes are dragged, as in other views
    }}>${options(brushes, brush)}</select></label></div>
    <div><label class="range">${say('intervene.temperature')} <input type="range" name="temperature" min="0.1" max="4" step="0.1" ?disabled=${off} .value=${live(String(state.temperature))} @input=${({ target }: Of<HTMLInputElement>) => store.set({ temperature: Number(target.value) })}> <output>${state.temperature}</output></label></div>
    <div><label class="range"><span class="gain">${gain.text}</span> <input type="range" name="gain" min="0" max="100" step="5" ?disabled=${off || !gain.one} .value=${live(gain.share)} @input=${({ target }: Of<HTMLInputElement>) => store.set({ gains: gainsWith(store.get(), Number(target.value)) })}> <output>${gain.share} %</output></label></div>`
  }

  async function draw(latest: () => boolean) {
    show()
    const { result } = engine,
      changed = result.changes && isChanged(result.changes) && engine.canChange,
      words = changed ? await wordsOfMoved(engine, store.get()) : ''
    if (!latest() || words === moved) return
    moved = words
    show()
  }

  function show() {
    const state = store.get(),
      { changes, logits } = engine.result,
      changed = changes && isChanged(changes),
      off = !engine.canChange,
      why = off
        ? say('intervene.interventionsNeedModelSmall')
        : logits
          ? ''
          : say('intervene.modelNoClassifierOnly')
    if (why) said = why
    const how = html`<select name="how" aria-label=${say('intervene.outputAblatedHeads')} ?disabled=${off} @change=${({ target }: Of<HTMLSelectElement>) => store.set({ how: target.value as State['how'] })}>${options(replacements, state.how)}</select>`
    render(
      html`<p class="hint">${say('intervene.effectChangePredictionExplains')}</p>
      ${settings(state, off)}
      <div class="scroll" tabindex="0" role="region" aria-label=${say('intervene.activeHeads')}><table class=${engine.shape.heads > 8 ? 'switches many' : 'switches'}><caption>${say('intervene.activeHeadsAblatedHeads')} ${how}</caption><tbody>${off ? nothing : switches(page, sweep)}</tbody></table></div>
      <div class="row after"><button type="button" name="all" ?disabled=${off} @click=${() => store.set(unchanged)}>${say('intervene.undoAll')}</button><button type="button" name="sweep" ?disabled=${Boolean(why)} @click=${() => sweepHeads().catch(page.showError)}>${say('intervene.ablateEachHeadAlone')}</button></div>
      <div class="scroll effects" tabindex="0" role="region" aria-label=${say('intervene.headsChangePredictionWithout')} ?hidden=${sweep.ran !== state.ran}>${ranking(store, sweep)}</div>
      <table ?hidden=${!why && !engine.result.logits}><caption>${say('intervene.classProbabilities')}</caption><thead><tr><th scope="col">${say('intervene.class')}</th><th scope="col">${say('intervene.original')}</th><th scope="col">${say('intervene.changed')}</th></tr></thead><tbody class="shares">${why ? nothing : sharesOf(engine, changed)}</tbody></table><p class="hint downstream">${changed && !off ? moved : ''}</p><p class="hint" aria-live="polite">${said}</p>`,
      element
    )
  }
  return { keys: ['ran', 'measured', 'layer', 'head', 'query', ...Object.keys(unchanged)], draw }
}
