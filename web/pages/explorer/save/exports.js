/* What can be taken along: PNG and SVG of the view, CSV and JSON of its numbers (the JSON as `heed
 * run --json` writes it), tensors as `heed run --save`. Each says where it is from. Loaded when
 * asked for. */
import { say } from '../../languages/say.js'
import { cutOut } from '../model/seen_region.js'
import { figure } from '../../plot/figure.js'
import { probabilitiesOf } from '../model/probabilities.js'
import { poolRollout } from '../model/pooling.js'
import { npyParts, safetensorsParts, zipParts } from '../../shared/array_files.js'
import { provenanceOf } from './provenance.js'
import { provenanceText } from './provenance_text.js'
import { pngOfSvg } from './svg_raster.js'
import { onStage, tokenTable } from './csv_lines.js'
import { scaleOf } from '../views/bar.js'
import { put } from '../views/canvas.js'
import { views } from '../views/view_list.js'
/** @import {FigureView} from '../../../plot/index.js' */
/** @import {Fusion, ListedView, Page, PagePicture, PageStatistics, Runner} from '../../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)
/**
 * What the page shows at this moment: the map of `drawn`, and the pictures beside it.
 * @param {Pick<Page, 'drawn'>} page
 */
function shownNow({ drawn }) {
  const map = document.createElement('canvas')
  put(map, drawn.raster)
  return {
    pictures: {
      picture: element('picture').toDataURL(),
      map: enlarged(map).toDataURL(),
      bar: element('bar').toDataURL()
    },
    views: viewPictures()
  }
}

/**
 * Enlarged without smoothing, so that viewers that smooth pictures keep the patches' edges.
 * @param {HTMLCanvasElement} canvas
 */
function enlarged(canvas) {
  const times = Math.max(1, Math.floor(896 / Math.max(canvas.width, canvas.height)))
  const copy = Object.assign(document.createElement('canvas'), {
    width: canvas.width * times,
    height: canvas.height * times
  })
  const context = /** @type {CanvasRenderingContext2D} */ (copy.getContext('2d'))
  context.imageSmoothingEnabled = false
  context.drawImage(canvas, 0, 0, copy.width, copy.height)
  return copy
}

/**
 * The names that a picture of the view has beside it: of layers and heads with the chosen one, or
 * of a matrix' axes.
 * @param {HTMLCanvasElement} canvas
 * @returns {Pick<FigureView, 'title' | 'cells'>}
 */
function namesOf(canvas) {
  const textsOf = (/** @type {Iterable<Element>} */ all) =>
      Array.from(all, (one) => (one.textContent ?? '').trim()),
    grid = canvas.closest('.heads-grid'),
    caption = canvas.closest('figure')?.querySelector('figcaption')
  if (grid) {
    const cells = /** @type {HTMLElement} */ (grid.querySelector('.cells')),
      count = (/** @type {string} */ name) => Number(cells.style.getPropertyValue(name)),
      buttons = [...cells.querySelectorAll('button')]
    return {
      title: cells.getAttribute('aria-label') ?? '',
      cells: {
        columns: count('--columns'), // of the last line, some may have no cell
        lines: count('--rows'),
        above: textsOf(grid.querySelectorAll('.across span')),
        left: textsOf(grid.querySelectorAll('.down span')),
        inside: textsOf(cells.querySelectorAll('small')),
        chosen: buttons.findIndex((button) => button.ariaSelected === 'true')
      }
    }
  }
  if (canvas.closest('.matrix')) {
    const [query, key] = textsOf(document.querySelectorAll('#view .axes-said span'))
    return { cells: { columns: 1, lines: 1, above: [key], left: [query] } }
  }
  return caption
    ? { title: textsOf(caption.children).filter(Boolean).join(': ') || textsOf([caption])[0] }
    : {}
}

