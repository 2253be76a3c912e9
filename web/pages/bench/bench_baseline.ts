/* What measurements are compared with: the reference figures that come with the page
 * (bench_baselines.json, made by tests/bench/baselines.mjs) and those that this browser was told to
 * keep. They have the form of "Copy as JSON". */
import { say } from '../languages/say.js'
import { keep, stored } from '../shared/page_settings.js'
import type { Baseline, BenchRow, Measured } from '../shared/types.js'

const name = 'bench-baseline'

/** A day, or a day and a time, as the page's language writes it. A day alone is the same in all zones. */
const dateOf = (
  iso: string,
  how: Intl.DateTimeFormatOptions = iso.length > 10 ? {} : { timeZone: 'UTC' }
) =>
  new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'medium', ...how }).format(
    new Date(iso)
  )

/** A measurement that was kept, or null where there is none or it cannot be read. */
function own(): Baseline | null {
  try {
    const found: Measured = JSON.parse(stored(name) as string)
    return found.rows.every(({ kind, model, ops }) => kind && model.median > 0 && ops.length)
      ? {
          name: say('bench.own', { date: dateOf(found.when) }),
          machine: say('bench.ownFrom', {
            date: dateOf(found.when, { timeStyle: 'short' }),
            cores: found.environment.cores,
            agent: found.environment.agent
          }),
          rows: found.rows
        }
      : null
  } catch {
    return null
  }
}

/** Figures that come with the page, with their names. */
const named = ({
  browser,
  machine,
  cores,
  date,
  runs,
  rows
}: {
  browser: string
  machine: string
  cores: number
  date: string
  runs: number
  rows: BenchRow[]
}): Baseline => ({
  name: say('bench.baseline', {
    browser: browser.split('.')[0].replace('/', ' '),
    machine,
    cores
  }),
  machine: say('bench.baselineFrom', { browser, machine, cores, date: dateOf(date), runs }),
  rows
})

/** Fills the select; changed() when another is chosen. Resolves to { chosen(), keep(measured) }. */
export async function createBaselines(select: HTMLSelectElement, changed: () => void) {
  const given = (await (await fetch('bench/bench_baselines.json')).json()).map(named)
  let all: Baseline[] = []
  const fill = (chosen: number) => {
    all = [...given, own()].filter(Boolean)
    select.replaceChildren(...all.map(({ name }, i) => new Option(name, String(i))))
    select.value = String(Math.min(chosen, all.length - 1))
  }
  fill(0)
  select.addEventListener('change', changed)
  return {
    chosen: () => all[Number(select.value)],
    keep: (measured: Measured) => {
      keep(name, JSON.stringify(measured))
      fill(all.length)
      changed()
    }
  }
}
