/* What goes on, in the header; what went wrong, in a banner that says what to do. */
import { element } from '../../shared/elements.js'
import { fixed } from '../../plot/parts/numbers.js'
import { advice } from './advice.js'
import { say } from '../../languages/say.js'
import type { HeedError } from 'heed'

export const showStatus = (text: string) => (element('status').textContent = text)

const phases: Record<string, string> = {
  start: say('status.loading'),
  download: say('status.loadingModel'),
  read: say('status.preparingWeights'),
  run: say('status.running'),
  compile: say('status.compiling')
}

/** @param progress null: it is over */
export function showProgress(progress: { phase: string; done: number; total: number } | null) {
  const bar = element('progress')
  bar.hidden = progress === null
  if (progress === null) return
  const { phase, done, total } = progress
  if (total > 0) bar.value = done / total
  else bar.removeAttribute('value')
  showStatus(
    phase === 'run' || phase === 'compile'
      ? phases[phase]
      : say('status.mb', {
          phase: phases[phase],
          done: fixed(done / 1e6, 1),
          total: total ? say('status.ofMegabytes', { megabytes: fixed(total / 1e6, 1) }) : ''
        })
  )
}

/** Buttons, in the header and beside the run's numbers, that stop what an AbortController is for,
 * while it lasts; null takes them away. */
export function showStop(controller: AbortController | null) {
  for (const button of document.querySelectorAll('.stop')) {
    button.hidden = controller === null
    button.onclick = () => (controller as AbortController).abort()
  }
}

/* A part of the page that was not there: the browsers' words for it, or later_styles.js's. */
const partMissing = /dynamically imported module|module script failed|(later|zoom)\.css/i

/** Whether what is said is an error, which can be copied, or a notice. */
function showAs(role: 'alert' | 'status') {
  element('error').setAttribute('role', role)
  element('error').classList.toggle('notice', role === 'status')
  element('error-copy').hidden = role === 'status'
}

/** What is good to know, and no error. */
export function showNotice(text: string) {
  showError(new Error(text))
  showAs('status')
}

/**
 * again: what a button "Try again" does, where there is something to try.
 * @param error what was thrown; a HeedError has a status
 */
export function showError(
  thrown: unknown,
  again: (() => void) | null = partMissing.test((thrown as Error)?.message)
    ? () => location.reload()
    : null
) {
  const error = thrown as Partial<HeedError> | undefined,
    stopped = error?.status === 'CANCELLED'
  if (stopped && !again) return
  const wasm = typeof WebAssembly === 'undefined' ? say('status.browserNoWebassemblySo') : ''
  const offline =
    navigator.onLine === false && error?.status === 'IO'
      ? say('status.machineOfflineConnectVisit')
      : ''
  const ofPage = wasm || (stopped && say('status.loadingWasStoppedPicture')),
    sentence = Object.assign(document.createElement('span'), {
      textContent: `${error?.message ?? error}`.replace(
        /[^.!?。]$/,
        (end) => end + (end > '~' ? say('explorer.fullStop') : '.')
      ),
      lang: error?.status ? 'en' : document.documentElement.lang // the library's sentences are English
    })
  element('error-text').replaceChildren(
    ...(ofPage
      ? [ofPage]
      : [
          sentence,
          ` ${offline || (advice[partMissing.test(error?.message ?? '') ? 'MISMATCH' : (error?.status ?? '')] ?? '')}`
        ])
  )
  showAs('alert')
  element('error-again').hidden = !again
  element('error-again').onclick = again
  element('error').hidden = false
}

element('error-close').addEventListener('click', () => (element('error').hidden = true))
element('error-copy').addEventListener('click', () =>
  import('./copying.js').then(({ copyDetails }) => copyDetails()).catch(showError)
)
