/* What was changed in the drawn scene, to undo and redo it; with its keys. Loaded with the view that
 * changes scenes. Another picture begins anew. */
import { codeOf, editedPicture } from '../open/edited_scene.js'
import { scenePictures } from '../open/scene_pictures.js'
/** @import {Scene} from '../../../src/index.js' */
/** @import {Page, PagePicture, PageQuery} from '../../../types/pages.js' */

/** @typedef {{drawing: Scene, seed: number | null, query: PageQuery}} Before */

const most = 200 // changes that are kept

/** @param {PagePicture} picture */
const nameOf = ({ code, scene }) => code ?? String(scene)

/** @param {Page} page */
const now = ({ picture, store }) => ({
  drawing: /** @type {Scene} */ (picture.drawing),
  seed: picture.scene ?? null,
  query: store.get().query
})

export class SceneEdits {
  /** @type {Before[]} */
  past = []
  /** @type {Before[]} */
  future = []
  /** The picture that the lists lead from. */
  at = ''

  /** @param {Page} page */
  constructor(page) {
    this.page = page
  }

  /** @param {Before[]} list */
  #has(list) {
    const { picture } = this.page
    return list.length > 0 && Boolean(picture.drawing) && nameOf(picture) === this.at
  }
  get canUndo() {
    return this.#has(this.past)
  }
  get canRedo() {
    return this.#has(this.future)
  }

  /** What is shown, before it is changed. */
  begin() {
    return { ...now(this.page), name: nameOf(this.page.picture) }
  }

  /**
   * Runs a changed scene. One that is as it was before is no change.
   * @param {ReturnType<SceneEdits['begin']>} before
   * @param {Scene} scene
   */
  async commit({ name, ...before }, scene) {
    const picture = await editedPicture(this.page, scene)
    if (picture.code === codeOf(before.drawing)) return this.#show(before)
    this.past = [...(name === this.at ? this.past : []), before].slice(-most)
    this.future = []
    this.at = nameOf(picture)
    await this.page.run(picture)
  }

  /** @param {Before} state */
  async #show({ drawing, seed, query }) {
    const { page } = this,
      [picture] =
        seed === null ? [await editedPicture(page, drawing)] : await scenePictures(page, [seed])
    this.at = nameOf(picture)
    page.store.set({ query, hover: null })
    await page.run(picture)
  }

  /**
   * @param {Before[]} from
   * @param {Before[]} to
   */
  async #go(from, to) {
    if (!this.#has(from)) return
    const state = /** @type {Before} */ (from.pop())
    to.push(now(this.page))
    this.at = '' // until it is shown, no other
    await this.#show(state)
  }
  undo() {
    return this.#go(this.past, this.future)
  }
  redo() {
    return this.#go(this.future, this.past)
  }
}

/** @param {EventTarget | null} target */
const isText = (target) =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && !/^(range|checkbox|radio|button)$/.test(target.type))

/** @type {SceneEdits | undefined} */
let edits
/**
 * The page's; with the first, Ctrl or ⌘ with Z undoes, with Shift and Z or with Y redoes.
 * @param {Page} page
 */
export function editsOf(page) {
  if (edits) return edits
  const mine = (edits = new SceneEdits(page))
  addEventListener('keydown', (event) => {
    const key = event.key.toLowerCase(),
      redo = key === 'y' || event.shiftKey
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !'zy'.includes(key)) return
    if (isText(event.target) || document.querySelector('dialog[open]')) return
    if (!(redo ? mine.canRedo : mine.canUndo)) return
    event.preventDefault()
    ;(redo ? mine.redo() : mine.undo()).catch(page.showError)
  })
  return mine
}
