/* The explorer: state, engine and views, put together. */
import { element } from '../shared/elements.js'
import '../shared/library.js'
import '../languages/captions.js'
import { defaults } from './state/defaults.js'
import { keysOfChanges } from '../shared/changes.js'
import { connectControls, showControls } from './controls/controls.js'
import { createRunner } from '../shared/model_runner.js'
import { demoModel } from '../heed/demo.js'
import { sourceOf } from './state/place.js'
import { connectPictures } from './open/picture_sources.js'
import { barOfStart } from './controls/start_progress.js'
import { connectModels } from './open/model_buttons.js'
import { connectSave } from './save/save_buttons.js'
import { showError, showProgress, showStatus, showStop } from './controls/status.js'
import { ExplorerPage } from './page.js'
import { createStore } from './state/store.js'
import { keep, stored } from '../shared/page_settings.js'
import { showAnswer, showNumbers } from './views/stage/numbers.js'
import { createArcs } from './views/stage/arcs.js'
import { createStage } from './views/stage/stage.js'
import { createPanel } from './views/panel.js'
import { deviceName } from '../shared/names.js'
import { say } from '../languages/say.js'
import type { Page, State, Store } from './types.js'
import type { Stop } from './zoom/stops.js'

/* What follows a change of the attention, or of what is seen, is fetched with the first. */
function followChanges(page: Page) {
  const { store } = page
  let changed: Promise<() => unknown> | undefined
  store.on([...keysOfChanges, 'fit'] as (keyof State)[], () => {
    if (!page.picture) return
    changed ??= import('./model/run_again.js').then(({ connectChanges }) => connectChanges(page))
    changed.then((follow) => follow()).catch(showError)
  })
}

/* Numbers of what moves that change more often than this, in ms, nobody reads; and they would delay
 * its next map. */
const pace = 200

