/* A, the row that the stage shows, beside B: a row that was pinned (another head, query, layer,
 * picture or model), or the same place in the same model with coarser weights, by another of the
 * runtime's modules, or in another model of the same shape. Side by side or with a curtain between them, their difference, and how far
 * apart they are: weights, or the scores of the stage that is chosen where both have them. */
import { html, nothing, render } from 'lit-html'
import { classMap } from 'lit-html/directives/class-map.js'
import { live } from 'lit-html/directives/live.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { createRunner } from '../../../shared/model_runner.js'
import { pin, swap } from '../../state/pins.js'
import { pictureNow } from '../../state/place.js'
import { percent } from '../../../plot/caption.js'
import { divergingTable } from '../../../plot/diverging.js'
import { heat } from '../../../plot/heat.js'
import { largestOf } from '../../../plot/raster.js'
import { makeScale, plainScale, signedScale } from '../../../plot/scale.js'
import { stageWords } from '../../../shared/scores.js'
import '../../state/change_words.js'
import { titleOfRow } from '../../model/shown_row.js'
import { drawRow } from '../parts/row_picture.js'
import { bar } from '../parts/bar.js'
import { drawing, put } from '../parts/canvas.js'
import { deviceName } from '../../../shared/names.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Other, Page } from '../../types.js'
import type { Of, PageSource } from '../../../shared/types.js'
import type { Runner } from '../../../shared/model_runner.js'
import type { Scale } from 'heed/plot'

const diverging = divergingTable()
const others: Record<string, string> = {
  pinned: say('compare.pinnedRow'),
  bf16: say('compare.weightsBf16'),
  int8: say('compare.weights8Bits'),
  int4: say('compare.weights4Bits'),
  files: say('compare.anotherModel'),
  simd: say('compare.simdModule')
}

/** Files that someone chooses: a folder's, or some at once. */
const chooseFiles = (folder: boolean): Promise<File[]> =>
  new Promise((resolve) => {
    const input = Object.assign(document.createElement('input'), {
      type: 'file',
      multiple: true,
      webkitdirectory: folder
    })
    input.addEventListener('change', () => resolve([...(input.files as FileList)]))
    input.click()
  })

/** The page's model with coarser weights, or by another module of the runtime. */
async function openModel(other: string, source: PageSource) {
  if (other === 'files') {
    const { modelFiles } = await import('../../../heed/weight_files.js')
    return createRunner({
      source: modelFiles(source as any).files as any,
      threads: 1
    })
  }
  if (other === 'simd') return createRunner({ source, simd: other, threads: 1 })
  const { roundedSource } = await import('../../model/rounded_weights.js')
  return createRunner({ source: await roundedSource(source, other), threads: 1 })
}

/** A second model beside that of the page, one at a time: opened when it is first asked for a row,
 * and run on the picture of the page's last run. */
class SecondModel {
  page
  onOpen
  opened: { other: string; source: PageSource; ran: number; engine: Promise<Runner> } | null = null
  /** What someone chose as the other model. */
  files: File[] = []

  constructor(page: Page, onOpen: () => void) {
    this.page = page
    this.onOpen = onOpen
  }

  /** Also one that is still on its way. */
  close() {
    this.opened?.engine.then(
      (engine) => engine.close(),
      () => {}
    )
    this.opened = null
  }

  async open(other: string): Promise<[opened: { ran: number }, engine: Runner]> {
    const source = other === 'files' ? (this.files as any) : this.page.source
    if (this.opened?.other !== other || this.opened.source !== source) {
      this.onOpen()
      this.close()
      this.opened = { other, source, ran: -1, engine: openModel(other, source) }
    }
    const mine = this.opened
    try {
      return [mine, await mine.engine]
    } catch (error) {
      if (this.opened === mine) this.opened = null // the next draw tries again
      throw error
    }
  }

