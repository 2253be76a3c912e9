/* The explorer: state, engine and views, put together. */
import { element } from '../shared/elements.js'
import '../shared/library.js'
import { fixed } from '../plot/parts/numbers.js'
import '../languages/captions.js'
import { defaults, fitted } from './state/defaults.js'
import { keysOfChanges, unchanged } from '../shared/changes.js'
import { connectControls, showControls } from './controls/controls.js'
import { createRunner } from '../shared/model_runner.js'
import { demoModel } from '../heed/demo.js'
import { sourceOf } from './state/place.js'
import { connectPictures } from './open/picture_sources.js'
import { scenePictures } from '../shared/scene_pictures.js'
import { barOfStart } from './controls/start_progress.js'
import { connectModels, showFacts } from './open/model_buttons.js'
import { connectSave } from './save/save_buttons.js'
import { showError, showProgress, showStatus, showStop } from './controls/status.js'
import { createStore } from './state/store.js'
import { keep, stored } from '../shared/page_settings.js'
import { showAnswer, showNumbers } from './views/stage/numbers.js'
import { createStage } from './views/stage/stage.js'
import { createPanel } from './views/panel.js'
import { deviceName } from '../shared/names.js'
import { say } from '../languages/say.js'
import type { Progress } from 'heed'
import type { Changes, PagePicture, PageSource } from '../shared/types.js'
import type { Page, State, Store } from './types.js'

const store: Store = createStore({
  ...(defaults as any), // State, until readLink() has the link's
  hover: null,
  ran: 0,
  picture: null,
  shown: 0,
  pinned: null,
  pins: []
})
const page = {
  store,
  engine: null as any, // until start() has it
  table: null as any,
  source: demoModel,
  run,
  openModel,
  showError: (error: Error) => showError(error)
} as Page

/** The query drawn now: the patch under the mouse, or the chosen one. */
page.query = () => store.get().hover ?? store.get().query

/** @param state what becomes of it */
const fit = (state?: Partial<State>) =>
  store.set({ ...fitted({ ...store.get(), ...state }, page.engine.shape), hover: null })
page.fit = fit

let latest: AbortController | null = null // the AbortController of the run that a button can stop

/** picture: { source, width, height, name, scene? }. live: one of many while something moves;
 * numbers of heads wait for the last. */
async function run(picture: PagePicture, { live = false }: { live?: boolean } = {}) {
  const stop = live ? null : (latest = new AbortController()),
    options = stop
      ? {
          signal: stop.signal,
          onProgress: ({ done, total }: Progress) =>
            showStatus(say('explorer.runningLayer', { done, total }))
        }
      : {}
  if (!live) {
    document.body.classList.add('dim')
    showStatus(say('explorer.running'))
    showStop(stop)
  }
  try {
    const state = store.get(),
      light = live && state.score !== 'value'
    const result = await page.engine.run(picture.source, {
      ...options,
      light,
      fit: state.fit,
      changes: changesOf(state)
    })
    page.picture = picture
    page.statistics = null
    fit()
    store.set({
      ...(live ? {} : { scene: picture.scene ?? null, objects: picture.code ?? '' }),
      ran: store.get().ran + 1
    })
    const { saved } = page.engine,
      took = `${fixed(result.milliseconds, 1)} ms`
    showStatus(
      `${picture.name}: ${saved ? say('explorer.maps', { name: String(saved.name) }) : took}`
    )
    element('took').textContent = saved ? say('explorer.mapsFromFileNo') : `${took}.`
    if (live) return
    const statistics = await page.engine.statistics()
    if (!statistics) return
    page.statistics = statistics
    store.set({ measured: store.get().ran })
  } catch (error) {
    showError(error)
    showStatus(
      page.engine.result ? say('explorer.lastResultStays') : say('explorer.modelNotRunYet')
    )
  } finally {
    if (stop && stop === latest) {
      document.body.classList.toggle('dim', !page.engine.result)
      showStop(null)
    }
  }
}

const changesOf = (state: Readonly<State>): Changes =>
  Object.fromEntries(keysOfChanges.map((key) => [key, state[key]])) as any

