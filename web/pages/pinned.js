/* A row kept beside the one on the stage: B of the comparison. */

const side = 224 // pixels of a picture that is kept beside a row

const placeOf = ({ store }) => (({ layer, head, query, reverse, view }) => ({ layer, head, query, reverse, view }))(store.get())

/** The stage's picture, square. */
export function pictureNow() {
  const canvas = Object.assign(document.createElement('canvas'), { width: side, height: side })
  canvas.getContext('2d').drawImage(document.getElementById('picture'), 0, 0, side, side)
  return canvas
}

/** Keeps what the stage shows as B, or another row of the same picture: { row, query, title }. */
export const pin = (page, { row, title, query } = { ...page.drawn, query: page.store.get().query }) => page.store.set({
  pinned: { row, title, place: { ...placeOf(page), query }, shape: page.engine.shape, picture: pictureNow(), name: `${page.picture.name}, ${document.getElementById('model-name').textContent}` }
})

/** The pinned place on the stage, and what was there pinned. */
export function swap(page) {
  const { pinned, view } = page.store.get()
  if (!pinned) return
  pin(page)
  page.store.set({ ...pinned.place, view })
}
