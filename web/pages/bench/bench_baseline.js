/* What measurements are compared with: the reference figures that come with the page
 * (bench_baselines.json, made by tests/bench/baselines.mjs) and those that this browser was told to
 * keep. They have the form of "Copy as JSON". */
import { say } from '../languages/say.js'
import { keep, stored } from '../shared/page_settings.js'
/** @import {Baseline, BenchRow, Measured} from '../../types/pages.js' */

const name = 'bench-baseline'

/**
 * A day, or a day and a time, as the page's language writes it. A day alone is the same in all zones.
 * @param {string} iso
 * @param {Intl.DateTimeFormatOptions} [how]
 */
const dateOf = (iso, how = iso.length > 10 ? {} : { timeZone: 'UTC' }) =>
  new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'medium', ...how }).format(
    new Date(iso)
  )

/**
 * A measurement that was kept, or null where there is none or it cannot be read.
 * @returns {Baseline | null}
 */
function own() {
  try {
    /** @type {Measured} */
    const found = JSON.parse(/** @type {string} */ (stored(name)))
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

/**
 * Figures that come with the page, with their names.
 * @param {{browser: string, machine: string, cores: number, date: string, runs: number, rows: BenchRow[]}} given
 * @returns {Baseline}
 */
const named = ({ browser, machine, cores, date, runs, rows }) => ({
  name: say('bench.baseline', {
    browser: browser.split('.')[0].replace('/', ' '),
    machine,
    cores
  }),
  machine: say('bench.baselineFrom', { browser, machine, cores, date: dateOf(date), runs }),
  rows
})

/**
 * Fills the select; changed() when another is chosen. Resolves to { chosen(), keep(measured) }.
 * @param {HTMLSelectElement} select
 * @param {() => void} changed
 */
export async function createBaselines(select, changed) {
  const given = (await (await fetch('bench/bench_baselines.json')).json()).map(named)
  /** @type {Baseline[]} */
  let all = []
  /** @param {number} chosen */
  const fill = (chosen) => {
    all = [...given, own()].filter(Boolean)
    select.replaceChildren(...all.map(({ name }, i) => new Option(name, String(i))))
    select.value = String(Math.min(chosen, all.length - 1))
  }
  fill(0)
  select.addEventListener('change', changed)
  return {
    chosen: () => all[Number(select.value)],
    keep: (/** @type {Measured} */ measured) => {
      keep(name, JSON.stringify(measured))
      fill(all.length)
      changed()
    }
  }
}
