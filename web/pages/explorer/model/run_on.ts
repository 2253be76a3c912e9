/* The switch between WebAssembly and the GPU in the menu Model: what it does, and what the page says of
 * both below the run's time. Loaded with that menu; nothing of the GPU is fetched before somebody asks. */
import { element } from '../../shared/elements.js'
import { fixed } from '../../plot/parts/numbers.js'
import { showProgress, showStatus, showStop } from '../controls/status.js'
import { reasonOf } from '../controls/machine_reason.js'
import { showFacts } from '../open/model_buttons.js'
import { deviceName } from '../../shared/names.js'
import { say } from '../../languages/say.js'
import type { Device } from '../../shared/device.js'
import type { Page } from '../types.js'

/** Of the last run on each device, in milliseconds, and the model and size that these are of. */
let times: Partial<Record<Device, number>> = {},
  timed: unknown[] = []

/** What comes first costs a run pages of memory and caches; the one after it is timed. */
let isFirst = false

async function runTwice(page: Page) {
  isFirst = true
  await page.run(page.picture).finally(() => (isFirst = false))
  await page.run(page.picture)
}

/** The model on a device, at its size, and its picture run there. What it looks like stays. */
export async function runOn(page: Page, device: Device) {
  const { engine } = page,
    before = engine.device,
    stop = new AbortController()
  if (engine.saved || device === before) return
  if (times[before] === undefined) await runTwice(page)
  engine.device = device
  showStop(stop)
  document.body.classList.add('dim')
  showStatus(say('status.loadingModel'))
  try {
    await engine.load(page.source, {
      size: engine.size,
      onProgress: showProgress,
      signal: stop.signal
    })
  } catch (error) {
    engine.device = before
    document.body.classList.remove('dim')
    showStatus('')
    return page.showError(error)
  } finally {
    showProgress(null)
    showStop(null)
  }
  showFacts(engine)
  page.fit()
  await runTwice(page)
}

/** Where a run was, and how long runs take on both; nothing before the GPU was asked for. */
export function wordsOf({ engine }: Page) {
  if (engine.saved || !engine.result) return ''
  const { device, why } = engine.result,
    ms = (time: number) => fixed(time, 1)
  if (engine.device === 'webgpu' && device === 'wasm')
    return say('runOn.not', { why: reasonOf(why) })
  return times.wasm !== undefined && times.webgpu !== undefined
    ? say('runOn.times', { gpu: ms(times.webgpu), wasm: ms(times.wasm) })
    : ''
}

function show(page: Page, said: HTMLElement) {
  const { engine, source } = page,
    { result, info } = engine,
    machine = element('machine')
  if (engine.saved || !result || result.light || isFirst) return
  const now = [source, String(engine.size), engine.only]
  if (now.some((one, i) => one !== timed[i])) times = {}
  timed = now
  if (result.device) times[result.device] = result.milliseconds
  said.textContent = wordsOf(page)
  machine.textContent = deviceName(engine.ranOn)
  machine.dataset.why =
    result.device === 'webgpu'
      ? `self-check passed, kernels ${info.tier}`
      : engine.device === 'webgpu'
        ? result.why
        : info.why
}

/** Follows the runs from the menu's first opening on. */
export function followDevice(page: Page) {
  const said = Object.assign(document.createElement('p'), { id: 'ran-on', className: 'hint' })
  said.setAttribute('role', 'status')
  element('took').closest('p')?.after(said)
  page.store.on(['ran'], () => show(page, said))
  show(page, said)
}