/* What the view beside the picture shows: its canvases with their names and bars, or its plot. */
function viewPictures() {
  const canvases = [
      .../** @type {NodeListOf<HTMLCanvasElement>} */ (document.querySelectorAll('#view canvas'))
    ].filter((canvas) => canvas.width && canvas.offsetParent && !canvas.closest('.bar')),
    plot = /** @type {SVGSVGElement | null} */ (
      /** @type {Element | null} */ (document.querySelector('#view svg.plot'))
    )
  if (plot && !canvases.length) return [plotPicture(plot)]
  return canvases.map((canvas) => {
    const bar = /** @type {HTMLCanvasElement | null} */ (
      (canvas.closest('figure') ?? document.getElementById('view')).querySelector('.bar canvas')
    )
    return {
      href: enlarged(canvas).toDataURL(),
      aspect: canvas.width / canvas.height,
      ...namesOf(canvas),
      ...(bar && { scale: scaleOf(bar), bar: bar.toDataURL() })
    }
  })
}

/**
 * A plot stands alone once the styles it has from the page are written into it.
 * @param {SVGSVGElement} plot
 */
function plotPicture(plot) {
  const copy = /** @type {SVGSVGElement} */ (plot.cloneNode(true)),
    from = [plot, ...plot.querySelectorAll('*')]
  for (const [i, element] of [
    copy,
    .../** @type {NodeListOf<any>} */ (copy.querySelectorAll('*'))
  ].entries()) {
    const style = getComputedStyle(from[i])
    for (const name of ['fill', 'stroke', 'stroke-width', 'font-size', 'font-family'])
      element.style.setProperty(name, style.getPropertyValue(name))
  }
  const { width, height } = plot.viewBox.baseVal
  for (const [name, value] of Object.entries({
    xmlns: 'http://www.w3.org/2000/svg',
    width: 2 * width,
    height: 2 * height
  }))
    copy.setAttribute(name, String(value))
  return {
    href: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`,
    aspect: width / height
  }
}

/* The metadata of these files is made as the composer makes its own. */
const figureParts = () =>
  Promise.all([
    import('../figure/figure_content.js'),
    import('../figure/figure_svg.js'),
    import('../figure/figure_png.js')
  ])

/** @param {Page} page */
async function describedFigure(page) {
  const [{ figureOf, figurePart }] = await figureParts(),
    figure = await figureOf(page)
  return {
    ...figure,
    look: { panels: ['map', page.store.get().view] },
    parts: { ...figure.parts, map: await figurePart(page, 'map') }
  }
}

/**
 * The text of an SVG. What is shown is taken at once: whatever is chosen while the rest is on its
 * way, picture, title and numbers are of one row.
 * @param {Page} page
 * @param {Awaited<ReturnType<typeof describedFigure>>} [about]
 * @param {ReturnType<typeof shownNow>} [shown]
 */
export async function currentFigure(page, about, shown = shownNow(page)) {
  const { drawn } = page,
    { shape } = drawn,
    { query } = drawn.at,
    [, { aboutFigure }] = await figureParts()
  return figure({
    ...shown,
    rows: shape.rows,
    columns: shape.columns,
    aspect: shape.columns / shape.rows,
    path: drawn.path,
    cell: Array.isArray(query) ? query : null,
    note: drawn.note,
    scale: drawn.scale,
    caption: drawn.caption,
    provenance: provenanceText(await provenanceOf(page)),
    about: aboutFigure(about ?? (await describedFigure(page))),
    dark:
      Number(
        /** @type {RegExpMatchArray} */ (getComputedStyle(document.body).color.match(/\d+/))[0]
      ) > 128
  })
}

const pixelsAnInch = 96 // of the SVG: what CSS calls a pixel

/**
 * Resolves to the bytes of a PNG.
 * @param {Page} page
 * @param {number} times
 */
export async function pngOf(page, times) {
  const shown = shownNow(page),
    about = await describedFigure(page),
    [, { pngTexts }, { withTexts }] = await figureParts(),
    svg = await currentFigure(page, about, shown),
    blob = await pngOfSvg(svg, ({ naturalWidth, naturalHeight }) => ({
      width: naturalWidth * times,
      height: naturalHeight * times
    }))
  return withTexts(new Uint8Array(await blob.arrayBuffer()), {
    dpi: pixelsAnInch * times,
    texts: pngTexts(about)
  })
}

/**
 * The numbers of the view; lines that begin with # say where they are from.
 * @param {Page} page
 */
export async function csv(page) {
  const { drawn } = page,
    /** @type {ListedView} */
    view = views[drawn.at.view],
    /** @type {{csv?: (page: Page) => Promise<string>, said?: (page: Page) => string}} */
    { csv = async () => tokenTable(page, onStage(drawn)), said = () => drawn.caption } = view.csv
      ? await view.csv()
      : {}
  const table = await csv(page)
  return `# ${provenanceText(await provenanceOf(page))}\n# ${said(page)}\n${table}\n`
}

/**
 * The five likeliest classes.
 * @param {Runner} engine
 */
function topClasses(engine) {
  const { result, model } = engine
  return (result.logits ? probabilitiesOf(engine, result.logits) : [])
    .map((probability, index) => ({
      class: index,
      label: model.labels[index],
      probability,
      logit: /** @type {ArrayLike<number>} */ (result.logits)[index]
    }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, 5)
}

/**
 * The numbers of every head, with its row for the query.
 * @param {Runner['explain']} explain
 * @param {Float32Array[][]} rows
 * @param {Float32Array[][] | null} scores
 * @param {PageStatistics[][] | null} statistics
 */
function numbersOfHeads(explain, rows, scores, statistics) {
  return /** @type {PageStatistics[][]} */ (statistics).flatMap((layer, l) =>
    layer.map((s, h) => {
      const row = rows[l][h]
      return {
        layer: l,
        head: h,
        entropy: explain.entropy(row),
        entropy_cls: s.entropyCls,
        entropy_patches: s.entropyPatches,
        distance: s.distance,
        distance_renormalised: s.distanceRenormalised,
        prefix_mass: s.prefixMass,
        self_mass: s.selfMass,
        top5_mass: s.top5Mass,
        row: Array.from(row),
        ...(scores ? { scores: Array.from(scores[l][h]) } : {})
      }
    })
  )
}

/** @param {Page} page */
export async function numbers(page) {
  const { engine, picture, store } = page,
    { result, shape, model } = engine,
    { query, reverse, score, fusion, residual, discard, first, last } = store.get(),
    how = { fusion, residual, discard, first, last }
  const rows = await engine.rows({ query, reverse }),
    scored = score !== 'softmax' && engine.scored(score), // else there are weights alone
    scores = scored ? await engine.rows({ query, reverse, score }) : null,
    statistics = await engine.statistics()
  const token = engine.token(query)
  return {
    heed: engine.info.version,
    provenance: await provenanceOf(page),
    family: model.family,
    layers: shape.layers,
    heads: shape.heads,
    rules: model.rules,
    assumed: model.assumed ?? undefined,
    backend: 'cpu',
    device: engine.info.device,
    results: [
      {
        image: {
          path: picture.name,
          width: picture.width,
          height: picture.height,
          seen: result.region,
          ...(result.fit === 'whole' ? { fit: 'whole' } : {}),
          ...(engine.saved ? {} : { size: [shape.rows * model.patch, shape.columns * model.patch] })
        },
        milliseconds: result.milliseconds,
        top: topClasses(engine),
        logits: result.logits && Array.from(result.logits),
        grid: [shape.rows, shape.columns],
        prefix_tokens: shape.prefixTokens,
        prefix: prefixOf(engine),
        tokens: shape.tokens,
        query: engine.nameOf(token),
        query_token: token,
        ...(reverse ? { reverse } : {}),
        ...(scores ? { score } : {}),
        heads: numbersOfHeads(engine.explain, rows, scores, statistics),
        ...(result.pool ? await numbersOfPool(engine, result.pool, how) : {}),
        rollout: Array.from((await engine.rollout({ ...how, query })) ?? [])
      }
    ]
  }
}

/**
 * The maps of the pooling attention, and the rollout of its probe where all maps are kept.
 * @param {Runner} engine
 * @param {Float32Array[]} pool
 * @param {{fusion: Fusion, residual: number, discard: number, first: number, last: number}} how
 */
async function numbersOfPool(engine, pool, how) {
  const { explain, result } = engine
  return {
    pool: pool.map((row, head) => ({ head, entropy: explain.entropy(row), row: Array.from(row) })),
    pool_rollout: result.kept
      ? Array.from(
          poolRollout(
            explain.headMean(pool),
            /** @type {Float32Array} */ (await engine.rollout({ ...how, query: null }))
          )
        )
      : null
  }
}

/**
 * The names of the tokens before the patches.
 * @param {Runner} engine
 */
const prefixOf = (engine) =>
  Array.from({ length: engine.shape.prefixTokens }, (_, token) => engine.nameOf(token))

/** @param {Pick<Page, 'engine'>} options */
function keptMaps({ engine }) {
  if (!engine.result.kept) throw new Error(say('save.tooLarge'))
  return engine.result.attention
}

/** @param {Pick<Page, 'engine'>} options */
export function npyOf({ engine }) {
  const { layers, heads, tokens } = engine.shape
  return npyParts(
    [layers, heads, tokens, tokens],
    /** @type {Float32Array<ArrayBuffer>[] | Uint8Array<ArrayBuffer>[] | Int32Array<ArrayBuffer>[]} */ (
      keptMaps({ engine })
    )
  )
}

/**
 * The part of the picture that the model saw, RGB from the top left.
 * @param {{picture: PagePicture, engine: Runner}} options
 */
function seenPixels({ picture, engine }) {
  const { region } = engine.result,
    { width, height } = region,
    scale = Math.min(1, 1024 / Math.max(width, height))
  const canvas = cutOut(
    picture,
    region,
    Object.assign(document.createElement('canvas'), {
      width: Math.max(1, Math.round(width * scale)),
      height: Math.max(1, Math.round(height * scale))
    })
  )
  const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(
      0,
      0,
      canvas.width,
      canvas.height
    ),
    rgb = new Uint8Array((data.length / 4) * 3)
  for (let i = 0; i < rgb.length; i++) rgb[i] = data[Math.floor(i / 3) * 4 + (i % 3)]
  return { shape: [canvas.height, canvas.width, 3], data: rgb }
}

/**
 * maps [L, H, N, N], the picture as the model saw it, the grid and where all is from: for
 * numpy.load, and for this page.
 * @param {Page} page
 */
export async function npzOf(page) {
  const { rows, columns, prefixTokens } = page.engine.shape,
    picture = seenPixels(page)
  return zipParts({
    'maps.npy': npyOf(page),
    'picture.npy': npyParts(picture.shape, [picture.data]),
    'grid.npy': npyParts(
      [4],
      [Int32Array.of(rows, columns, prefixTokens, page.engine.model.patch)]
    ),
    'provenance.json': [JSON.stringify(await provenanceOf(page))]
  })
}

/**
 * As `heed run --save`, and the picture as the model saw it; `heed maps` opens it. The metadata
 * says where it is from.
 * @param {Page} page
 */
export async function safetensorsOf(page) {
  const {
      shape: { heads, tokens, prefixTokens, rows, columns },
      result
    } = page.engine,
    from = await provenanceOf(page)
  const maps = /** @type {Float32Array[]} */ (keptMaps(page)).map((data, layer) => [
    `attention.${layer}`,
    { shape: [1, heads, tokens, tokens], data }
  ])
  const tensors = {
    ...Object.fromEntries(maps),
    ...(result.logits ? { logits: { shape: [1, result.logits.length], data: result.logits } } : {}),
    picture: seenPixels(page)
  }
  return safetensorsParts(tensors, {
    heed: page.engine.info.version,
    provenance: JSON.stringify(from),
    grid: `${rows} ${columns} ${prefixTokens}`,
    patch: String(page.engine.model.patch),
    prefix: prefixOf(page.engine).join(', '),
    ...(from.changes ? { changes: from.changes } : {})
  })
}
