/* A changed scene as a short text for the address, in letters, digits, "-" and "_":
 *
 *   clutter and noise (3 signs), each object (9 signs), a check sum (4 signs), ".", the seed
 *
 * A sign is 6 bits, the first the highest. An object is shape · 8 + colour (8 bits), x and y (12
 * bits each) and radius − 8 pixels (10 bits) in sixteenths of a pixel, angle in 4096ths of a turn (12
 * bits). These are the units of heed/scene.h, so a scene comes back with the same pixels.
 * The check sum is the CRC-24 of RFC 9580 over what else there is: it finds each change of up to 24
 * bits in a row. The names of shapes and colours come from the caller. */
import { say } from '../../languages/say.js'
import type { Scene, SceneObject } from 'heed'

/** as the runtime numbers them */
export type SceneNames = { shapes: readonly string[]; colours: readonly string[] }

const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  unit = 16, // a pixel
  turn = 4096,
  edge = 224 * unit,
  smallest = 8 * unit,
  largest = 48 * unit
const head = 3,
  perObject = 9,
  perSum = 4,
  mostObjects = 16

/** As scene_json.c rounds. */
const rounded = (value: number, scale: number) => Math.floor(value * scale + 0.5)

/** A whole number in so many signs. */
function written(value: number, count: number) {
  let text = ''
  for (let left = value; text.length < count; left = Math.floor(left / 64))
    text = signs[left % 64] + text
  return text
}

const read = (text: string) =>
  [...text].reduce((value, sign) => value * 64 + signs.indexOf(sign), 0)

function sumOf(text: string) {
  let sum = 0xb704ce
  for (let i = 0; i < text.length; i++) {
    sum ^= text.charCodeAt(i) << 16
    for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum & 0x800000 ? 0x1864cfb : 0)
  }
  return written(sum & 0xffffff, perSum)
}

function codeOfObject(
  { shape, colour, x, y, radius, angle = 0 }: SceneObject,
  { shapes, colours }: SceneNames
) {
  let value = shapes.indexOf(shape) * 8 + colours.indexOf(colour)
  value = value * 4096 + rounded(x, unit)
  value = value * 4096 + rounded(y, unit)
  value = value * 1024 + rounded(radius, unit) - smallest
  return written(value * turn + (rounded(angle, turn / 360) % turn), perObject)
}

/** @param scene one that was drawn */
export function codeOfScene(
  { seed = 0, clutter = 0, noise = 0, objects }: Scene,
  names: SceneNames
): string {
  const body =
    written(rounded(clutter, 1) * 64 + rounded(noise, 1), head) +
    objects.map((object) => codeOfObject(object, names)).join('')
  return `${body}${sumOf(`${body}.${seed}`)}.${seed}`
}

/**
 * @param text nine signs
 * @param i which object it is
 */
function readObject(text: string, i: number, { shapes, colours }: SceneNames): SceneObject {
  let left = read(text)
  const take = (size: number) => {
    const value = left % size
    left = Math.floor(left / size)
    return value
  }
  const angle = take(turn),
    radius = take(1024) + smallest,
    y = take(4096),
    x = take(4096),
    [shape, colour] = [shapes[left >> 3], colours[left & 7]]
  if (!shape || x > edge || y > edge || radius > largest)
    throw new Error(say('link.object', { number: i + 1 }))
  return {
    shape,
    colour,
    x: x / unit,
    y: y / unit,
    radius: radius / unit,
    angle: (angle * 360) / turn
  }
}

/** The scene of a code. Throws an Error whose message is what was found and what was expected, to
 * stand in brackets. */
export function sceneOfCode(code: string, names: SceneNames): Scene {
  const [, body, sum, digits] = /^([\w-]{3,})([\w-]{4})\.(0|[1-9]\d{0,19})$/.exec(code) ?? [],
    count = ((body?.length ?? 0) - head) / perObject
  if (!body || !Number.isInteger(count) || count > mostObjects)
    throw new Error(say('link.signs', { found: code.length, most: mostObjects }))
  if (sum !== sumOf(`${body}.${digits}`) || BigInt(digits) >= 2n ** 64n)
    throw new Error(say('link.sum', { found: sum, expected: sumOf(`${body}.${digits}`) }))
  const both = read(body.slice(0, head)),
    [clutter, noise] = [both >> 6, both & 63],
    seed = BigInt(digits)
  if (clutter > 100 || noise > 32)
    throw new Error(say('link.clutter', { clutter, noise, mostClutter: 100, mostNoise: 32 }))
  return {
    seed: seed < 2n ** 53n ? Number(seed) : seed,
    clutter,
    noise,
    objects: Array.from({ length: count }, (_, i) =>
      readObject(body.slice(head + i * perObject).slice(0, perObject), i, names)
    )
  }
}