  /** Its row at the place that the stage shows, and its scores where the stage has some. */
  async rowOf(other: string): Promise<Other> {
    const { page } = this,
      { layer, head, reverse, ran, score } = page.store.get(),
      [mine, engine] = await this.open(other)
    const { whyNot } = await import('../../model/model_difference.js'),
      why = whyNot(page.engine, engine)
    if (why) throw new Error(why)
    if (String(engine.size) !== String(page.engine.size)) {
      await engine.resize(page.engine.size, {})
      mine.ran = -1
    }
    if (mine.ran !== ran)
      await engine.run(page.picture.source, {
        changes: page.engine.result.changes,
        fit: page.engine.result.fit
      })
    mine.ran = ran
    const at = { layer, head, query: page.query(), reverse }
    return {
      row: await engine.row(at),
      scores: page.drawn.scores && (await engine.row({ ...at, score })),
      score,
      device: engine.ranOn,
      title: say('compare.samePlace', { other: others[other] }),
      shape: page.engine.shape,
      picture: pictureNow(page)
    }
  }
}

/** The largest of the finite magnitudes. */
const reach = (values: Float32Array) =>
  values.reduce(
    (most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most),
    0
  )

/** A - B, NaN where one of them is not finite. */
const difference = (a: Float32Array, b: Float32Array, factor: number) =>
  a.map((value, i) =>
    Number.isFinite(value) && Number.isFinite(b[i]) ? (value - b[i]) * factor : NaN
  )

/** What stands in the pictures, of the patches: weights, or the scores of the chosen stage where
 * both have them; A and B on one scale. */
export function comparisonOf({ store, engine, drawn, table }: Page, other: Other) {
  const { tokens, prefixTokens } = engine.shape,
    { score, scale: kind } = store.get(),
    staged = drawn.scores && other.scores && other.score === score
  const [a, b] = (
      (staged ? [drawn.scores, other.scores] : [drawn.row, other.row]) as Float32Array[]
    ).map((of) => of.subarray(prefixTokens)),
    less = difference(a, b, staged ? 1 : tokens),
    unit = staged ? stageWords[score] : '× uniform',
    largest = Math.max(reach(a), reach(b)),
    floor = staged || kind === 'own' ? 0 : 1 // less than uniform is no difference to shine
  const scale = !staged
    ? makeScale('uniform', { tokens, largest })
    : score === 'value'
      ? plainScale(unit, largest)
      : signedScale(unit, largest)
  return {
    a,
    b,
    less,
    scale,
    lessScale: signedScale(unit, Math.max(reach(less), floor)),
    table: scale.signed ? diverging : table,
    words: say('compare.allBOneScale', {
      unit,
      scores: staged
        ? say('compare.divergenceCosineWeights')
        : drawn.scores
          ? say('compare.bNoScoresStage')
          : ''
    })
  }
}

/** What one of the figures shows; without weights, words alone. */
interface Shown {
  words: string
  weights?: Float32Array
  scale?: Scale
  table?: Uint8Array
  picture?: HTMLCanvasElement
}

/** A row as one of the figures, on its picture where there is one. */
function figure(
  { store, engine }: Page,
  name: string,
  { words, weights, scale, table, picture }: Shown
) {
  const { rows, columns } = engine.shape,
    { strength } = store.get()
  const show = (canvas: HTMLCanvasElement) => {
    if (!weights || !scale || !table) return
    if (picture) drawRow(canvas, picture, { weights, rows, columns, scale, table, strength })
    else put(canvas, heat({ weights, rows, columns, scale, table }))
  }
  return html`<figure><figcaption><b>${name}</b> <span>${words}</span></figcaption><div class="raster"><canvas role="img" aria-label=${name} ${drawing(show)}></canvas></div>${scale && table ? bar(scale, table) : nothing}</figure>`
}

/** How far apart two rows are, as a list of facts. */
function distances({ explain }: Pick<Page['engine'], 'explain'>, a: Float32Array, b: Float32Array) {
  const apart = explain.divergence(a, b),
    digits = apart > 1e-12 && apart < 5e-4 ? apart.toExponential(1) : fixed(apart, 4)
  return html`<dt>${say('compare.jensenShannonDivergence')}</dt><dd>${digits} nats</dd><dt>${say('compare.largestLn2')}</dt><dd>${percent(apart / Math.LN2)}</dd><dt>${say('compare.cosine')}</dt><dd>${fixed(explain.cosines(a, b)[0] || 0, 4)}</dd>`
}

