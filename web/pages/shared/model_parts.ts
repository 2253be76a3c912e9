/* Models whose patches lie in more than one grid: the stages of a hierarchy, of which the page shows
 * one at a time, and the time steps of a video, which lie side by side, as `heed run` draws them. The
 * page has maps of these, and no more. Loaded with the first such model. */
import { say } from '../languages/say.js'
import { rolloutRow, statisticsOf } from './map_numbers.js'
import type { CallOptions, LayerPlace, ModelInfo, Region, Session, SessionInfo } from 'heed'
import type {
  Layer,
  PageStatistics,
  PictureSource,
  RunnerResult,
  SavedMaps,
  Shape
} from './types.js'

/** Layers of one grid. */
interface Stage {
  first: number
  layers: number
  place: LayerPlace
}

function stagesOf(places: LayerPlace[]) {
  const stages: Stage[] = []
  for (const [first, place] of places.entries()) {
    const last = stages.at(-1)
    if (last?.place.patch === place.patch) last.layers++
    else stages.push({ first, layers: 1, place })
  }
  return stages
}

/** Of time steps that lie side by side, how many are in a row: as nearly a square as they fill. */
export function acrossOf(frames: number) {
  let across = 1
  while (across < frames && (across * across < frames || frames % across)) across++
  return across
}

/** The token of each place: those before the patches, then the patches row by row of all time steps. */
export function orderOf(
  { prefixTokens, frames, rows, columns }: LayerPlace,
  across: number
): Uint32Array {
  const order = Uint32Array.from({ length: prefixTokens + frames * rows * columns }, (_, i) => i)
  for (let i = 0; i < frames * rows * columns; i++) {
    const column = i % columns,
      row = Math.floor(i / columns) % rows,
      time = Math.floor(i / columns / rows),
      down = Math.floor(time / across) * rows + row
    order[prefixTokens + (down * across + (time % across)) * columns + column] = prefixTokens + i
  }
  return order
}

/** `count` of the pictures, evenly spread; one stands still. */
export const spread = <Picture>(pictures: Picture[], count: number) =>
  Array.from(
    { length: count },
    (_, i) => pictures[Math.floor((i * (pictures.length - 1)) / Math.max(count - 1, 1))]
  )

const drawable = (source: PictureSource) =>
  source instanceof ImageData ? createImageBitmap(source) : source

export class ModelParts {
  readonly stages: Stage[]
  readonly #session: Session
  readonly #info: ModelInfo
  readonly #across: number
  readonly #order: Uint32Array
  /** Which stage is shown. */
  stage = 0

  constructor(session: Session, { places }: SessionInfo, info: ModelInfo) {
    this.#session = session
    this.#info = info
    this.stages = stagesOf(places)
    this.#across = acrossOf(places[0].frames)
    this.#order = orderOf(places[0], this.#across)
    this.stage = this.stages.length - 1
  }