/* What follows a change of the attention, or of what is seen, is fetched with the first. */
function followChanges() {
  let changed: Promise<() => unknown> | undefined
  store.on([...keysOfChanges, 'fit'] as (keyof State)[], () => {
    if (!page.picture) return
    changed ??= import('./model/run_again.js').then(({ connectChanges }) => connectChanges(page))
    changed.then((follow) => follow()).catch(showError)
  })
}

async function openModel(source: PageSource, name: string) {
  const stop = new AbortController()
  showStop(stop)
  try {
    await page.engine.load(source, { onProgress: showProgress, signal: stop.signal })
    page.source = source
    store.set({ ...unchanged, size: null })
    fit()
    element('model-name').textContent = name
    element('demo-model').hidden = source === demoModel
    showFacts(page.engine)
    if (page.picture) await run(page.picture)
    return true
  } catch (error) {
    showError(error)
    return false
  } finally {
    showProgress(null)
    showStop(null)
  }
}

/* Numbers of what moves that change more often than this, in ms, nobody reads; and they would delay
 * its next map. */
const pace = 200

function followNumbers() {
  let timer: ReturnType<typeof setTimeout> | undefined
  let shown = -pace // when they were, in ms
  function show() {
    shown = performance.now()
    showNumbers(page)
  }
  store.on(['drawn', 'measured'], () => {
    clearTimeout(timer)
    if (page.engine.result?.light && performance.now() - shown < pace)
      timer = setTimeout(show, pace)
    else show()
  })
}

function followPins() {
  let asked = false
  store.on(['pins'], () => {
    if (asked) return
    asked = true
    import('./controls/pin_list.js')
      .then(({ createPinList }) => createPinList(page))
      .catch(showError)
  })
}

/* What the files say of the model is read once its map is there and the page has nothing else to
 * do. The demo model's is in the page, and its weights were compared with it (demo_files.js). */
function followModel() {
  const hash = document.querySelector('#model-origin button')
  let shown = sourceOf(page)
  hash?.addEventListener('click', () =>
    import('./controls/copying.js')
      .then(({ copyHashes }) => copyHashes(hash.title))
      .catch(showError)
  )
  store.on(['ran'], () => {
    if (shown === sourceOf(page)) return
    shown = sourceOf(page)
    const idle = globalThis.requestIdleCallback ?? setTimeout
    idle(() =>
      import('./model/model_origin.js').then(({ showOrigin }) => showOrigin(page)).catch(() => {})
    ) // what was fetched before may be gone: the numbers do not need it
  })
}

/* A link may name a size, which the demo model is given once it has run. */
function followSize() {
  const apply = () =>
    import('./open/picture_size.js').then(({ applySize }) => applySize(page)).catch(showError)
  store.on(['size'], apply)
  if (store.get().size) apply()
}

/* What keys do is fetched with the first of them, where Escape leads back only from the place it was pressed at. */
function followKeys() {
  let press: ((event: KeyboardEvent) => void) | undefined
  let fetched: Promise<void> | undefined // one for all keys that come before it, so that they keep their order
  for (const area of [element('stage'), document.querySelector('.panel')])
    area.addEventListener('keydown', (event) => {
      const { href } = location
      if (press) return press(event)
      fetched ??= import('./controls/keys.js').then(({ connectKeys }) => {
        press = connectKeys(page)
      })
      fetched
        .then(() => (event.key !== 'Escape' || location.href === href) && press?.(event))
        .catch(showError)
    })
  /* Help comes wherever nothing is typed. */
  addEventListener('keydown', ({ key, target }) => {
    if (key === '?' && !(target as Element).closest('input, .stage, .panel, dialog'))
      element('help').click()
  })
}

/* The light of a choice, what drags shapes, and the tour, are fetched with the first touch of the
 * picture or when they are asked for. The invitation is to the demo model's first picture alone. */
function followInvitation() {
  let touched: Promise<void> | undefined
  const hide = () => (element('invite').hidden = true),
    other = () => page.picture.scene !== defaults.scene || sourceOf(page) !== demoModel
  const open = (step: number) => {
    hide()
    import('./controls/tour.js').then(({ openTour }) => openTour(page, step)).catch(showError)
  }
  for (const type of ['pointerover', 'focusin'])
    element('patches').addEventListener(
      type,
      () =>
        (touched ??= Promise.all([
          import('./views/stage/arcs.js'),
          import('./views/stage/shape_drag.js')
        ])
          .then(([{ createArcs }, { connectDrag }]) => {
            connectDrag(page)
            return createArcs(page)
          })
          .catch(() => {})),
      { once: true }
    )
  element('patches').addEventListener('pointerdown', hide)
  store.on(['ran'], () => other() && hide())
  element('tour-start').addEventListener('click', () => open(1))
  element('invite-close').addEventListener('click', () => {
    hide()
    keep('invite', 'off')
  })
  if (store.get().tour) open(store.get().tour)
  else element('invite').hidden = location.hash !== '' || other() || stored('invite') === 'off'
}

