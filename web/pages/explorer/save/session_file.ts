/* A session as a file: the settings as in a link, the picture as PNG, which a link has not, the
 * SHA-256 of the model's weights, and the pins with their rows, notes and pictures. */
import { fromHash, longestSettings, toHash } from '../state/address.js'
import { cutOut } from '../model/seen_region.js'
import { decode } from '../open/decode_picture.js'
import { scenePictures } from '../../shared/scene_pictures.js'
import { canvasOf, sourceOf } from '../state/place.js'
import { hashesOf } from '../../shared/weight_hashes.js'
import { digits } from './nine_digits.js'
import { pngUrl } from './png_url.js'
import { provenanceOf } from './provenance.js'
import { scoreStages } from '../../shared/scores.js'
import { say } from '../../languages/say.js'
import type { Page, Pin, SessionFile, Store } from '../types.js'
import type { PagePicture, PageSource, SavedMaps, Shape } from '../../shared/types.js'

const pinsAtMost = 200,
  textAtMost = 500,
  pixelsAtMost = 2 ** 28, // of all pictures of pins together: as of one on the command line
  tallest = 4 // height of a pin's own picture, by its width

/** @param pins a session with fewer of them would not say that some are lost */
function expectFew({ length: found }: any[]) {
  if (found > pinsAtMost) throw new Error(say('session.pins', { found, most: pinsAtMost }))
}

function pngOf({ source, width, height, name }: PagePicture) {
  const canvas = Object.assign(document.createElement('canvas'), { width, height }),
    context = canvas.getContext('2d') as CanvasRenderingContext2D
  if (source instanceof ImageData) context.putImageData(source, 0, 0)
  else context.drawImage(source, 0, 0)
  return { name, png: canvas.toDataURL('image/png') }
}

const isDrawn = ({ scene }: PagePicture) => Number.isInteger(scene)
/** null for maps from a file, which have no weights. */
const hashesOrNone = (source: PageSource | SavedMaps | null) =>
  !source || (source as SavedMaps).attention ? null : hashesOf(source as PageSource)
/** A picture is in the file once: pins name it by its place in `pictures`, a drawn scene by its
 * number, the session's own by neither. */
async function writePins({ store, picture }: { store: Store; picture: PagePicture }) {
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

/** Resolves to the text of the file. */
export async function writeSession(page: Page) {
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

const short = (sums: Record<string, string | null>) =>
  sums
    ? Object.values(sums)
        .map((sum) => (typeof sum === 'string' ? sum.slice(0, 16) : 'null'))
        .join(' + ')
    : ''

/** Whether the weights are those that the session was saved with, where both are known. */
async function expectWeights(page: Page, expected: Record<string, string> | null) {
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

/** The session in a file, or null where it is other JSON: a session says first what it is, so no
 * other file is read further. */
export async function readSession(file: File) {
  try {
    if (!/^\s*\{\s*"heed_session"/.test(await file.slice(0, 200).text())) return null
    const session = JSON.parse(await file.text())
    return session?.heed_session === 1 && typeof session.settings === 'string' ? session : null
  } catch {
    return null
  }
}

/** Where the numbers of a file that the page saved as JSON are from, or null where it is other JSON. */
export async function readNumbers(file: File) {
  try {
    if (!/^\s*\{\s*(?:"schema":\s*\d+,\s*)?"heed":/.test(await file.slice(0, 200).text()))
      return null
    const { provenance } = JSON.parse(await file.text())
    return typeof provenance?.settings === 'string' ? provenance : null
  } catch {
    return null
  }
}

/** @param text what is no text may have no words: an object's toString may be any value */
const words = (text: unknown) => (typeof text === 'string' ? text.slice(0, textAtMost) : '')

/**
 * { name, bytes, pixels } of a picture, before it is decoded.
 * @param picture { name, png }
 */
function pngIn(picture: any) {
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

function readPictures(pictures: any[]) {
  const pngs = pictures.map(pngIn),
    found = pngs.reduce((sum, { pixels }) => sum + pixels, 0)
  if (found > pixelsAtMost) throw new Error(say('session.pixels', { found, most: pixelsAtMost }))
  return Promise.all(
    pngs.map(({ name, bytes }) => decode(new Blob([bytes], { type: 'image/png' }), name))
  )
}

const isCount = (value: number) => Number.isInteger(value) && value >= 0 && value < 1e5
/** @param value a row holds floats: what is beyond them would be Infinity there */
const isNumber = (value: number) => typeof value === 'number' && Number.isFinite(Math.fround(value))

/** What a pin must have to be drawn; what else it says is text. */
function checkPin(pin: any, i: number) {
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

/** The pins in a session that is open already. */
async function readPins(
  page: Page,
  { pins, pictures, weights_sha256: own }: SessionFile
): Promise<Pin[]> {
  const given = Array.isArray(pictures) ? pictures : [],
    opened = await readPictures(given.slice(0, pinsAtMost))
  return Promise.all(
    (pins as any[]).map(async (pin, i) => {
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
        source: short(sums) === short(own as any) ? sourceOf(page) : null,
        shape: { tokens, prefixTokens, rows, columns } as Shape,
        image: image as PagePicture,
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
 * @param from their provenance
 */
export async function openNumbers(
  page: Page,
  { settings, weights_sha256: sums, picture: of }: Record<string, any>,
  file: string
) {
  const picture = words(of),
    scene = /^Scene \d+$/.test(picture) || /[#&]objects=/.test(settings)
  if (!scene && page.picture.name !== picture)
    throw new Error(
      say('errors.numbersPicture', { file, found: page.picture.name, expected: picture })
    )
  if (scene) return openSession(page, { settings, weights_sha256: sums } as any)
  await expectWeights(page, sums)
  const { scene: _, objects, ...state } = fromHash(settings, longestSettings)
  page.fit(state)
}

export async function openSession(page: Page, session: SessionFile) {
  if (session.settings.length > longestSettings)
    throw new Error(say('session.long', { found: session.settings.length, most: longestSettings }))
  if (Array.isArray(session.pins)) expectFew(session.pins)
  const { scene, objects, ...state } = fromHash(session.settings, longestSettings)
  await expectWeights(page, session.weights_sha256) // before anything of it is shown
  if (session.picture && !objects) await page.run((await readPictures([session.picture]))[0])
  else await page.openScene(scene as number, objects)
  page.fit(state)
  if (!Array.isArray(session.pins)) return
  const pins = await readPins(page, session)
  page.store.set({ pins, pinned: pins[session.pins.findIndex((pin) => pin?.b === true)] ?? null })
}
