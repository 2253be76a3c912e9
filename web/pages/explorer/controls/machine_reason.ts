/* Why the runtime took its module and so many threads, in the language of the page: `info.why` is
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
  [/^no relaxed SIMD: this package has none$/, () => say('reason.notPackaged')]
] as [RegExp, (found: string) => string][]

/** @param why English, `info.why` */
export const reasonOf = (why: string | undefined = '') =>
  why
    .split(/; (?=no )/)
    .map((part) => {
      const [pattern, text] = reasons.find(([pattern]) => pattern.test(part)) ?? []
      return pattern && text ? text(pattern.exec(part)?.[1] ?? '') : part
    })
    .join(say('reason.and'))