/** A, B and their difference, with a sentence. */
interface Comparison {
  figures: Shown[]
  hint: string
  facts: unknown
}

/**
 * A alone, and why.
 * @param b of another grid
 */
function ofA(page: Page, b: Other | null): Comparison {
  const { row, title } = page.drawn,
    { tokens, prefixTokens } = page.engine.shape,
    weights = row.subarray(prefixTokens),
    scale = makeScale('uniform', { tokens, largest: largestOf(weights) })
  return {
    figures: [
      { words: title, weights, scale, table: page.table, picture: pictureNow(page) },
      {
        words: b
          ? say('compare.anotherGridPatches', { title: b.title })
          : say('compare.nothingPinnedYet')
      },
      { words: '' }
    ],
    hint: b ? say('compare.pinRowModel') : say('compare.pinRowBP'),
    facts: nothing
  }
}

/**
 * A, B and their difference.
 * @param by which modules they are by
 */
function ofPair(page: Page, other: Other, by: string): Comparison {
  const { row, title } = page.drawn,
    { a, b, less, scale, lessScale, table, words } = comparisonOf(page, other)
  return {
    figures: [
      { words: title, weights: a, scale, table, picture: pictureNow(page) },
      { words: other.title, weights: b, scale, table, picture: other.picture },
      { words: say('compare.blueBMoreOrange'), weights: less, scale: lessScale, table: diverging }
    ],
    hint: words + by,
    facts: distances(page.engine, row, other.row)
  }
}

/** How far apart two models are on the picture, once each run. */
class ModelFigures {
  page
  table: unknown = nothing
  #told: { opened: object; ran: number } | null = null

  constructor(page: Page) {
    this.page = page
  }

  clear() {
    this.#told = null
    this.table = nothing
  }

