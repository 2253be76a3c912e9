/* The runtime works a page's example out by itself and says how far it is from what the page
 * shows. */
import { safetensorsParts } from './array_files.js'
import { createRuntime } from '../heed/index.js'

let runtime = null
const turns = new WeakMap()

/** Says something else in its place. */
export function sayAgreement(element, text, passed) {
  turns.delete(element)
  element.textContent = text
  element.dataset.passed = passed
}

/** words: `instead` of an answer, or what is said `before` one. */
export async function showAgreement(element, { tensors, metadata }, { instead, before = '' } = {}) {
  if (instead) return sayAgreement(element, instead, '')
  const mine = Symbol('turn')
  turns.set(element, mine)
  try {
    runtime ??= createRuntime({ threads: 1 })
    const bytes = new Uint8Array(await new Blob(safetensorsParts(tensors, metadata)).arrayBuffer()),
      made = await runtime
    if (mine !== turns.get(element)) return
    const { passed, maxAbs } = await made.check(bytes, { tolerance: 1e-5 })
    if (mine !== turns.get(element)) return
    element.textContent =
      before +
      (passed
        ? `heed’s runtime agrees to ${maxAbs < 1e-6 ? '1e-6' : '1e-5'}.`
        : `heed’s runtime differs by ${maxAbs.toExponential(1)}.`)
    element.dataset.passed = passed
  } catch (error) {
    element.textContent = error.message
    element.dataset.passed = false
  }
}
