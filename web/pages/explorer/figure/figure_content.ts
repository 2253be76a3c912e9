/* What of the page goes into a figure: each panel's numbers with the scale that the page draws them
 * with, and where they are from. */
import { element } from '../../shared/elements.js'
import { fixed, significant } from '../../plot/parts/numbers.js'
import { findHeads } from '../model/head_finder.js'
import { numberOf, numbersOfHeads } from '../model/head_numbers.js'
import { numbersOfUniform } from '../model/uniform_head.js'
import { massShare } from '../../plot/overlay.js'
import { largestOf } from '../../plot/raster.js'
import { digits } from '../save/nine_digits.js'
import { provenanceOf } from '../save/provenance.js'
import { toHash } from '../state/address.js'
import { scaleOfAll } from '../views/heads/heads.js'
import '../state/change_words.js'
import { placeName, titleOfRow, weightsOfRow } from '../model/shown_row.js'
import { scaleOfRow } from '../views/stage/stage.js'
import { say } from '../../languages/say.js'
import type { Scale } from 'heed/plot'
import type {
  Figure,
  FigureMap,
  FigurePanel,
  FigureParts,
  FigureScale,
  Page,
  HeadEntry
} from '../types.js'

const tokensAtMost = 1100 // of a matrix: more than that no print resolves

const written = ({ kind, label, end }: Scale, values: Iterable<number>): FigureScale => ({
  kind,
  label,
  end,
  largest: largestOf(values)
})

/** The state as the stage shows it: the query under the pointer is its query. */
function stateOf({ store, drawn: { at } }: Page) {
  const state = store.get()
  return { ...state, query: at.query ?? state.query }
}

/**
 * The weights of patches on a picture.
 * @param values of the patches
 */
function mapOf(
  { engine, store }: Page,
  values: Float32Array,
  scale: Scale,
  title: string
): FigureMap {
  return {
    title,
    values: digits(values),
    scale: written(scale, values),
    ...(store.get().style === 'mass'
      ? { mask: Array.from(engine.explain.massMask(values, massShare), Number) }
      : {})
  }
}

/** Why the page has no such panel now, as a sentence; '' where it has. */
export const whyNot: Record<FigurePanel, (page: Page) => string> = {
  picture: () => '',
  map: () => '',
  heads: () => '',
  matrix: ({ engine, store }) =>
    store.get().layer === 'pool'
      ? say('composer.poolMatrix')
      : engine.shape.tokens > tokensAtMost
        ? say('composer.matrixLarge', { tokens: engine.shape.tokens })
        : '',
  rollout: () => '',
  statistics: (page) => (page.statistics ? '' : say('composer.noStatistics')),
  comparison: ({ compared, store }) =>
    compared && store.get().view === 'compare' ? '' : say('composer.noB')
}

