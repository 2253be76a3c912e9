/* A session as a file: the settings as in a link, the picture as PNG, which a link has not, and the SHA-256 of the model's weights. */
import { fromHash, toHash } from './address.js'
import { decode } from './decode.js'
import { hashesOf } from './provenance.js'

/** Resolves to the text of the file. */
export async function writeSession(page) {
  const { source, width, height, name, scene } = page.picture, canvas = Object.assign(document.createElement('canvas'), { width, height }), context = canvas.getContext('2d')
  if (source instanceof ImageData) context.putImageData(source, 0, 0)
  else context.drawImage(source, 0, 0)
  const picture = scene === null || scene === undefined ? { name, png: canvas.toDataURL('image/png') } : null
  return JSON.stringify({ heed_session: 1, version: page.engine.info.version, weights_sha256: await weightsOf(page), settings: toHash(page.store.get(), Infinity), picture })
}

const weightsOf = ({ engine, source }) => (engine.saved ? null : hashesOf(source))

/* Whether the weights are those that the session was saved with, where both are known. */
async function expectWeights(page, expected) {
  const found = await weightsOf(page), short = (sums) => Object.values(sums).map((sum) => String(sum).slice(0, 16)).join(' + ')
  if (!expected || (found && short(found) === short(expected))) return
  throw new Error(`This session is of another model: its numbers are not shown here (found weights ${found ? `with SHA-256 ${short(found)}` : 'of no model, maps from a file'}, expected ${short(expected)}). Open that model, then the session again.`)
}

/** The session in a file, or null where it is other JSON. */
export async function readSession(file) {
  try {
    const session = JSON.parse(await file.text())
    return session?.heed_session === 1 && typeof session.settings === 'string' ? session : null
  } catch {
    return null
  }
}

export async function openSession(page, { settings, picture, weights_sha256: weights }) {
  const { scene, ...state } = fromHash(settings)
  if (picture) {
    const [, text] = /^data:image\/png;base64,([A-Za-z0-9+/=]+)$/.exec(picture.png) ?? []
    if (!text) throw new Error('This session’s picture cannot be read (expected a PNG as data URL). Save the session again.')
    await page.run(await decode(new Blob([Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))], { type: 'image/png' }), String(picture.name)))
  } else await page.openScene(scene)
  page.store.set(state)
  page.fit()
  await expectWeights(page, weights)
}
