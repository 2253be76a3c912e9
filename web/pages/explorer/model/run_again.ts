/* What is changed in the attention or in what is seen is run again; changes that come while one is
 * under way are joined. A model that takes long waits for a press on the chip over the picture.
 * Loaded with the first change. */
import { element } from '../../shared/elements.js'
import { keysOfChanges } from '../../shared/changes.js'
import { showStatus } from '../controls/status.js'
import { say } from '../../languages/say.js'
import type { Page } from '../types.js'
import type { Runner } from '../../shared/model_runner.js'

/** About 0.3 s at 10 GFLOP/s: two operations a weight and token, four a pair of tokens and channel.
 * What takes longer is run when it is asked for. */
const atOnce = ({ model: { parameters, width = 0 }, shape: { tokens, layers } }: Runner) =>
  2 * parameters * tokens + 4 * tokens ** 2 * width * layers <= 3e9

/** Returns what is to be called after each change. */
export function connectChanges(page: Page) {
  const { store } = page,
    chip = element('stale')
  let running = false,
    again = false,
    late: ReturnType<typeof setTimeout> | undefined,
    ended: (() => void) | undefined
  const isShown = () => {
    const { changes, fit } = page.engine.result ?? {},
      state = store.get()
    return (
      state.fit === fit &&
      keysOfChanges.every((key) => String(state[key]) === String(changes?.[key]))
    )
  }

  async function runAgain() {
    again = true
    if (running) return
    running = true
    late = setTimeout(() => {
      chip.hidden = false
    }, 200)
    chip.disabled = true
    chip.textContent = say('runAgain.settingsChangedRunningAgain')
    while (again) {
      again = false
      showStatus(say('runAgain.settingsChangedRunningAgain2'))
      /* Its statistics, which may take longer than the run, are not waited for. */
      const shown = new Promise<void>((end) => (ended = end))
      await Promise.race([shown, page.run(page.picture)])
    }
    clearTimeout(late)
    chip.disabled = running = false
    chip.hidden = true
  }

  store.on(['ran'], () => {
    ended?.()
    if (!running && isShown()) chip.hidden = true
  })
  chip.addEventListener('click', runAgain)
  return () => {
    if (running || atOnce(page.engine)) return runAgain()
    chip.textContent = say('runAgain.settingsChangedRunAgain')
    chip.hidden = isShown()
    document.body.classList.toggle('dim', !chip.hidden)
  }
}