const partOf: {
  [Name in FigurePanel]: (page: Page) => FigureParts[Name] | Promise<FigureParts[Name]>
} = {
  picture: () => element('picture').toDataURL(),

  map: (page) => {
    const { row, scores, scale, title, note, shape } = page.drawn,
      map = mapOf(page, (scores ?? row).subarray(shape.prefixTokens), scale, title)
    return note ? { ...map, note } : map
  },

  heads: async (page) => {
    const { engine } = page,
      { query, reverse, score } = stateOf(page),
      rows = await engine.rows({ query, reverse, score }),
      maps = rows.flatMap((layer, l) =>
        layer.map((row, head) => ({
          layer: engine.layerAt(l),
          head,
          values: row.subarray(engine.shape.prefixTokens)
        }))
      ),
      largests = rows.map((layer) =>
        layer.map((row) => largestOf(row.subarray(engine.shape.prefixTokens)))
      ),
      name = engine.nameOf(engine.token(query)),
      title = reverse ? say('composer.headsTo', { name }) : say('composer.headsFrom', { name })
    return {
      title: rows.length > engine.shape.layers ? say('composer.poolFromProbe', { title }) : title,
      scale: written(scaleOfAll(page, largests), largests.flat()),
      maps: maps.map((map) => ({ ...map, values: digits(map.values) }))
    }
  },

  matrix: async (page) => {
    const { engine, drawn } = page,
      state = stateOf(page),
      { scaleOfAll: scaleOfMatrix } = await import('../views/matrix/matrix.js'),
      { layer, head, score, end } = state,
      weights = await engine.matrix(layer as number, head as number, score),
      { shape } = engine
    return {
      title: placeName({ ...drawn.at, rollout: false }),
      values: digits(weights),
      scale: written(scaleOfMatrix(drawn.scale, weights, shape, end / shape.tokens), weights)
    }
  },

  rollout: async (page) => {
    const { engine, drawn } = page,
      state = { ...stateOf(page), view: 'rollout' as const },
      at = { ...drawn.at, rollout: true, query: state.query, reverse: false },
      row = await weightsOfRow(engine, at, drawn.of)
    if (!row) throw new Error(say('save.notDrawn'))
    return mapOf(
      page,
      row.subarray(engine.shape.prefixTokens),
      scaleOfRow(state, row, null, 0, engine.shape),
      titleOfRow(engine, at)
    )
  },

  statistics: ({ statistics, engine }) => {
    const uniform = numbersOfUniform(engine.shape, engine.model.patch) as HeadEntry,
      points = findHeads(statistics ?? [], {})
        .map((entry) => ({
          layer: entry.layer,
          head: entry.head,
          x: numberOf(entry, 'entropy'),
          y: numberOf(entry, 'distance')
        }))
        .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))
    return {
      title: say('composer.statistics'),
      labels: { x: numbersOfHeads.entropy[1], y: numbersOfHeads.distance[1] },
      points,
      uniform: { x: numberOf(uniform, 'entropy') || 0, y: numberOf(uniform, 'distance') || 0 }
    }
  },

  comparison: async (page) => {
    const other = page.compared as NonNullable<Page['compared']>,
      { comparisonOf } = await import('../views/compare/compare.js'),
      { a, b, less, scale, lessScale, words } = comparisonOf(page, other),
      { row, title } = page.drawn,
      map: (values: Float32Array, of: Scale, title: string) => FigureMap = (values, of, title) => ({
        title,
        values: digits(values),
        scale: written(of, values)
      })
    return {
      a: map(a, scale, title),
      b: {
        ...map(b, scale, other.title),
        png: other.picture.toDataURL(),
        ...(other.settings === undefined ? {} : { settings: other.settings || '#' })
      },
      less: map(less, lessScale, say('compare.blueBMoreOrange')),
      facts: say('composer.facts', {
        words,
        divergence: significant(page.engine.explain.divergence(row, other.row), 3),
        cosine: fixed(page.engine.explain.cosines(row, other.row)[0] || 0, 4)
      })
    }
  }
}

/** A panel's part of a figure. */
export const figurePart = <Name extends FigurePanel>(page: Page, name: Name) => partOf[name](page)

/** A figure of what the stage shows, with its picture and no other part yet. */
export async function figureOf(page: Page): Promise<Omit<Figure, 'look'>> {
  const { engine, drawn } = page,
    { rows, columns, tokens, prefixTokens } = engine.shape,
    { from, ...known } = await provenanceOf(page)
  return {
    from: {
      ...known,
      model: known.model ?? '',
      picture: known.picture.slice(0, 400),
      ...(from?.model ? { model: `${known.model} (${from.model})` } : {}),
      settings: toHash(stateOf(page), Infinity) || '#'
    },
    grid: {
      rows,
      columns,
      tokens,
      names: Array.from({ length: prefixTokens }, (_, token) => engine.nameOf(token))
    },
    title: drawn.title,
    caption: drawn.caption,
    parts: { picture: await partOf.picture(page) }
  }
}
