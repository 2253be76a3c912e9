/* A case file, run by heed-check.wasm or by a module that has the cases itself. Loaded with the
 * first case. It imports nothing, so that bundlers leave the scripts that a page starts with as they
 * are. */
/** @import {CheckCase, ModuleHost, OpenModule} from '../types/library.js' */
/** @import {CheckResult, ProfileResult, Tensor} from './index.js' */

/**
 * Results of the case that runs.
 * @type {[string, Tensor][]}
 */
let taken = []

/**
 * What the module's host does with a result.
 * @param {OpenModule['memory']} memory
 * @param {Parameters<ModuleHost['take']>} result
 */
export function take(memory, [name, dtype, rank, dim, data]) {
  const shape = [...new Uint32Array(memory.bytes(dim, 4 * rank).slice().buffer)]
  taken.push([memory.string(name), memory.tensor(dtype, shape, data)])
}

/**
 * @param {OpenModule} module
 * @param {CheckCase} case
 * @returns {CheckResult | ProfileResult}
 */
export function runCase({ exports, memory, web }, { bytes, tolerance = 0, results = false }) {
  if (typeof bytes === 'string') {
    memory.lend([new TextEncoder().encode(`${bytes}\0`)], (at) =>
      memory.check(exports.check_profile(web, at, tolerance))
    )
    return JSON.parse(memory.string(exports.check_counts()))
  }
  taken = []
  memory.lend([new Uint8Array(bytes)], (at) =>
    memory.check(exports.check(web, at, bytes.byteLength, tolerance, results ? 1 : 0))
  )
  const { passed, maxAbs, maxRel, op, worst, shape } = memory.out('check')
  return {
    op: memory.string(op),
    passed: passed === 1,
    maxAbs,
    maxRel,
    worst: memory.string(worst),
    shape,
    results: Object.fromEntries(taken)
  }
}
