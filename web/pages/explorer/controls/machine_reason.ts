/* Why the runtime took its module and so many threads, and why not the GPU, in the language of the page: `info.why` is
 * in English, as what is copied and printed. Loaded when asked for. */
import { say } from '../../languages/say.js'

/* What the runtime says on pages, which ask for nothing of their own. */
export const reasons = [
  [/^(\d+) threads: one per core$/, (count) => say('reason.onePerCore', { count })],
  [/^one thread: this machine has one core$/, () => say('reason.oneCore')],
  [/^one thread: the page is not cross-origin isolated$/, () => say('reason.notIsolated')],
  [
    /^one thread: the others could not start \((.*)\)$/,
    (found) => say('reason.othersFailed', { found })
  ],
  [/^no relaxed SIMD: this engine has none$/, () => say('reason.noRelaxed')],
  [/^no relaxed SIMD: this package has none$/, () => say('reason.notPackaged')],
  [/^self-check passed, kernels (\w+)$/, (tier) => say('reason.checked', { tier })],
  [/^WebAssembly in the place of WebGPU: (.*)$/, (why) => reasonOf(why)],
  [/^this browser has no WebGPU$/, () => say('reason.noWebgpu')],
  [/^this package was built without its shaders$/, () => say('reason.noShaders')],
  [/^WebGPU has no adapter here$/, () => say('reason.noAdapter')],
  [/^the adapter is software \(found "(.*)"\)/, (found) => say('reason.software', { found })],
  [/ did not answer in (\d+) seconds$/, (seconds) => say('reason.silent', { seconds })],
  [/^the adapter has less than WebGPU promises$/, () => say('reason.less')],
  [/^the adapter gives no device \(found "(.*)"\)$/, (found) => say('reason.noDevice', { found })],
  [/^the self-check found (.*)$/, (found) => say('reason.checkFailed', { found })],
  [/^the device is out of memory/, () => say('reason.gpuMemory')],
  [/^the device refuses a call \(found "(.*)"\)$/, (found) => say('reason.refused', { found })],
  [/^the device was lost/, () => say('reason.lost')],
  [
    /^(ONNX graphs|text towers|models of videos|models with stages) run there$/,
    () => say('reason.model')
  ],
  [/^weights of PyTorch and ONNX are read there$/, () => say('reason.weights')]
] as [RegExp, (found: string) => string][]

/** @param why English, `info.why` */
export const reasonOf = (why: string | undefined = '') =>
  why
    .split(/; (?=no |WebAssembly )/)
    .map((part) => {
      const [pattern, text] = reasons.find(([pattern]) => pattern.test(part)) ?? []
      return pattern && text ? text(pattern.exec(part)?.[1] ?? '') : part
    })
    .join(say('reason.and'))
