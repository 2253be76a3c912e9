/* The runtime works a page's example out by itself and says how far it is from what the page
 * shows. */
import { safetensorsParts } from './array_files.js'
import { say } from '../languages/say.js'
import { createRuntime } from '../heed/index.js'
import type { SmallCase } from './types.js'

let runtime = null
const turns = new WeakMap()

/** Says something else in its place. */
export function sayAgreement(element: HTMLElement, text: string, passed: string | boolean) {
  turns.delete(element)
  element.textContent = text
  element.dataset.passed = String(passed)
}

/** Runs a case and says whether the runtime agrees. instead: what stands there in its place;
 * before: what comes first. */
export async function showAgreement(
  element: HTMLElement,
  { tensors, metadata }: SmallCase,
  { instead, before = '' }: { instead?: string; before?: string } = {}
) {
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
        ? say('agreement.agrees', { bound: maxAbs < 1e-6 ? '1e-6' : '1e-5' })
        : say('agreement.differs', { apart: maxAbs.toExponential(1) }))
    element.dataset.passed = String(passed)
  } catch (error) {
    element.textContent = (error as Error).message
    element.dataset.passed = String(false)
  }
}
