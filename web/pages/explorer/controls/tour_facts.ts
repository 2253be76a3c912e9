/* What the tour says of heads, counted from the maps of the last run: where a head gives most, and
 * how much. Nothing is said of maps that are not there. */
import { percent } from '../../plot/caption.js'
import { className } from '../../shared/names.js'
import { sceneColours } from '../../heed/index.js'
import { say } from '../../languages/say.js'
import type { Page } from '../types.js'
import type { RunnerResult } from '../../shared/types.js'

/** The head that finds the other star, the one that it needs, and the patch that is asked about. */
const found = { layer: 3, head: 0 },
  query = [2, 10] as [row: number, column: number],
  near = 2 // patches that a neighbour is away at most

/** The row of a head for the tour's patch. */
const rowOf = (
  { engine }: Page,
  { layer, head }: { layer: number; head: number },
  of: RunnerResult = engine.result
): Float32Array => engine.row({ layer, head, query, of })

/** Shares of a row by what they fall on: an object of the scene by its number, -1: no object, -2: no
 * patch. The largest first. */
function sharesOf({ engine, picture }: Page, row: Float32Array): [what: number, share: number][] {
  const { prefixTokens } = engine.shape,
    objects = picture.drawing.objects.length,
    shares: Map<number, number> = new Map()
  row.forEach((weight, token) => {
    const owner = token < prefixTokens ? -2 : picture.owner[token - prefixTokens],
      what = owner < objects ? owner : -1
    shares.set(what, (shares.get(what) ?? 0) + weight)
  })
  return [...shares].sort((a, b) => b[1] - a[1])
}

/** What a row gives most to, in words, and how much. */
function mostOf(page: Page, row: Float32Array) {
  const { engine, picture } = page,
    [[what, share]] = sharesOf(page, row),
    own = picture.owner[query[0] * engine.shape.columns + query[1]],
    { shape = '', colour = '' } = picture.drawing.objects[what] ?? {},
    name = className(shape)
  const place =
    what === -2
      ? engine.nameOf(0)
      : what === -1
        ? say('tour.ground')
        : what === own
          ? say('tour.own', { shape: name })
          : picture.twins?.includes(what) && picture.twins.includes(own)
            ? say('tour.other', { shape: name })
            : say('scene.colourShape', {
                colour: say('names.colours').split(' ')[sceneColours.indexOf(colour)],
                shape: name
              })
  return { what, place, share }
}

/** Of the heads that give most to something else than the one that finds the star, the one that gives
 * it most; that one where there is none. */
export function otherHead(page: Page) {
  const { layers, heads } = page.engine.shape,
    first = mostOf(page, rowOf(page, found))
  let best = { ...found, share: 0 }
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const { what, share } = mostOf(page, rowOf(page, { layer, head }))
      if (what !== first.what && share > best.share) best = { layer, head, share }
    }
  return { layer: best.layer, head: best.head }
}

const nameOf = ({ layer, head }: { layer: number; head: number }) => `${layer}.${head}`

const isThere = ({ engine, picture }: Page) =>
  Boolean(engine.result?.attention && picture?.owner && picture.drawing)

/** The shape that is there twice, in words. */
export function twinOf({ picture }: Page) {
  const { twins, drawing } = picture,
    shape = twins && drawing ? drawing.objects[twins[0]].shape : 'star'
  return className(shape)
}

export const sayTwins = (page: Page) =>
  page.picture.twins ? say('tour.twoShapesHereSame', { shape: twinOf(page) }) : undefined

export function sayOther(page: Page) {
  if (!isThere(page)) return undefined
  const at = otherHead(page),
    first = mostOf(page, rowOf(page, found)),
    other = mostOf(page, rowOf(page, at))
  return nameOf(at) === nameOf(found)
    ? say('tour.headsAlike', { share: percent(first.share), place: first.place })
    : say('tour.headsDiffer', {
        first: nameOf(found),
        share: percent(first.share),
        place: first.place,
        other: nameOf(at),
        otherShare: percent(other.share),
        otherPlace: other.place
      })
}

/** The share of a row on patches around the query. */
function nearby({ engine }: Page, row: Float32Array) {
  const { prefixTokens, columns } = engine.shape
  return row.subarray(prefixTokens).reduce((sum, weight, patch) => {
    const away = Math.max(
      Math.abs(Math.floor(patch / columns) - query[0]),
      Math.abs((patch % columns) - query[1])
    )
    return away <= near ? sum + weight : sum
  }, 0)
}

export function sayLayers(page: Page) {
  if (!isThere(page)) return undefined
  const first = mostOf(page, rowOf(page, found))
  return say('tour.layersDiffer', {
    near,
    early: percent(nearby(page, rowOf(page, { layer: 0, head: 0 }))),
    late: percent(nearby(page, rowOf(page, found))),
    head: nameOf(found),
    share: percent(first.share),
    place: first.place
  })
}

/** What the head that finds the star gave it in the whole model, and gives it in the changed one. */
export function sayBroken(page: Page) {
  const { engine } = page,
    { whole } = engine
  if (!isThere(page) || !whole?.attention) return undefined
  const { what, place, share } = mostOf(page, rowOf(page, found, whole)),
    now = new Map(sharesOf(page, rowOf(page, found))).get(what) ?? 0
  return say('tour.headOut', {
    head: nameOf(found),
    place,
    before: percent(share),
    now: percent(now)
  })
}