function followNumbers(page: Page) {
  const { store } = page
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

function followPins(page: Page) {
  const { store } = page
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
function followModel(page: Page) {
  const { store } = page
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
function followSize(page: Page) {
  const { store } = page
  const apply = () =>
    import('./open/picture_size.js').then(({ applySize }) => applySize(page)).catch(showError)
  store.on(['size'], apply)
  if (store.get().size) apply()
}

/* Stages and time steps have controls where a model has them. */
function followParts(page: Page) {
  const { store } = page
  let asked: Promise<() => void> | undefined
  store.on(['stage', 'ran'], ({ stage }) => {
    const { parts } = page.engine,
      wanted = stage < 0 && parts ? parts.stages.length - 1 : stage
    page.showStage(wanted).catch(showError)
  })
  store.on(['ran', 'query', 'stage'], () => {
    if (!page.engine.parts && !asked) return
    asked ??= import('./controls/parts.js').then(({ connectParts }) => connectParts(page))
    asked.then((show) => show()).catch(showError)
  })
}

/* What keys do is fetched with the first of them, where Escape leads back only from the place it was pressed at.
 * Where a menu or a term's explanation is open, Escape closes that alone. */
function followKeys(page: Page) {
  let press: ((event: KeyboardEvent) => void) | undefined
  let fetched: Promise<void> | undefined // one for all keys that come before it, so that they keep their order
  for (const area of [element('stage'), document.querySelector('.panel')])
    area.addEventListener('keydown', (event) => {
      const { href } = location
      if (
        event.key === 'Escape' &&
        document.querySelector(':popover-open, #term-said:not([hidden])')
      )
        return
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

/** A press on the picture, with its moves, waits for what it may drag: it is done again once that is there. */
function holdPress(patches: HTMLElement, there: Promise<unknown>) {
  const held: PointerEvent[] = [],
    stop = new AbortController()
  for (const type of ['down', 'rawupdate', 'move', 'up', 'cancel'].map((name) => `pointer${name}`))
    patches.addEventListener(
      type as 'pointermove',
      (event) => {
        if (!held.length && type !== 'pointerdown') return
        event.stopImmediatePropagation()
        held.push(event)
      },
      { capture: true, signal: stop.signal }
    )
  there.finally(() => {
    stop.abort()
    for (const event of held)
      event.target?.dispatchEvent(new PointerEvent(event.type, event as PointerEventInit))
  })
}

/* What drags shapes is fetched with the first touch of the picture, and the tour when it is asked for. The
 * invitation is to the demo model's first picture alone. */
function followInvitation(page: Page) {
  const { store } = page
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
      () => {
        if (touched) return
        touched = import('./views/stage/shape_drag.js')
          .then(({ connectDrag }) => connectDrag(page))
          .catch(() => {})
        holdPress(element('patches'), touched)
      },
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
  else
    element('invite').hidden =
      !/^(#(v=heads|zoom=picture))?$/.test(location.hash) || other() || stored('invite') === 'off'
}

/* The first view of the zoom stands in the page: what is pressed before its script is there counts. */
function followArrival(store: Store) {
  const place = element('zoom'),
    { classList } = document.documentElement,
    over = new AbortController(),
    { signal } = over,
    close = () => store.set({ zoom: '' })
  addEventListener('keydown', ({ key }) => key === 'Escape' && close(), { signal })
  place.addEventListener(
    'click',
    ({ target }) => {
      const { stop } = (target as Element).closest<HTMLElement>('button')?.dataset ?? {}
      if (stop) store.set({ zoom: stop as Stop })
      else if ((target as Element).closest('#zoom-close, #zoom-first, .first')) close()
    },
    { signal }
  )
  store.on(['zoom'], ({ zoom }) => zoom || classList.remove('zooming'))
  return () => over.abort()
}

/* The zoom is fetched when it is asked for, and follows the state from then on. */
function followZoom(page: Page, arrived: () => void) {
  const { store } = page
  let asked = false
  const follow = () => {
    if (asked || !store.get().zoom) return
    asked = true
    import('./zoom/zoom.js')
      .then(({ connectZoom }) => connectZoom(page, arrived))
      .catch((error) => {
        asked = false
        store.set({ zoom: '' })
        showError(error)
      })
  }
  element('zoom-in').addEventListener('click', () => store.set({ zoom: 'picture' }))
  store.on(['zoom'], follow)
  follow()
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

/* A server that was given new files while a cache on the way still has old ones. */
const onMismatch = () => showStatus(say('explorer.modelPageDifferentVersions'))

const sceneIn = (store: Store) => store.get().scene ?? defaults.scene

/* What a link says, and a lock that this browser remembers. */
async function readLink(store: Store) {
  const end = Number(stored('end'))
  if (!location.hash && !end) return store.set({ zoom: 'picture' })
  const { fromHash, stateOf } = await import('./state/address.js'),
    link = stateOf(location.hash)
  store.set({ ...link, end: link.end || fromHash(`#end=${end}`).end })
}

/* The address and the browser's history are followed from a link on, or from the first touch of the page. */
function followHistory(page: Page) {
  const { store } = page
  let asked: Promise<unknown> | undefined
  const changed: Set<string> = new Set(),
    views: Readonly<State>[] = [],
    follow = (typed = false) =>
      (asked ??= import('./state/history.js')
        .then(({ followAddress }) => followAddress(page, { changed: [...changed], views, typed }))
        .catch(showError))
  const { own, model } = history.state ?? {}
  if (location.hash || own || model) return follow()
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

const newStore = (): Store =>
  createStore<State>({
    ...defaults,
    hover: null,
    ran: 0,
    pinned: null,
    pins: []
  })

/** Null where it does not start; the page says why. */
async function startEngine(store: Store) {
  const stop = new AbortController(),
    linked = readLink(store)
  let ended = false // what is still on its way is told no more
  showStop(stop)
  try {
    return await createRunner({
      scene: linked.then(() => sceneIn(store)),
      onProgress: barOfStart((progress) => ended || showProgress(progress)),
      signal: stop.signal,
      onMismatch
    })
  } catch (error) {
    ended = true
    showStatus('')
    store.set({ zoom: '' })
    const { message } = error as Error,
      noSimd = /^runtime: no SIMD/.test(message) && (await import('./controls/no_simd.js')).noSimd
    showError(noSimd ? new Error(noSimd) : error, () => location.reload())
    return null
  } finally {
    showProgress(null)
    showStop(null)
  }
}

function showMachine({ info }: Page['engine']) {
  const machine = element('machine')
  machine.textContent = deviceName(info.device)
  machine.dataset.why = info.why
  machine.tabIndex = 0
}

async function start() {
  showControls()
  followWidth()
  const store = newStore(),
    arrived = followArrival(store),
    engine = await startEngine(store)
  if (!engine) return
  const page = new ExplorerPage(store, engine)
  showMachine(engine)
  page.fit()
  const drawn = createStage(page)
  followNumbers(page)
  store.on(['ran'], () => showAnswer(page))
  connectControls(page)
  followKeys(page)
  connectSave(page)
  followPins(page)
  connectModels(page)
  await page.openScene(sceneIn(store), store.get().objects)
  await drawn
  createArcs(page)
  await createPanel(page) // until there is a map the built-in ones stay
  await connectPictures(page)
  followChanges(page)
  await followHistory(page)
  followModel(page)
  followSize(page)
  followParts(page)
  followInvitation(page)
  followZoom(page, arrived)
  document.documentElement.dataset.ready = 'true'
}

start()
