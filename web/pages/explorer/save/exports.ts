/* What can be taken along: PNG and SVG of the view, CSV and JSON of its numbers (the JSON as `heed
 * run --json` writes it), tensors as `heed run --save`. Each says where it is from. Loaded when
 * asked for. */
import { element } from '../../shared/elements.js'
import { say } from '../../languages/say.js'
import { cutOut } from '../model/seen_region.js'
import { figure } from '../../plot/figure.js'
import { probabilitiesOf } from '../model/probabilities.js'
import { poolRollout } from '../../shared/pooling.js'
import { npyParts, safetensorsParts, zipParts } from '../../shared/array_files.js'
import { provenanceOf } from './provenance.js'
import { provenanceText } from './provenance_text.js'
import { pngOfSvg } from './svg_raster.js'
import { onStage, tokenTable } from './csv_lines.js'
import { scaleOf } from '../views/parts/bar.js'
import { put } from '../views/parts/canvas.js'
import { views } from '../views/view_list.js'
import type { FigureView } from 'heed/plot'
import type { Fusion, PagePicture, PageStatistics } from '../../shared/types.js'
import type { ListedView, Page } from '../types.js'
import type { Runner } from '../../shared/model_runner.js'

/** What the page shows at this moment: the map of `drawn`, and the pictures beside it. */
function shownNow({ drawn }: Pick<Page, 'drawn'>) {
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

/** Enlarged without smoothing, so that viewers that smooth pictures keep the patches' edges. */
function enlarged(canvas: HTMLCanvasElement) {
  const times = Math.max(1, Math.floor(896 / Math.max(canvas.width, canvas.height)))
  const copy = Object.assign(document.createElement('canvas'), {
    width: canvas.width * times,
    height: canvas.height * times
  })
  const context = copy.getContext('2d') as CanvasRenderingContext2D
  context.imageSmoothingEnabled = false
  context.drawImage(canvas, 0, 0, copy.width, copy.height)
  return copy
}

/** The names that a picture of the view has beside it: of layers and heads with the chosen one, or
 * of a matrix' axes. */
function namesOf(canvas: HTMLCanvasElement): Pick<FigureView, 'title' | 'cells'> {
  const textsOf = (all: Iterable<Element>) =>
      Array.from(all, (one) => (one.textContent ?? '').trim()),
    grid = canvas.closest('.heads-grid'),
    caption = canvas.closest('figure')?.querySelector('figcaption')
  if (grid) {
    const cells = grid.querySelector('.cells') as HTMLElement,
      count = (name: string) => Number(cells.style.getPropertyValue(name)),
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
      ...(document.querySelectorAll('#view canvas') as NodeListOf<HTMLCanvasElement>)
    ].filter((canvas) => canvas.width && canvas.offsetParent && !canvas.closest('.bar')),
    plot = document.querySelector('#view svg.plot') as Element | null as SVGSVGElement | null
  if (plot && !canvases.length) return [plotPicture(plot)]
  return canvases.map((canvas) => {
    const bar = (canvas.closest('figure') ?? element('view')).querySelector(
      '.bar canvas'
    ) as HTMLCanvasElement | null
    return {
      href: enlarged(canvas).toDataURL(),
      aspect: canvas.width / canvas.height,
      ...namesOf(canvas),
      ...(bar && { scale: scaleOf(bar), bar: bar.toDataURL() })
    }
  })
}

/** A plot stands alone once the styles it has from the page are written into it. */
function plotPicture(plot: SVGSVGElement) {
  const copy = plot.cloneNode(true) as SVGSVGElement,
    from = [plot, ...plot.querySelectorAll('*')]
  for (const [i, element] of [copy, ...(copy.querySelectorAll('*') as NodeListOf<any>)].entries()) {
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

async function describedFigure(page: Page) {
  const [{ figureOf, figurePart }] = await figureParts(),
    figure = await figureOf(page)
  return {
    ...figure,
    look: { panels: ['map', page.store.get().view] },
    parts: { ...figure.parts, map: await figurePart(page, 'map') }
  }
}

/** The text of an SVG. What is shown is taken at once: whatever is chosen while the rest is on its
 * way, picture, title and numbers are of one row. */
export async function currentFigure(
  page: Page,
  about?: Awaited<ReturnType<typeof describedFigure>>,
  shown: ReturnType<typeof shownNow> = shownNow(page)
) {
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
    dark: Number((getComputedStyle(document.body).color.match(/\d+/) as RegExpMatchArray)[0]) > 128
  })
}

const pixelsAnInch = 96 // of the SVG: what CSS calls a pixel

/** Resolves to the bytes of a PNG. */
export async function pngOf(page: Page, times: number) {
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

/** The numbers of the view; lines that begin with # say where they are from. */
export async function csv(page: Page) {
  const { drawn } = page,
    view: ListedView = views[drawn.at.view],
    {
      csv = async () => tokenTable(page, onStage(drawn)),
      said = () => drawn.caption
    }: { csv?: (page: Page) => Promise<string>; said?: (page: Page) => string } = view.csv
      ? await view.csv()
      : {}
  const table = await csv(page)
  return `# ${provenanceText(await provenanceOf(page))}\n# ${said(page)}\n${table}\n`
}

/** The five likeliest classes. */
function topClasses(engine: Runner) {
  const { result, model } = engine
  return (result.logits ? probabilitiesOf(engine, result.logits) : [])
    .map((probability, index) => ({
      class: index,
      label: model.labels[index],
      probability,
      logit: (result.logits as ArrayLike<number>)[index]
    }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, 5)
}

/** The numbers of every head, with its row for the query; null: no statistics, as of a video. */
function numbersOfHeads(
  explain: Runner['explain'],
  rows: Float32Array[][],
  scores: Float32Array[][] | null,
  statistics: PageStatistics[][] | null
) {
  const layers = statistics ? rows.slice(0, statistics.length) : rows
  return layers.flatMap((layer, l) =>
    layer.map((row, h) => {
      const s = statistics?.[l][h]
      return {
        layer: l,
        head: h,
        entropy: explain.entropy(row),
        ...(s && {
          entropy_cls: s.entropyCls,
          entropy_patches: s.entropyPatches,
          distance: s.distance,
          distance_renormalised: s.distanceRenormalised,
          prefix_mass: s.prefixMass,
          self_mass: s.selfMass,
          top5_mass: s.top5Mass
        }),
        row: Array.from(row),
        ...(scores ? { scores: Array.from(scores[l][h]) } : {})
      }
    })
  )
}

/** how: told of each layer of the statistics where they take long; throws what is no error where the
 * signal stops them. */
export async function numbers(page: Page, how: Parameters<Runner['statistics']>[0] = {}) {
  const { engine, picture, store } = page,
    { result, shape, model } = engine,
    { query, reverse, score, fusion, residual, discard, first, last } = store.get(),
    rolled = { fusion, residual, discard, first, last }
  const rows = await engine.rows({ query, reverse }),
    scored = score !== 'softmax' && engine.scored(score), // else there are weights alone
    scores = scored ? await engine.rows({ query, reverse, score }) : null,
    statistics = await engine.statistics(how)
  if (how.signal?.aborted) throw Object.assign(new Error(), { status: 'CANCELLED' })
  const token = engine.token(query)
  return {
    schema: 1, // of docs/json.md
    heed: engine.info.version,
    provenance: await provenanceOf(page),
    family: model.family,
    layers: shape.layers,
    heads: shape.heads,
    rules: model.rules,
    assumed: model.assumed ?? undefined,
    backend: result.device === 'webgpu' ? 'webgpu' : 'cpu',
    device: engine.ranOn,
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
        ...(result.pool ? await numbersOfPool(engine, result.pool, rolled) : {}),
        rollout: Array.from((await engine.rollout({ ...rolled, query })) ?? [])
      }
    ]
  }
}

/** The maps of the pooling attention, and the rollout of its probe where all maps are kept. */
async function numbersOfPool(
  engine: Runner,
  pool: Float32Array[],
  how: { fusion: Fusion; residual: number; discard: number; first: number; last: number }
) {
  const { explain, result } = engine
  return {
    pool: pool.map((row, head) => ({ head, entropy: explain.entropy(row), row: Array.from(row) })),
    pool_rollout: result.kept
      ? Array.from(
          poolRollout(
            explain.headMean(pool),
            (await engine.rollout({ ...how, query: null })) as Float32Array
          )
        )
      : null
  }
}

/** The names of the tokens before the patches. */
const prefixOf = (engine: Runner) =>
  Array.from({ length: engine.shape.prefixTokens }, (_, token) => engine.nameOf(token))

function keptMaps({ engine }: Pick<Page, 'engine'>) {
  if (!engine.result.kept) throw new Error(say('save.tooLarge'))
  return engine.result.attention
}

export function npyOf({ engine }: Pick<Page, 'engine'>) {
  const { layers, heads, tokens } = engine.shape
  return npyParts(
    [layers, heads, tokens, tokens],
    keptMaps({ engine }) as
      | Float32Array<ArrayBuffer>[]
      | Uint8Array<ArrayBuffer>[]
      | Int32Array<ArrayBuffer>[]
  )
}

/** The part of the picture that the model saw, RGB from the top left. */
function seenPixels({ picture, engine }: { picture: PagePicture; engine: Runner }) {
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
  const { data } = (canvas.getContext('2d') as CanvasRenderingContext2D).getImageData(
      0,
      0,
      canvas.width,
      canvas.height
    ),
    rgb = new Uint8Array((data.length / 4) * 3)
  for (let i = 0; i < rgb.length; i++) rgb[i] = data[Math.floor(i / 3) * 4 + (i % 3)]
  return { shape: [canvas.height, canvas.width, 3], data: rgb }
}

/** maps [L, H, N, N], the picture as the model saw it, the grid and where all is from: for
 * numpy.load, and for this page. */
export async function npzOf(page: Page) {
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

/** As `heed run --save`, and the picture as the model saw it; `heed maps` opens it. The metadata
 * says where it is from. */
export async function safetensorsOf(page: Page) {
  const {
      shape: { heads, tokens, prefixTokens, rows, columns },
      result
    } = page.engine,
    from = await provenanceOf(page)
  const maps = (keptMaps(page) as Float32Array[]).map((data, layer) => [
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
