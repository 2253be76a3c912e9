/* The page that all files of the explorer are handed: the state, the engine, and what they do
 * together. It is made once the engine is there. */
import { element } from '../shared/elements.js'
import { fixed } from '../plot/parts/numbers.js'
import { demoModel } from '../heed/demo.js'
import { keysOfChanges, unchanged } from '../shared/changes.js'
import { scenePictures } from '../shared/scene_pictures.js'
import { say } from '../languages/say.js'
import { showError, showProgress, showStatus, showStop } from './controls/status.js'
import { showFacts } from './open/model_buttons.js'
import { defaults, fitted, isPlace, placeOf } from './state/defaults.js'
import type { Progress } from 'heed'
import type { Runner } from '../shared/model_runner.js'
import type {
  Changes,
  PagePicture,
  PageSource,
  PageStatistics,
  PictureSource
} from '../shared/types.js'
import type { Drawn, Page, State, Store } from './types.js'

const changesOf = (state: Readonly<State>) =>
  Object.fromEntries(keysOfChanges.map((key) => [key, state[key]])) as unknown as Changes

/**
 * What is shown of a picture, which stays the same object: its one frame, or what a model of videos saw of all.
 */
function seen(picture: PagePicture, frames: PictureSource[], mosaic?: HTMLCanvasElement) {
  const source = mosaic ?? frames[0]
  if (source === picture.source) return picture
  const { width, height } = source
  return Object.assign(picture, { frames, source, width, height })
}

export class ExplorerPage implements Page {
  readonly store
  readonly engine
  table
  source: PageSource = demoModel
  picture = null as unknown as PagePicture // until the first run
  statistics: PageStatistics[][] | null = null
  drawn = undefined as unknown as Drawn // until the stage has drawn
  settled = () => Promise.resolve() // until there is a stage
  paint: Page['paint'] = null
  look: Page['look'] = null
  readonly showError = showError
  #latest: AbortController | null = null // of the run that a button can stop
  #place: Pick<State, 'layer' | 'head' | 'query'> = defaults
  readonly #linked = /[#&][lhq]=/.test(location.hash)

  constructor(store: Store, engine: Runner) {
    this.store = store
    this.engine = engine
    this.table = engine.colours(store.get().colours)
  }

  query = () => this.store.get().hover ?? this.store.get().query

  fit = (state?: Partial<State>) =>
    this.store.set({
      ...fitted({ ...this.store.get(), ...state }, this.engine.shape),
      hover: null
    })

  run = async (picture: PagePicture, { live = false }: { live?: boolean } = {}) => {
    const { engine } = this,
      stop = live ? null : (this.#latest = new AbortController())
    if (!live) {
      document.body.classList.add('dim')
      showStatus(say('explorer.running'))
      showStop(stop)
    }
    try {
      await this.#run(picture, live, stop?.signal)
      if (!live) await this.#measure(stop?.signal)
    } catch (error) {
      showError(error)
      showStatus(engine.result ? say('explorer.lastResultStays') : say('explorer.modelNotRunYet'))
    } finally {
      if (stop && stop === this.#latest) {
        document.body.classList.toggle('dim', !engine.result)
        showStop(null)
      }
    }
  }

  /** Says which layer it is at where that takes long, and then again what was said before. */
  async #measure(signal?: AbortSignal) {
    const { textContent: before } = element('status')
    let said = ''
    const told = (layer: number, layers: number) =>
      (said = showStatus(say('explorer.measuringLayer', { done: layer + 1, total: layers })))
    try {
      const statistics = await this.engine.statistics({ told, signal })
      if (!statistics) return
      this.statistics = statistics
      this.store.tell('measured')
    } finally {
      if (said && element('status').textContent === said) showStatus(before ?? '')
    }
  }

  showStage = async (stage: number) => {
    const { engine, store } = this,
      { query } = store.get(),
      before = engine.shape
    if (!engine.result || !engine.showStage(stage)) return
    const { rows, columns } = engine.shape,
      scaled = (at: number, from: number, to: number) => Math.floor(((at + 0.5) * to) / from)
    this.statistics = null
    this.fit({
      query: Array.isArray(query)
        ? [scaled(query[0], before.rows, rows), scaled(query[1], before.columns, columns)]
        : query
    })
    showFacts(engine)
    store.set({ ran: store.get().ran + 1 })
    await this.#measure()
  }

  async #run(picture: PagePicture, live: boolean, signal?: AbortSignal) {
    const { engine, store } = this,
      state = store.get(),
      onProgress = ({ done, total }: Progress) =>
        showStatus(say('explorer.runningLayer', { done, total }))
    const video = picture.frames ?? [picture.source],
      result = await engine.run(engine.parts ? video : video[0], {
        ...(signal ? { signal, onProgress } : {}),
        light: live && state.score !== 'value',
        fit: state.fit,
        changes: changesOf(state)
      })
    this.picture = seen(picture, video, result.mosaic)
    this.statistics = null
    this.fit()
    store.set({
      ...(live ? {} : { scene: picture.scene ?? null, objects: picture.code ?? '' }),
      ran: store.get().ran + 1
    })
    const { saved } = engine,
      took = `${fixed(result.milliseconds, 1)} ms`
    showStatus(
      `${picture.name}: ${saved ? say('explorer.maps', { name: String(saved.name) }) : took}`
    )
    element('took').textContent = saved ? say('explorer.mapsFromFileNo') : `${took}.`
  }

  openModel = async (source: PageSource, name: string, { anew = false } = {}) => {
    const { engine, store } = this,
      { textContent: before } = element('status'),
      stop = new AbortController()
    showStop(stop)
    try {
      await engine.load(source, { onProgress: showProgress, signal: stop.signal })
      this.source = source
      store.set({
        ...unchanged,
        size: null,
        stage: defaults.stage,
        ...(source !== demoModel && { zoom: '' as const }) // one's own begins where all is
      })
      this.fit(anew ? this.#placeFor(source) : {})
      element('model-name').textContent = name
      element('demo-model').hidden = source === demoModel
      showFacts(engine)
      if (this.picture) await this.run(this.picture)
      return true
    } catch (error) {
      showError(error)
      showStatus(before ?? '') // not how far it came
      return false
    } finally {
      showProgress(null)
      showStop(null)
    }
  }

  /** Where a model opens that was chosen just now: a place that somebody chose, here or in the link, stays. */
  #placeFor(source: PageSource) {
    const was = this.#place,
      { layer, head, query } = source === demoModel ? defaults : placeOf(this.engine.shape)
    this.#place = { layer, head, query }
    return this.#linked || !isPlace(this.store.get(), was) ? {} : this.#place
  }

  openScene = async (seed: number, objects?: string) => {
    const [picture] = objects
      ? await (await import('./open/edited_scene.js')).picturesOfCode(this, objects, seed)
      : await scenePictures(this, [seed])
    await this.run(picture)
  }
}