  get #stage() {
    return this.stages[this.stage]
  }

  /** Time steps. */
  get frames() {
    return this.stages[0].place.frames
  }

  get model(): ModelInfo {
    return { ...this.#info, patch: this.#stage.place.patch }
  }

  get shape(): Shape & { patch: number } {
    const { layers, place } = this.#stage,
      { heads, prefixTokens, frames, rows, columns, patch } = place
    return {
      ...{ layers, heads, prefixTokens, patch },
      tokens: prefixTokens + frames * rows * columns,
      rows: rows * Math.ceil(frames / this.#across),
      columns: columns * this.#across,
      tokenNames: this.#info.tokenNames,
      batch: 1
    }
  }

  /** The layer of the model that is one of the stage. */
  layerOf(layer: number) {
    return this.#stage.first + layer
  }

  /** [time, row, column] of a patch in a video's grid. */
  placeIn([row, column]: [number, number]): [number, number, number] {
    const { rows, columns } = this.#stage.place
    return [
      Math.floor(row / rows) * this.#across + Math.floor(column / columns),
      row % rows,
      column % columns
    ]
  }

  /** The patch at the same place of another time step. */
  atTime([row, column]: [number, number], time: number): [number, number] {
    const { rows, columns } = this.#stage.place
    return [
      Math.floor(time / this.#across) * rows + (row % rows),
      (time % this.#across) * columns + (column % columns)
    ]
  }

  #arranged(row: Float32Array) {
    return this.frames > 1 ? Float32Array.from(this.#order, (token) => row[token]) : row
  }

  #tokenOf(place: number) {
    return this.frames > 1 ? this.#order[place] : place
  }

  async row({
    layer,
    head,
    token,
    reverse
  }: {
    layer: Layer
    head: number | 'mean'
    token: number
    reverse?: boolean
  }) {
    const at = { layer: this.layerOf(layer as number), head }
    if (!reverse)
      return this.#arranged(await this.#session.attention({ ...at, query: this.#tokenOf(token) }))
    const { tokens } = this.shape,
      matrix = await this.#session.attention(at),
      column = this.#tokenOf(token)
    return this.#arranged(
      Float32Array.from({ length: tokens }, (_, query) => matrix[query * tokens + column])
    )
  }

  async matrix(layer: number, head: number | 'mean') {
    const { tokens } = this.shape,
      matrix = await this.#session.attention({ layer: this.layerOf(layer), head })
    if (this.frames === 1) return matrix
    const arranged = new Float32Array(matrix.length)
    for (const [place, token] of this.#order.entries())
      arranged.set(
        this.#arranged(matrix.subarray(token * tokens, (token + 1) * tokens)),
        place * tokens
      )
    return arranged
  }

  /** null: no distance is defined in time. */
  async statistics(): Promise<PageStatistics[][] | null> {
    if (this.frames > 1) return null
    return statisticsOf(this.shape, (layer, head) => this.matrix(layer, head))
  }

  /** Of a hierarchy over layers of the stage alone: patches of two stages are not the same. */
  async rollout({ token, first, last, ...how }: Parameters<SavedMaps['rollout']>[0]) {
    if (this.frames > 1)
      return this.#arranged(
        await this.#session.rollout({
          query: this.#tokenOf(token),
          firstLayer: first,
          layerCount: Math.max(1, last - first + 1),
          ...how
        })
      )
    const { shape } = this,
      size = shape.tokens ** 2
    return rolloutRow(
      shape,
      async (layer) => {
        const all = new Float32Array(shape.heads * size)
        for (let head = 0; head < shape.heads; head++)
          all.set(await this.matrix(layer, head), head * size)
        return all
      },
      { token, first, last, ...how }
    )
  }

  async result(
    pictures: PictureSource | PictureSource[],
    { fit, ...options }: CallOptions & { fit: 'model' | 'whole' }
  ): Promise<RunnerResult> {
    const all = [pictures].flat() as PictureSource[],
      { frames, tubelet } = this.#info,
      input = frames ? spread(all, frames) : all[0],
      result = await this.#session.run(input as ImageData, { ...options, fit }),
      region = result.region as Region,
      mosaic = frames
        ? await this.#mosaic(
            (input as PictureSource[]).filter((_, i) => i % tubelet === 0),
            region
          )
        : undefined
    return {
      ...{ logits: result.logits, values: {}, attention: null, kept: false, scores: false },
      ...{ fit, mosaic, milliseconds: result.milliseconds, device: result.device, why: result.why },
      region: mosaic ? { x: 0, y: 0, width: mosaic.width, height: mosaic.height } : region
    }
  }

  /** What the model saw of each time step's first frame, side by side. */
  async #mosaic(frames: PictureSource[], { x, y, width, height }: Region) {
    const { rows, columns } = this.shape,
      { place } = this.#stage,
      most = Math.min(4096 / columns, 4096 / rows, width / place.columns), // in pixels of a canvas
      side = Math.max(1, Math.round(most)),
      canvas = Object.assign(document.createElement('canvas'), {
        width: columns * side,
        height: rows * side
      }),
      context = canvas.getContext('2d') as CanvasRenderingContext2D,
      [wide, high] = [place.columns * side, place.rows * side]
    for (const [i, frame] of frames.entries())
      context.drawImage(
        await drawable(frame),
        ...([x, y, width, height] as const),
        ...([(i % this.#across) * wide, Math.floor(i / this.#across) * high, wide, high] as const)
      )
    return canvas
  }

  /** What says of numbers where they are from: the stage, and how time steps lie side by side. */
  get provenance() {
    return this.frames > 1
      ? { time_steps: this.frames, time_steps_across: this.#across }
      : { stage: this.stage + 1, first_layer: this.layerOf(0) }
  }

  /** What a stage is called. */
  nameOf(stage: number) {
    const { first, layers, place } = this.stages[stage]
    return say('parts.stage', {
      stage: stage + 1,
      rows: place.rows,
      columns: place.columns,
      layers: layers > 1 ? `${first}–${first + layers - 1}` : first
    })
  }
}
