/* Rows that are kept beside the one on the stage, each with a note; one of them is B of the
 * comparison. A pin is
 * { row, scores, title, score, settings, note, name, model, source, shape, image, region, picture
 * }: the weights, the scores of the stage that was chosen (null: none, as in a session that was
 * opened) and where they are from, the picture
 * and its part that the model saw, and that part as a canvas. */
import { element } from '../../shared/elements.js'
import { toHash } from './address.js'
import { keysOfPlace, pictureNow, sourceOf } from './place.js'
import { showStatus } from '../controls/status.js'
import './change_words.js'
import { rowNow, titleOfRow, weightsOfRow } from '../model/shown_row.js'
import { say } from '../../languages/say.js'
import type { Drawn, Page, State } from '../types.js'
import type { PagePicture } from '../../shared/types.js'

const samePicture = (a: PagePicture, b: PagePicture) =>
  a === b || (Number.isInteger(a.scene) && a.scene === b.scene)

/** Keeps what the stage shows as B, or another row of the same picture. A row that is there already
 * is B again. */
export function pin(
  page: Page,
  {
    row,
    title,
    at,
    scores = null
  }: Pick<Drawn, 'row' | 'title' | 'at'> & { scores?: Float32Array | null } = page.drawn
) {
  const { store, engine, picture } = page,
    { changes, rollout, layer, head, reverse, score } = at,
    query = at.query ?? store.get().query,
    state = { ...store.get(), ...changes, layer, head, query, reverse, score },
    { pins } = state,
    model = element('model-name').textContent
  if (!engine.result) return // a new model, not run yet
  const settings = toHash(
    {
      ...Object.fromEntries(keysOfPlace.map((key) => [key, state[key as keyof State]])),
      view: rollout ? 'rollout' : undefined
    },
    Infinity
  )
  const twin = pins.find(
    (other) =>
      other.settings === settings &&
      other.source === sourceOf(page) &&
      samePicture(other.image, picture)
  )
  const pinned = twin ?? {
    row,
    scores,
    title,
    score,
    settings,
    note: '',
    name: `${picture.name}${state.fit === 'whole' ? say('pins.whole') : ''}, ${model}`,
    model,
    source: sourceOf(page),
    shape: engine.shape,
    image: picture,
    region: engine.result.region,
    picture: pictureNow(page)
  }
  store.set({ pins: twin ? pins : [...pins, pinned], pinned })
  showStatus(say('pins.pinnedB', { title: pinned.title }))
}

/** The pinned place on the stage, and what was there pinned. */
export async function swap(page: Page) {
  const { pinned } = page.store.get()
  if (!pinned) return
  pin(page)
  await (await import('../controls/pin_list.js')).showPin(page, pinned)
}

/** The patch becomes B of the comparison; the query stays. */
export async function pickB(page: Page, query: [row: number, column: number]) {
  const { store, engine } = page
  if (!engine.result || store.get().layer === 'pool') return
  const at = { ...rowNow(page), query, score: 'softmax' as const },
    row = await weightsOfRow(engine, at, engine.result)
  if (!row) return // another run came meanwhile
  pin(page, { row, at, title: titleOfRow(engine, at) })
  store.set({ view: 'compare' })
}
