/* Changed scenes in the address: what is written is read again, what was altered is refused. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { loadPage, sceneColours, sceneShapes } from '../package.js'
/** @import {Scene} from 'heed' */

/** @type {typeof import('../../pages/explorer/state/address.js')} */
const { fromHash, toHash } = await loadPage('explorer/state/address.js')
/** @type {typeof import('../../pages/explorer/state/defaults.js')} */
const { defaults } = await loadPage('explorer/state/defaults.js')
/** @type {typeof import('../../pages/explorer/state/scene_code.js')} */
const { codeOfScene, sceneOfCode } = await loadPage('explorer/state/scene_code.js')

const names = { shapes: sceneShapes, colours: sceneColours },
  alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
let state = 12345
/** @param {number} below */
const chance = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

/**
 * In the units of heed/scene.h, as a scene that was drawn is.
 * @param {number} count
 * @returns {Scene}
 */
const anyScene = (count) => ({
  seed: chance(1e6),
  clutter: chance(101),
  noise: chance(33),
  objects: Array.from({ length: count }, () => ({
    shape: sceneShapes[chance(10)],
    colour: sceneColours[chance(8)],
    x: chance(3585) / 16,
    y: chance(3585) / 16,
    radius: 8 + chance(641) / 16,
    angle: (chance(4096) * 360) / 4096
  }))
})

/** @param {string} code */
function readOrNull(code) {
  try {
    return sceneOfCode(code, names)
  } catch (error) {
    assert.match(/** @type {Error} */ (error).message, /^found .*expected |^found an object /)
    return null
  }
}

test('a changed scene comes back, in at most 109 signs for eight objects, 181 for sixteen', () => {
  for (let i = 0; i < 1000; i++) {
    const scene = anyScene(i % 17)
    assert.deepEqual(sceneOfCode(codeOfScene(scene, names), names), scene)
  }
  for (const [count, signs] of [
    [8, 109],
    [16, 181]
  ]) {
    const extreme = {
      seed: 2n ** 64n - 1n,
      clutter: 100,
      noise: 32,
      objects: Array.from({ length: count }, () => ({
        shape: 'hourglass',
        colour: 'pink',
        x: 224,
        y: 224,
        radius: 48,
        angle: (4095 * 360) / 4096
      }))
    }
    const code = codeOfScene(extreme, names)
    assert.deepEqual(sceneOfCode(code, names), extreme)
    const hash = toHash(/** @type {any} */ ({ ...defaults, scene: null, objects: code }))
    assert.equal(hash.length, signs) // as docs/web.md has it
    assert.equal(fromHash(hash).objects, code)
  }
})

test('numbers as the drawing rounds them: four decimals, 360 degrees', () => {
  const object = { shape: 'star', colour: 'red', x: 60.03, y: 80, radius: 28.0312, angle: 360 },
    read = sceneOfCode(codeOfScene({ objects: [object] }, names), names)
  assert.deepEqual(read.objects, [{ ...object, x: 60, radius: 28, angle: 0 }])
})

test('a code that was altered is refused, or means the same scene', () => {
  let refused = 0
  for (const count of [1, 5, 8]) {
    const scene = anyScene(count),
      code = codeOfScene(scene, names)
    const altered = new Set([`${code}0`, `0${code}`, code.toLowerCase(), '', '.', code + code])
    for (let i = 0; i < code.length; i++) {
      altered.add(code.slice(0, i)) // cut off
      altered.add(code.slice(0, i) + code.slice(i + 1)) // one lost
      altered.add(code.slice(0, i) + (code[i + 1] ?? '') + code[i] + code.slice(i + 2)) // two swapped
      for (const sign of `${alphabet}.%é `) {
        altered.add(code.slice(0, i) + sign + code.slice(i + 1)) // another
        altered.add(code.slice(0, i) + sign + code.slice(i)) // one more
      }
    }
    altered.delete(code)
    for (const text of altered) {
      const read = readOrNull(text)
      if (read) assert.deepEqual(read, scene, text)
      else refused++
    }
  }
  assert.ok(refused > 20000, String(refused))
})

test('what no scene has is refused also where the check sum is right', () => {
  for (const wrong of [
    { shape: 'blob' },
    { x: 224.1 },
    { y: 255 },
    { radius: 49 },
    { radius: 71.9 }
  ]) {
    const [object] = anyScene(1).objects,
      code = codeOfScene(
        { objects: [object, { .../** @type {any} */ (object), ...wrong }] },
        { ...names, shapes: wrong.shape ? [...sceneShapes, 'blob'] : sceneShapes }
      )
    assert.throws(() => sceneOfCode(code, names), /found an object 2 that no scene has/)
  }
  assert.throws(
    () => sceneOfCode(codeOfScene({ clutter: 101, objects: [] }, names), names),
    /found clutter 101/
  )
  assert.throws(() => sceneOfCode(codeOfScene(anyScene(17), names), names), /at most 16 objects/)
  const most = codeOfScene(/** @type {any} */ ({ seed: 2n ** 64n, objects: [] }), names)
  assert.throws(() => sceneOfCode(most, names), /check sum/)
})
