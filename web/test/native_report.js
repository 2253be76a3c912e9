/* What heed run --json or heed maps --json reports, for the numbers of the page beside it. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { native } from './package.js'

/**
 * The document of all heads, with the rows and the rollout of a query. Two runs: with a query the
 * command writes its rows alone, without the statistics of all rows.
 * @param {string} folder where it writes, and where the words are from
 * @param {string} query
 * @param {string[]} words the verb, model, picture and options
 */
export function nativeReport(folder, query, ...words) {
  const report = (/** @type {string} */ name, /** @type {string[]} */ ...more) => {
      execFileSync(native, [...words, '--layer', 'all', '--json', name, ...more], { cwd: folder })
      return JSON.parse(readFileSync(join(folder, name), 'utf8'))
    },
    all = report('all.json'),
    one = report('one.json', '--query', query, '--rollout', 'rollout.png')
  for (const [i, result] of one.results.entries())
    result.heads = result.heads.map((/** @type {any} */ head, /** @type {number} */ k) => ({
      ...all.results[i].heads[k],
      ...head
    }))
  return one
}