/* On a phone alone the numbers are a sheet. A press before its script is there counts once it is. */
function followWidth() {
  const narrow = matchMedia('(max-width: 700px)'),
    handle = element('handle')
  let presses = 0
  const press = () => presses++
  handle.addEventListener('click', press)
  const follow = () => {
    if (narrow.matches) {
      narrow.onchange = null
      import('./controls/number_sheet.js')
        .then(({ connectSheet }) => {
          handle.removeEventListener('click', press)
          connectSheet()
          if (presses % 2) handle.click()
        })
        .catch(showError)
    }
  }
  narrow.onchange = follow
  follow()
}

/** @param objects the code of a changed scene */
async function openScene(seed: number, objects?: string) {
  const [picture] = objects
    ? await (await import('./open/edited_scene.js')).picturesOfCode(page, objects, seed)
    : await scenePictures(page, [seed])
  await run(picture)
}
page.openScene = openScene

/* A server that was given new files while a cache on the way still has old ones. */
const onMismatch = () => showStatus(say('explorer.modelPageDifferentVersions'))

const sceneAtStart = () => store.get().scene ?? defaults.scene

/* What a link says, and a lock that this browser remembers. */
async function readLink() {
  const end = Number(stored('end'))
  if (!location.hash && !end) return
  const { fromHash } = await import('./state/address.js'),
    link = fromHash(location.hash)
  store.set({ ...link, end: link.end || fromHash(`#end=${end}`).end })
}

/* The address and the browser's history are followed from a link on, or from the first touch of the page. */
function followHistory() {
  let asked: Promise<unknown> | undefined
  const changed: Set<string> = new Set(),
    views: Readonly<State>[] = [],
    follow = (typed = false) =>
      (asked ??= import('./state/history.js')
        .then(({ followAddress }) => followAddress(page, { changed: [...changed], views, typed }))
        .catch(showError))
  if (location.hash) return follow()
  history.replaceState({ own: 0, depth: history.state?.depth ?? 0 }, '') // an entry of history.ts
  addEventListener('popstate', () => follow(true), { once: true })
  for (const type of ['pointerover', 'focusin'])
    addEventListener(type, () => follow(), { once: true })
  store.on(null, (state, keys) => {
    for (const key of keys) changed.add(key)
    if (keys.includes('view')) views.push(state)
    if (keys.some((key) => key in defaults)) follow()
  })
}

async function start() {
  showControls(page)
  followWidth()
  const stop = new AbortController(),
    linked = readLink()
  let ended = false // what is still on its way is told no more
  showStop(stop)
  try {
    page.engine = await createRunner({
      scene: linked.then(sceneAtStart),
      onProgress: barOfStart((progress) => ended || showProgress(progress)),
      signal: stop.signal,
      onMismatch
    })
    page.table = page.engine.colours(store.get().colours)
  } catch (error) {
    ended = true
    showStatus('')
    return showError(error, () => location.reload())
  } finally {
    showProgress(null)
    showStop(null)
  }
  const machine = element('machine')
  machine.textContent = deviceName(page.engine.info.device)
  machine.dataset.why = page.engine.info.why
  machine.tabIndex = 0
  if (page.engine.info.simd === 'none')
    showError(new Error((await import('./controls/no_simd.js')).noSimd))
  fit()
  const drawn = createStage(page)
  followNumbers()
  store.on(['ran'], () => showAnswer(page))
  connectControls(page)
  followKeys()
  connectSave(page)
  followPins()
  connectModels(page)
  await openScene(sceneAtStart(), store.get().objects)
  await drawn
  await createPanel(page) // until there is a map the built-in ones stay
  await connectPictures(page)
  followChanges()
  await followHistory()
  followModel()
  followSize()
  followInvitation()
  document.documentElement.dataset.ready = 'true'
}

start()
