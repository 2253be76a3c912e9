/* Drawn scenes as pictures, and the patch that such a picture is asked about first. */

/** A drawn scene as a picture; drawing: its objects, scene: its seed, or null for one that was
 * changed. */
export function pictureOf(name, scene, { image, twins, owner, scene: drawing }) {
  const source = new ImageData(image.data, image.width, image.height)
  return { source, width: image.width, height: image.height, name, scene, drawing, twins, owner }
}

export function scenePictures({ engine }, seeds) {
  return Promise.all(
    seeds.map(async (seed) => pictureOf(`Scene ${seed}`, seed, await engine.scene(seed)))
  )
}

/** The patch of a twin that lies most inside it: has the most neighbours of the same object. */
export function twinPatch({ twins, owner }, columns = 14) {
  if (!twins) return null
  const mine = (index) => owner[index] === twins[0]
  const score = (i) =>
    mine(i) ? 1 + [i - 1, i + 1, i - columns, i + columns].filter(mine).length : 0
  const best = Array.from(owner.keys()).reduce((a, b) => (score(b) > score(a) ? b : a))
  return [Math.floor(best / columns), best % columns]
}
