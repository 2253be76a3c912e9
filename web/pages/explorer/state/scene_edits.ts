/* What was changed in the drawn scene, to undo and redo it; with its keys. Loaded with the view that
 * changes scenes. Another picture begins anew. */
import { codeOf, editedPicture } from '../open/edited_scene.js'
import { scenePictures } from '../../shared/scene_pictures.js'
import type { Scene } from 'heed'
import type { Page } from '../types.js'
import type { PagePicture, PageQuery } from '../../shared/types.js'

export type Before = { drawing: Scene; seed: number | null; query: PageQuery }

const most = 200 // changes that are kept

const nameOf = ({ code, scene }: PagePicture) => code ?? String(scene)

const now = ({ picture, store }: Page) => ({
  drawing: picture.drawing as Scene,
  seed: picture.scene ?? null,
  query: store.get().query
})

export class SceneEdits {
  page
  past: Before[] = []
  future: Before[] = []
  /** The picture that the lists lead from. */
  at = ''

  constructor(page: Page) {
    this.page = page
  }

  #has(list: Before[]) {
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

  /** Runs a changed scene. One that is as it was before is no change. */
  async commit({ name, ...before }: ReturnType<SceneEdits['begin']>, scene: Scene) {
    const picture = await editedPicture(this.page, scene)
    if (picture.code === codeOf(before.drawing)) return this.#show(before)
    this.past = [...(name === this.at ? this.past : []), before].slice(-most)
    this.future = []
    this.at = nameOf(picture)
    await this.page.run(picture)
  }

  async #show({ drawing, seed, query }: Before) {
    const { page } = this,
      [picture] =
        seed === null ? [await editedPicture(page, drawing)] : await scenePictures(page, [seed])
    this.at = nameOf(picture)
    page.store.set({ query, hover: null })
    await page.run(picture)
  }

  async #go(from: Before[], to: Before[]) {
    if (!this.#has(from)) return
    const state = from.pop() as Before
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

const isText = (target: EventTarget | null) =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && !/^(range|checkbox|radio|button)$/.test(target.type))

let edits: SceneEdits | undefined
/** The page's; with the first, Ctrl or ⌘ with Z undoes, with Shift and Z or with Y redoes. */
export function editsOf(page: Page) {
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