  /** Whether there is another table. */
  async find(opened: SecondModel['opened'], latest: () => boolean) {
    const { ran } = this.page.store.get()
    if (!opened) this.clear()
    if (!opened || (this.#told?.opened === opened && this.#told.ran === ran)) return
    const { differenceTable, modelDifference } = await import('../../model/model_difference.js'),
      found = await modelDifference(this.page.engine, await opened.engine)
    if (!found || !latest()) return
    this.#told = { opened, ran }
    this.table = differenceTable(found)
  }
}

/** Which module gave A, and which B; or what B is where nothing is pinned. */
function wordsOfB({ device }: { device: string }, other: string, b: Other) {
  if (other === 'simd')
    return say('compare.b2', { device: deviceName(device), other: deviceName(String(b.device)) })
  return b.unpinned ? say('compare.bIsMean', { title: b.title }) : ''
}

/** B where nothing is pinned: the same place in the mean of the heads, and in a head where that is A. */
async function meanOf(page: Page): Promise<Other> {
  const { engine, drawn, store } = page,
    { layer, reverse, query, score } = drawn.at,
    head = drawn.at.head === 'mean' ? (0 as const) : ('mean' as const),
    at = { layer, head, query: query ?? store.get().query, reverse }
  return {
    row: await engine.row(at),
    scores: drawn.scores && (await engine.row({ ...at, score })),
    score,
    title: titleOfRow(engine, { ...drawn.at, head, rollout: false }),
    shape: engine.shape,
    picture: pictureNow(page),
    unpinned: true
  }
}

function findB(page: Page, second: SecondModel, other: string): Promise<Other> | Other | null {
  const { pinned } = page.store.get()
  if (other === 'files' && !second.files.length) return null
  if (other !== 'pinned') return second.rowOf(other)
  return pinned ? { ...pinned, title: `${pinned.title} (${pinned.name})` } : meanOf(page)
}

/** What is chosen in the view's controls, and whether A and B fit. */
interface Chosen {
  other: string
  shown: string
  fits: boolean
}

/** What the controls do. */
interface Acts {
  pin(): void
  choose(name: 'other' | 'shown'): (event: Of<HTMLSelectElement>) => void
  chooseModel(folder: boolean): void
}

/** Those that make no sense are hidden or disabled. */
function controls(page: Page, chosen: Chosen, acts: Acts) {
  const { engine, store, showError } = page,
    { simd } = engine.info,
    isThere = (name: string) => name !== 'simd' || simd !== 'simd'
  return html`<div class="even two"><button type="button" name="pin" @click=${acts.pin}>${say('compare.pinRowB')}</button><button type="button" name="back" ?disabled=${!chosen.fits || chosen.other !== 'pinned' || !store.get().pinned} @click=${() => swap(page).catch(showError)}>${say('compare.swapB')}</button></div>
    <div class="fields"><label>${say('compare.b')} <select name="other" ?disabled=${engine.only} @change=${acts.choose('other')}>${Object.entries(
      others
    ).map(
      ([name, text]) =>
        html`<option value=${name} ?disabled=${!isThere(name)} .selected=${live(name === chosen.other)}>${text}</option>`
    )}</select></label>
    <label>${say('compare.shown')} <select name="shown" @change=${acts.choose('shown')}><option value="side">${say('compare.sideSide')}</option><option value="swipe">${say('compare.curtain')}</option></select></label></div>`
}

/**
 * Where files of another model are chosen.
 * @param names of those that are
 */
function filesOf(chosen: Chosen, acts: Acts, names: string) {
  const button = (name: string, text: string) =>
    html`<button type="button" name=${name} @click=${() => acts.chooseModel(name === 'folder')}>${text}</button>`
  return html`<p class="files" ?hidden=${chosen.other !== 'files'}>${button('folder', say('compare.folderOtherModel'))} ${button('weights', say('compare.files'))} <span>${names}</span></p>`
}

export const view: MakeView = (page, element, { left, redraw }) => {
  const chosen: Chosen = { other: 'pinned', shown: 'side', fits: false },
    models = new ModelFigures(page)
  let shown: Comparison = {
    figures: [{ words: '' }, { words: '' }, { words: '' }],
    hint: '',
    facts: nothing
  }
  const second = new SecondModel(page, () => {
    shown = { ...shown, hint: say('compare.loadingModelSecondTime') }
    show()
  })
  left.addEventListener('abort', () => second.close())
  const acts: Acts = {
    pin() {
      chosen.other = 'pinned'
      pin(page)
      redraw()
    },
    choose:
      (name) =>
      ({ target }) => {
        chosen[name] = target.value
        redraw()
      },
    async chooseModel(folder) {
      second.files = await chooseFiles(folder)
      redraw()
    }
  }

  /** What was found last. */
  function show() {
    const { figures, hint, facts } = shown,
      { fits } = chosen,
      swipe = chosen.shown === 'swipe',
      move = ({ target }: Of<HTMLInputElement>) =>
        element.style.setProperty('--curtain', `${target.value}%`)
    render(
      html`${controls(page, chosen, acts)}
      <div class=${classMap({ pair: true, compared: true, waiting: !fits, swipe })}>${['A', 'B', 'A − B'].map((name, i) => figure(page, name, figures[i]))}<dl class="facts">${facts}</dl></div>
      ${filesOf(chosen, acts, second.files.map(({ name }) => name).join(', '))}
      <p ?hidden=${!fits || !swipe}><label class="range">${say('compare.curtain2')} <input type="range" name="curtain" min="0" max="100" value="50" @input=${move}></label></p>
      <p class="hint" aria-live="polite">${hint}</p><div class="models">${models.table}</div>`,
      element
    )
  }

  async function draw(latest: () => boolean) {
    if (page.engine.only) chosen.other = 'pinned'
    const { other } = chosen,
      b = await findB(page, second, other)
    if (!latest()) return
    const { info, shape } = page.engine,
      fits = b !== null && b.row.length === page.drawn.row.length && b.shape.rows === shape.rows
    chosen.fits = fits
    page.compared = fits ? b : null
    if (!fits) models.clear()
    shown = fits ? ofPair(page, b, wordsOfB(info, other, b)) : ofA(page, b)
    show()
    if (!fits) return
    await models.find(other === 'pinned' ? null : second.opened, latest)
    if (latest()) show()
  }
  return { keys: ['drawn', 'pinned'], draw }
}
