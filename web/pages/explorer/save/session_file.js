/* A session as a file: the settings as in a link, the picture as PNG, which a link has not, the
 * SHA-256 of the model's weights, and the pins with their rows, notes and pictures. */
import { fromHash, longestSettings, toHash } from '../state/address.js'
import { cutOut } from '../model/seen_region.js'
import { decode } from '../open/decode_picture.js'
import { scenePictures } from '../open/scene_pictures.js'
import { canvasOf, sourceOf } from '../state/place.js'
import { hashesOf } from '../model/weight_hashes.js'
import { digits } from './nine_digits.js'
import { pngUrl } from './png_url.js'
import { provenanceOf } from './provenance.js'
import { scoreStages } from '../../shared/scores.js'
import { say } from '../../languages/say.js'
/** @import {Page, PagePicture, PageSource, Pin, SavedMaps, SessionFile, Shape, Store} from '../../../types/pages.js' */
/** @import {Session} from '../../../src/index.js' */

const pinsAtMost = 200,
  textAtMost = 500,
  pixelsAtMost = 2 ** 28, // of all pictures of pins together: as of one on the command line
  tallest = 4 // height of a pin's own picture, by its width

/** @param {any[]} pins a session with fewer of them would not say that some are lost */
function expectFew({ length: found }) {
  if (found > pinsAtMost) throw new Error(say('session.pins', { found, most: pinsAtMost }))
}

/** @param {PagePicture} picture */
function pngOf({ source, width, height, name }) {
  const canvas = Object.assign(document.createElement('canvas'), { width, height }),
    context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'))
  if (source instanceof ImageData) context.putImageData(source, 0, 0)
  else context.drawImage(source, 0, 0)
  return { name, png: canvas.toDataURL('image/png') }
}

/** @param {PagePicture} options */
const isDrawn = ({ scene }) => Number.isInteger(scene)
/**
 * null for maps from a file, which have no weights.
 * @param {PageSource | SavedMaps | null} source
 */
const hashesOrNone = (source) =>
  !source || /** @type {SavedMaps} */ (source).attention
    ? null
    : hashesOf(/** @type {PageSource} */ (source))
/**
 * A picture is in the file once: pins name it by its place in `pictures`, a drawn scene by its
 * number, the session's own by neither.
 * @param {{store: Store, picture: PagePicture}} options
 */
async function writePins({ store, picture }) {
  const { pins, pinned } = store.get(),
    pictures = [...new Set(pins.map(({ image }) => image))].filter(
      (image) => image !== picture && !isDrawn(image)
    )
  const written = pins.map(
    async ({ row, title, note, name, model, score, settings, source, shape, image, region }, i) => {
      const of = isDrawn(image)
        ? { scene: image.scene }
        : image === picture
          ? {}
          : { picture: pictures.indexOf(image) }
      return {
        title,
        note,
        name,
        model,
        score,
        settings,
        weights_sha256: await hashesOrNone(source),
        shape,
        region,
        row: digits(row),
        ...of,
        b: pins[i] === pinned
      }
    }
  )
  return { pins: await Promise.all(written), pictures: pictures.map(pngOf) }
}

/**
 * Resolves to the text of the file.
 * @param {Page} page
 */
export async function writeSession(page) {
  const { picture, store, engine } = page
  expectFew(store.get().pins)
  const pins = store.get().pins.length ? await writePins(page) : {}
  return JSON.stringify({
    heed_session: 1,
    version: engine.info.version,
    weights_sha256: await hashesOrNone(sourceOf(page)),
    settings: toHash(store.get(), Infinity),
    changes: (await provenanceOf(page)).changes, // as options of heed run, where something is changed
    picture: isDrawn(picture) ? null : pngOf(picture),
    ...pins
  })
}

/** @param {Record<string, string | null>} sums */
const short = (sums) =>
  sums
    ? Object.values(sums)
        .map((sum) => (typeof sum === 'string' ? sum.slice(0, 16) : 'null'))
        .join(' + ')
    : ''

/**
 * Whether the weights are those that the session was saved with, where both are known.
 * @param {Page} page
 * @param {Record<string, string> | null} expected
 */
async function expectWeights(page, expected) {
  const found = await hashesOrNone(sourceOf(page))
  if (!expected || (found && short(found) === short(expected))) return
  throw new Error(
    say('session.otherModel', {
      found: found
        ? say('session.withHash', { hash: String(short(found)) })
        : say('session.ofNoModel'),
      expected: String(short(expected))
    })
  )
}

/**
 * The session in a file, or null where it is other JSON: a session says first what it is, so no
 * other file is read further.
 * @param {File} file
 */
