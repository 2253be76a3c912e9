/* The stage: the picture, the map over it, the query, colour bar and caption. */
import { html, svg } from 'lit-html'
import { element } from '../../../shared/elements.js'
import { fixed } from '../../../plot/parts/numbers.js'
import { isChanged } from '../../../shared/changes.js'
import { cutOut, insideOf, isPadding } from '../../model/seen_region.js'
import {
  isSameRow,
  isSlow,
  placeName,
  rowNow,
  titleOfRow,
  tokenOfRow,
  weightsOfRow
} from '../../model/shown_row.js'
import { createGrid } from '../../controls/button_grid.js'
import { showStatus } from '../../controls/status.js'
import { stoppable } from '../../controls/stoppable.js'
import { caption, elsewhere, percent, scoreCaption, times } from '../../../plot/caption.js'
import { divergingTable } from '../../../plot/diverging.js'
import { overlayInColour } from '../../../plot/parts/overlay_colour.js'
import { largestOf } from '../../../plot/raster.js'
import { makeScale, plainScale, signedScale } from '../../../plot/scale.js'
import { stageWords } from '../../../shared/scores.js'
import { drawBar } from '../parts/bar.js'
import { put } from '../parts/canvas.js'
import { fill } from '../../../shared/fill.js'
import { createStrip } from './strip.js'
import { say } from '../../../languages/say.js'
import { sceneObjects } from '../../model/scene_objects.js'
import type { Changes, PageQuery, RunnerResult, Shape } from '../../../shared/types.js'
import type { Drawn, Page, RowAt, State } from '../../types.js'

function drawPicture({ engine, picture }: Page) {
  const canvas = element('picture'),
    { region } = engine.result,
    { rows, columns } = engine.shape
  const side = Math.min(1024, Math.max(448, region.width))
  canvas.width = side
  canvas.height = Math.round((side * rows) / columns)
  cutOut(picture, region, canvas)
  const inside = insideOf(picture, region),
    run = engine.result
  if (inside.right - inside.left < 1 || inside.bottom - inside.top < 1)
    import('../../model/hatch_padding.js').then(
      ({ hatchPadding }) => run === engine.result && hatchPadding(canvas, inside)
    )
  element('frame').style.aspectRatio = `${columns} / ${rows}`
  for (const id of ['picture', 'map']) element(id).hidden = false
  for (const id of ['first-picture', 'first-map']) element(id).hidden = true
}

/** The query's patch, and a cross on patches that it cannot look at; before the rings of the strip. */
function drawMarks(
  path: string,
  query: PageQuery | null,
  { rows, columns, prefixTokens }: Shape,
  { dropped, cuts }: Changes,
  token: number
) {
  const cut = cuts
    .map((pair) => pair.split('.').map(Number))
    .filter(([from, to]) => from === token && to >= prefixTokens)
    .map(([, to]) => to - prefixTokens)
  const crosses = [...dropped, ...cut]
    .map(
      (patch) =>
        `M${(patch % columns) + 0.2} ${Math.floor(patch / columns) + 0.2}l.6 .6m0 -.6l-.6 .6`
    )
    .join('')
  const cell = crosses + (Array.isArray(query) ? `M${query[1]} ${query[0]}h1v1h-1z` : '')
  element('marks').setAttribute('viewBox', `0 0 ${columns} ${rows}`)
  fill(
    element('marks'),
    svg`<path class="under" d=${path + cell}/><path class="over" d=${path + cell}/><g></g>`
  )
}

const diverging = divergingTable()
/* What follows the pointer is painted before what only describes it: numbers and views come when it
 * has rested this long, in ms, or they would delay the patch that comes next. */
const rest = 40
const afterRest = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, rest)))
const reach = (row: Float32Array) =>
  row.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0)

/** The largest weight on a patch that any head of any layer gives for this query, where the scale is that of
 * all; else 0: a picture ends at its own row's. A rollout stands alone. */
async function largestOfHeads({ engine, store, query }: Page) {
  const { scale, view, score, reverse } = store.get()
  if (scale !== 'all' || view === 'rollout' || score !== 'softmax') return 0
  const rows = (await engine.rows({ query: query(), reverse })).flat()
  return largestOf(rows.map((row) => largestOf(row.subarray(engine.shape.prefixTokens))))
}

/** A patch with its numbers, in words. */
function cellName({ drawn }: Page, row: number, column: number) {
  const { shape, inside, scores } = drawn,
    { prefixTokens, columns, tokens } = shape,
    at = prefixTokens + row * columns + column,
    weight = drawn.row[at]
  const place = say('stage.rowColumn', {
    row,
    column,
    shape: isPadding(inside, row, column, shape) ? say('stage.padding') : ''
  })
  if (scores)
    return say('stage.score', { place, score: fixed(scores[at], 2), weight: percent(weight) })
  return `${place}, ${percent(weight)}, ${times(weight, tokens).replace('×', 'times')}`
}

