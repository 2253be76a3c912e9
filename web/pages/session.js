/* A session as a file: the settings as in a link, and the picture as PNG, which a link has not. */
import { fromHash, toHash } from './address.js'
import { decode } from './decode.js'

/** Resolves to the text of the file. */
export async function writeSession(page) {
  const { source, width, height, name, scene } = page.picture, canvas = Object.assign(document.createElement('canvas'), { width, height }), context = canvas.getContext('2d')
  if (source instanceof ImageData) context.putImageData(source, 0, 0)
  else context.drawImage(source, 0, 0)
  const picture = scene === null || scene === undefined ? { name, png: canvas.toDataURL('image/png') } : null
  return JSON.stringify({ heed_session: 1, version: page.engine.info.version, settings: toHash(page.store.get(), Infinity), picture })
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

export async function openSession(page, { settings, picture }) {
  const { scene, ...state } = fromHash(settings)
  if (picture) {
    const [, text] = /^data:image\/png;base64,([A-Za-z0-9+/=]+)$/.exec(picture.png) ?? []
    if (!text) throw new Error('This session’s picture cannot be read (expected a PNG as data URL). Save the session again.')
    await page.run(await decode(new Blob([Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))], { type: 'image/png' }), String(picture.name)))
  } else await page.openScene(scene)
  page.store.set(state)
  page.fit()
}