export async function readSession(file) {
  try {
    if (!/^\s*\{\s*"heed_session"/.test(await file.slice(0, 200).text())) return null
    const session = JSON.parse(await file.text())
    return session?.heed_session === 1 && typeof session.settings === 'string' ? session : null
  } catch {
    return null
  }
}

/**
 * Where the numbers of a file that the page saved as JSON are from, or null where it is other JSON.
 * @param {File} file
 */
export async function readNumbers(file) {
  try {
    if (!/^\s*\{\s*"heed":/.test(await file.slice(0, 200).text())) return null
    const { provenance } = JSON.parse(await file.text())
    return typeof provenance?.settings === 'string' ? provenance : null
  } catch {
    return null
  }
}

/** @param {unknown} text what is no text may have no words: an object's toString may be any value */
const words = (text) => (typeof text === 'string' ? text.slice(0, textAtMost) : '')

/**
 * { name, bytes, pixels } of a picture, before it is decoded.
 * @param {any} picture { name, png }
 */
function pngIn(picture) {
  const { name, png } = picture ?? {},
    [, text] = pngUrl.exec(typeof png === 'string' ? png : '') ?? []
  let bytes
  try {
    bytes = text && Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
  } catch {
    /* signs of base64 that are none together */
  }
  if (!bytes || bytes.length < 24) throw new Error(say('errors.sessionPicture'))
  const head = new DataView(bytes.buffer) // another kind of picture would have its size elsewhere
  if (head.getUint32(0) !== 0x89504e47) throw new Error(say('errors.sessionPicture'))
  return { name: words(name), bytes, pixels: head.getUint32(16) * head.getUint32(20) }
}

/** @param {any[]} pictures */
function readPictures(pictures) {
  const pngs = pictures.map(pngIn),
    found = pngs.reduce((sum, { pixels }) => sum + pixels, 0)
  if (found > pixelsAtMost) throw new Error(say('session.pixels', { found, most: pixelsAtMost }))
  return Promise.all(
    pngs.map(({ name, bytes }) => decode(new Blob([bytes], { type: 'image/png' }), name))
  )
}

/** @param {number} value */
const isCount = (value) => Number.isInteger(value) && value >= 0 && value < 1e5
/** @param {number} value a row holds floats: what is beyond them would be Infinity there */
const isNumber = (value) => typeof value === 'number' && Number.isFinite(Math.fround(value))

/**
 * What a pin must have to be drawn; what else it says is text.
 * @param {any} pin
 * @param {number} i
 */
function checkPin(pin, i) {
  const { row, shape, region, settings, score } = pin ?? {},
    { tokens, prefixTokens, rows, columns } = shape ?? {},
    { x, y, width, height } = region ?? {}
  const right =
    [tokens, prefixTokens, rows, columns].every(isCount) &&
    rows > 0 &&
    columns > 0 &&
    tokens === prefixTokens + rows * columns &&
    Array.isArray(row) &&
    row.length === tokens &&
    row.every(isNumber) &&
    [x, y, width, height].every(isNumber) &&
    width > 0 &&
    height > 0 &&
    typeof settings === 'string' &&
    settings.length <= longestSettings &&
    typeof score === 'string' &&
    Object.hasOwn(scoreStages, score)
  if (!right)
    throw new Error(say('session.pin', { number: i + 1, tokens: isCount(tokens) ? tokens : 'N' }))
}

/**
 * The pins in a session that is open already.
 * @param {Page} page
 * @param {SessionFile} session
 * @returns {Promise<Pin[]>}
 */
async function readPins(page, { pins, pictures, weights_sha256: own }) {
  const given = Array.isArray(pictures) ? pictures : [],
    opened = await readPictures(given.slice(0, pinsAtMost))
  return Promise.all(
    /** @type {any[]} */ (pins).map(async (pin, i) => {
      checkPin(pin, i)
      const {
        title,
        note,
        name,
        model,
        score,
        settings,
        weights_sha256: sums,
        shape: { tokens, prefixTokens, rows, columns },
        region,
        row
      } = pin
      const image = isCount(pin.scene)
        ? (await scenePictures(page, [pin.scene]))[0]
        : pin.picture === undefined
          ? page.picture
          : isCount(pin.picture) && opened[pin.picture] // no name of a list's own
      if (!image)
        throw new Error(
          say('session.pinPicture', {
            number: i + 1,
            found: JSON.stringify(pin.picture).slice(0, 60),
            most: opened.length
          })
        )
      return {
        row: Float32Array.from(row),
        title: words(title),
        note: words(note),
        name: words(name),
        model: words(model),
        score,
        settings,
        source: short(sums) === short(/** @type {any} */ (own)) ? sourceOf(page) : null,
        shape: /** @type {Shape} */ ({ tokens, prefixTokens, rows, columns }),
        image: /** @type {PagePicture} */ (image),
        region,
        picture: cutOut(
          image,
          region,
          canvasOf({ rows: Math.min(rows, tallest * columns), columns })
        )
      }
    })
  )
}

/**
 * Shows what the numbers of a file were saved of, computed anew. They are of the picture that is
 * here, where that is not a drawn scene.
 * @param {Page} page
 * @param {Record<string, any>} from their provenance
 * @param {string} file
 */
export async function openNumbers(page, { settings, weights_sha256: sums, picture: of }, file) {
  const picture = words(of),
    scene = /^Scene \d+$/.test(picture) || /[#&]objects=/.test(settings)
  if (!scene && page.picture.name !== picture)
    throw new Error(
      say('errors.numbersPicture', { file, found: page.picture.name, expected: picture })
    )
  if (scene) return openSession(page, /** @type {any} */ ({ settings, weights_sha256: sums }))
  await expectWeights(page, sums)
  const { scene: _, objects, ...state } = fromHash(settings, longestSettings)
  page.fit(state)
}

/**
 * @param {Page} page
 * @param {SessionFile} session
 */
export async function openSession(page, session) {
  if (session.settings.length > longestSettings)
    throw new Error(say('session.long', { found: session.settings.length, most: longestSettings }))
  if (Array.isArray(session.pins)) expectFew(session.pins)
  const { scene, objects, ...state } = fromHash(session.settings, longestSettings)
  await expectWeights(page, session.weights_sha256) // before anything of it is shown
  if (session.picture && !objects) await page.run((await readPictures([session.picture]))[0])
  else await page.openScene(/** @type {number} */ (scene), objects)
  page.fit(state)
  if (!Array.isArray(session.pins)) return
  const pins = await readPins(page, session)
  page.store.set({ pins, pinned: pins[session.pins.findIndex((pin) => pin?.b === true)] ?? null })
}