/** The scale of the row on the stage, or of its scores; all: the largest weight of all heads that it
 * stands for, or 0. Locked, it ends where it was locked. */
export function scaleOfRow(
  { scale, end, view, score }: State,
  row: Float32Array,
  scores: Float32Array | null,
  all: number,
  { prefixTokens, tokens }: Shape
) {
  if (scores)
    return (score === 'value' ? plainScale : signedScale)(
      stageWords[score],
      reach(scores.subarray(prefixTokens))
    )
  const largest = largestOf(row.subarray(prefixTokens)),
    locked = view === 'rollout' ? 0 : end / tokens
  return makeScale(scale === 'all' && (view === 'rollout' || locked) ? 'uniform' : scale, {
    tokens,
    largest: Math.max(all, largest),
    locked,
    beyond: largest
  })
}

/** The row on the stage in words: note and caption. */
const wordsOf = (
  said: Parameters<typeof caption>[0] & { row: Float32Array; out: boolean },
  scores: Float32Array | null,
  stage: string
) => ({
  note: said.out ? say('stage.headAblated') : scores ? '' : elsewhere(said),
  caption: scores ? scoreCaption({ ...said, row: scores, stage }) : caption(said)
})

/** What the stage shows of this row of a result, but for its raster and outlines. */
function drawnOf(
  page: Page,
  result: RunnerResult,
  at: RowAt,
  row: Float32Array,
  all: number
): Omit<Drawn, 'path' | 'raster'> {
  const { engine } = page,
    { shape } = engine,
    { prefixTokens: prefix, columns, tokenNames: names } = shape,
    { layer, head, score, rollout, reverse } = at,
    token = tokenOfRow(engine, at)
  const scores: Float32Array | null =
    score === 'softmax'
      ? null
      : engine.row({ layer, head, query: at.query, reverse, score, of: result })
  const scale = scaleOfRow({ ...page.store.get(), view: at.view, score }, row, scores, all, shape),
    said = {
      row,
      where: placeName(at),
      token,
      prefix,
      columns,
      names,
      reverse,
      rollout,
      objectAt: sceneObjects(page),
      out: !rollout && at.changes.off.includes(`${layer}.${head}`)
    }
  return {
    row,
    of: result,
    shape,
    at,
    inside: insideOf(page.picture, result.region),
    title: titleOfRow(engine, at),
    scores,
    scale,
    table: scale.signed ? diverging : page.table,
    token,
    ...wordsOf(said, scores, stageWords[score])
  }
}

const explained = new RegExp(say('stage.explained'))

/** The words of the title that terms.ts explains are buttons, which stay while they are as many. */
function showTitle(title: string) {
  fill(
    element('stage-title'),
    title
      .split(explained)
      .map((text, i) => (i % 2 ? html`<button type="button" class="term">${text}</button>` : text))
  )
}

/** A title that is too long for its line stands smaller in two. After all that is written, so that it is laid out once. */
function fitTitle() {
  const title = element('stage-title')
  title.classList.remove('long')
  title.classList.toggle('long', title.scrollWidth > title.clientWidth)
}

/**
 * Draws the map, its marks, bar and words; page.drawn has them from here on.
 * @param styles the others than colour, where it is one
 */
function paint(
  page: Page,
  drawn: Omit<Drawn, 'path' | 'raster'>,
  styles: typeof import('../../../plot/overlay.js') | false
) {
  const { row, scores, shape, scale, table, token, at } = drawn,
    state = page.store.get(),
    { style, strength } = state,
    { rows, columns, prefixTokens } = shape,
    weights = (scores ?? row).subarray(prefixTokens)
  const { raster, path } = (styles ? styles.overlay : overlayInColour)({
    weights,
    rows,
    columns,
    scale,
    table,
    style,
    strength,
    mask:
      styles && style === 'mass'
        ? page.engine.explain.massMask(weights, styles.massShare)
        : undefined
  })
  page.drawn = { ...drawn, path, raster }
  put(element('map'), raster)
  drawMarks(path, at.query, shape, state, token)
  drawBar(scale, table)
  element('bar-label').textContent =
    scale.label + (state.end && state.view !== 'rollout' ? say('stage.locked') : '')
  showTitle(drawn.title)
  element('caption').textContent = drawn.caption
  element('elsewhere').textContent = drawn.note
  fitTitle()
}

const drawnBy: Parameters<Page['store']['on']>[0] = [
  'ran',
  'coloured',
  'query',
  'hover',
  'layer',
  'head',
  'reverse',
  'score',
  'style',
  'scale',
  'end',
  'strength',
  'view',
  'fusion',
  'first',
  'last',
  'residual',
  'discard'
]

