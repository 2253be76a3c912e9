/* What measurements are compared with: the reference figures that come with the page
 * (bench_baselines.json, made by tests/bench/baselines.mjs) and those that this browser was told to
 * keep. They have the form of "Copy as JSON". */
import { keep, stored } from '../shared/page_settings.js'
/** @import {Baseline, Measured} from '../../types/pages.js' */

const name = 'bench-baseline'

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
          name: `this browser, ${found.when.slice(0, 10)}`,
          machine: `Kept here on ${found.when.slice(0, 16).replace('T', ' ')}: ${found.environment.cores} cores, ${found.environment.agent}`,
          rows: found.rows
        }
      : null
  } catch {
    return null
  }
}

/**
 * Fills the select; changed() when another is chosen. Resolves to { chosen(), keep(measured) }.
 * @param {HTMLSelectElement} select
 * @param {() => void} changed
 */
export async function createBaselines(select, changed) {
  const given = await (await fetch('bench/bench_baselines.json')).json()
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
