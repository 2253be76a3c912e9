/* The heads of all layers as lanes, as wide as the answer changes without them, and the answer. */
import { nothing, svg } from 'lit-html'
import { percent } from '../../plot/caption.js'
import { say } from '../../languages/say.js'
import { number, within } from './cards.js'
import type { Effects, HeadAt, Path } from './head_effects.js'
import type { World } from './world.js'
import type { ClassShare } from './zoom_facts.js'

const widest = 56, // of a lane, in its units
  hairline = 1.2,
  leastEnd = 0.05 // the change of a share that is drawn as wide at least
/* Above it a lane is one that the answer needs. */
export const carries = 0.005

/** What the answer's share loses without a head. */
export const lossOf = ({ whole, shares }: Effects, index: number) => whole - shares[index]

/** The heads without which the answer changes most, the first most. */
export const byLoss = (effects: Effects, heads: number) =>
  Array.from(effects.shares, (_, i) => ({
    name: `${Math.floor(i / heads)}.${i % heads}`,
    loss: lossOf(effects, i)
  }))
    .filter(({ loss }) => !Number.isNaN(loss))
    .sort((a, b) => Math.abs(b.loss) - Math.abs(a.loss))

export const points = (loss: number) =>
  Math.abs(loss) < 5e-5
    ? '0'
    : `${loss > 0 ? '−' : '+'}${number(Math.abs(loss) * 100, Math.abs(loss) < 0.0995 ? 2 : 1)}`

/** Where a layer's line and a head's lane are, along the way and across it. */
const placeIn = ({ narrow, pitch }: World) => {
  const along = (layer: number) => 30 + layer * pitch.along,
    across = (head: number) => 15 + (head + 0.5) * pitch.across,
    at = (u: number, v: number): [x: number, y: number] => (narrow ? [v, u] : [u, v])
  return { along, across, at }
}

/** The upper left of a head's map, at a whole number of the map's pixels. */
export function mapPlace(world: World, layer: number, head: number) {
  const { along, across, at } = placeIn(world),
    { pitch, shape } = world,
    pixel = pitch.map / shape.columns,
    whole = (value: number) => Math.round((value - pitch.map / 2) / pixel) * pixel,
    [x, y] = at(along(layer) + pitch.along / 2, across(head))
  return { x: whole(x), y: whole(y) }
}

function busses(world: World) {
  const { along, at } = placeIn(world),
    { narrow, pitch, shape } = world,
    breadth = pitch.across * shape.heads
  return Array.from({ length: shape.layers + 1 }, (_, layer) => {
    const [x, y] = at(along(layer) - 4, 15)
    return svg`<rect class="bus" x=${x} y=${y} width=${narrow ? breadth : 8} height=${narrow ? 8 : breadth} rx="4"/>${
      layer < shape.layers && !narrow
        ? svg`<text class="axis middle" x=${along(layer) + pitch.along / 2} y="6">${say('story.layerOf', { layer })}</text>`
        : nothing
    }`
  })
}

/** One head: its lane, its map's frame, its name and what the answer loses. */
function lane(
  world: World,
  [layer, head]: [number, number],
  {
    effects,
    end,
    out,
    chosen
  }: { effects: Effects | null; end: number; out: boolean; chosen: boolean }
) {
  const { along, across, at } = placeIn(world),
    { narrow, pitch, shape } = world,
    loss = effects ? lossOf(effects, layer * shape.heads + head) : Number.NaN,
    known = !Number.isNaN(loss),
    size = known ? Math.max(hairline, (widest * Math.abs(loss)) / end) : hairline,
    [x1, y1] = at(along(layer), across(head)),
    [x2, y2] = at(along(layer + 1), across(head)),
    map = mapPlace(world, layer, head),
    kind = [
      'lane',
      known && Math.abs(loss) > carries ? (loss > 0 ? 'needed' : 'harms') : '',
      out ? 'out' : '',
      chosen ? 'chosen' : ''
    ].join(' ')
  return svg`<g class=${kind} data-head=${`${layer}.${head}`}><path class="press" d=${`M${x1} ${y1}L${x2} ${y2}`} stroke-width=${pitch.across * 0.8}/><path class="way" d=${`M${x1} ${y1}L${x2} ${y2}`} stroke-width=${size}/><rect class="frame" x=${map.x - 2} y=${map.y - 2} width=${pitch.map + 4} height=${pitch.map + 4}/><text class="axis" x=${map.x} y=${map.y - 6}>${`${layer}.${head}`}</text>${known ? svg`<text class="loss" data-loss=${`${layer}.${head}`} x=${map.x + pitch.map} y=${map.y + pitch.map + (narrow ? 12 : 15)}>${points(loss)}</text>` : nothing}${out ? svg`<path class="cut" d=${`M${x1} ${y1}${narrow ? 'm-9 3l18 18m0 -18l-18 18' : 'm12 -9l18 18m0 -18l-18 18'}`}/>` : nothing}</g>`
}

/** Along the lanes of a path's heads, from the first layer's line to the last's. */
function litOf(world: World, { before, at: middle, after }: Path) {
  const { along, across, at } = placeIn(world),
    points = ([before, middle, after] as (HeadAt | null)[]).flatMap((one) =>
      one ? [one.layer, one.layer + 1].map((layer) => at(along(layer), across(one.head))) : []
    )
  const d = `M${points.map((point) => point.join(' ')).join('L')}`
  return svg`<path class="lit dark" d=${d}/><path class="lit" d=${d}/>`
}

export function lanesOf(
  world: World,
  effects: Effects | null,
  { off, layer, head, path }: { off: string[]; layer: unknown; head: unknown; path: Path | null }
) {
  const { layers, heads } = world.shape,
    end = effects
      ? Array.from(effects.shares, (_, i) => Math.abs(lossOf(effects, i))).reduce(
          (most, one) => (one > most ? one : most),
          leastEnd
        )
      : 1
  return svg`<g class="lanes-scene" transform=${within(world.lanes)}>${busses(world)}${Array.from(
    { length: layers * heads },
    (_, i) => {
      const at: [number, number] = [Math.floor(i / heads), i % heads]
      return lane(world, at, {
        effects,
        end,
        out: off.includes(at.join('.')),
        chosen: at[0] === layer && at[1] === head
      })
    }
  )}${path ? litOf(world, path) : nothing}</g>`
}

export const answerOfWorld = ({ answer, narrow }: World, classes: ClassShare[]) =>
  svg`<g class="answer-scene" transform=${within(answer)}>${
    classes.length
      ? classes.map(({ label, share }, i) => {
          const y = 30 + i * (narrow ? 54 : 58)
          return svg`<text class=${i ? 'class' : 'class bold'} x="0" y=${y}>${label}</text><text class=${i ? 'class end' : 'class end bold'} data-class=${i} x=${answer.width} y=${y}>${percent(share)}</text><rect class="bar-ground" x="0" y=${y + 8} width=${answer.width} height="8" rx="2"/><rect class="bar" x="0" y=${y + 8} width=${Math.max(0.5, share * answer.width)} height="8" rx="2"/>`
        })
      : svg`<text class="class" x="0" y="30">${say('numbers.modelNoClassifier')}</text>`
  }</g>`