let spoken: ReturnType<typeof setTimeout> | undefined
function speak(text: string) {
  clearTimeout(spoken)
  spoken = setTimeout(() => (element('spoken').textContent = text), 300)
}

/* While frames of a camera come there is always a next one: so many are waited for. */
const drawingsMost = 20

/**
 * What saves or copies waits until the stage shows what is chosen, and takes nothing else.
 * @param drawing the latest
 */
async function settle(page: Page, drawing: () => Promise<unknown>) {
  for (let i = 0, seen; i < drawingsMost && seen !== drawing(); i++) {
    seen = drawing()
    await seen
    await page.viewSettled?.()
  }
  if (!page.engine.result) throw new Error(say('save.notRun'))
  if (!page.drawn || !isSameRow(page.drawn.at, rowNow(page))) throw new Error(say('save.notDrawn'))
}

/** Draws whenever the state asks for it. Resolves once the first map stands, or could not be drawn. */
function follow(page: Page, draw: () => Promise<void>): Promise<void> {
  let drawing = Promise.resolve()
  page.settled = () => settle(page, () => drawing)
  return new Promise((stands) =>
    page.store.on(drawnBy, () => {
      drawing = draw().then(
        () => page.drawn && stands(),
        (error) => {
          stands()
          if (page.engine.result) page.showError(error) // none: of a model that was closed meanwhile
        }
      )
    })
  )
}

/** Asks for the weights of a row. One that takes long is made at a time, and of those that were asked
 * for meanwhile the last; null where it is no longer wanted. */
function createWeights({ engine }: Page) {
  let slow = Promise.resolve() as Promise<unknown>,
    last = null as { at: RowAt; result: RunnerResult; row: Promise<Float32Array | null> } | null
  return (at: RowAt, result: RunnerResult): Promise<Float32Array | null> | Float32Array => {
    if (!isSlow(at, result)) return weightsOfRow(engine, at, result)
    if (last?.result === result && isSameRow(last.at, at)) return last.row
    const row = slow.then(async () => {
      if (last?.row !== row || engine.result !== result) return null
      const { textContent: before } = element('status'),
        told = (done: number, total: number) => showStatus(say('rollout.layer', { done, total }))
      showStatus(say('rollout.working'))
      try {
        return await stoppable(null, async (signal) =>
          weightsOfRow(engine, at, result, { told, signal })
        )
      } finally {
        showStatus(before ?? '')
      }
    })
    last = { at, result, row }
    slow = row.catch(() => {
      if (last?.row === row) last = null // asked for again, it is tried again
    })
    return row
  }
}

/** Resolves once the first map stands, or could not be drawn. */
export function createStage(page: Page) {
  const { store, engine } = page,
    weights = createWeights(page)
  let turn = 0,
    held = { place: '', most: 0 }

  /* While a shape is dragged other heads are not computed: the scale keeps its end. */
  async function largest() {
    const { layer, query, hover } = store.get(),
      place = `${layer} ${hover ?? query}`,
      most = await largestOfHeads(page)
    if (engine.result?.kept || held.place !== place) held = { place, most }
    return held.most
  }
  const grid = createGrid(element('patches'), {
    name: (row, column) => cellName(page, row, column),
    onPick: (row: number, column: number, how, event) => {
      if (event?.shiftKey)
        import('../../state/pins.js')
          .then(({ pickB }) => pickB(page, [row, column]))
          .catch(page.showError)
      else if (!page.paint?.(row, column, how)) store.set({ query: [row, column], hover: null })
    },
    onHover: (row, column) => store.set({ hover: row === null ? null : [row, column as number] })
  })
  const drawStrip = createStrip(page)

  async function draw() {
    if (!engine.result) return
    const mine = ++turn,
      { result } = engine,
      at = rowNow(page),
      [row, all, styles] = await Promise.all([
        weights(at, result),
        largest(),
        store.get().style !== 'colour' && import('../../../plot/overlay.js'),
        isChanged(at.changes) && import('../../state/change_words.js')
      ])
    if (mine !== turn || !engine.result || !row) return // a newer one is on its way, or a new model, not run yet
    const drawn = drawnOf(page, result, at, row, all),
      { scores, scale, table } = drawn,
      { query } = drawn.at,
      { hover } = store.get()
    paint(page, drawn, styles)
    drawStrip(scores ?? row, { scale, table, query })
    if (hover) {
      await afterRest()
      if (mine !== turn) return
    }
    store.tell('drawn')
    if (hover) return
    speak(page.drawn.caption)
    grid.select(...((Array.isArray(query) ? query : [null]) as [number, number]))
    grid.relabel()
  }

  store.on(['ran'], () => {
    grid.resize(engine.shape.rows, engine.shape.columns)
    drawPicture(page)
  })
  store.on(['colours'], ({ colours }) => {
    page.table = engine.colours(colours)
    store.tell('coloured')
  })
  return follow(page, draw)
}
