/* The row that the stage shows: one object says which it is, and of which run. Its weights, its
 * title and caption, and the name and numbers of its files are all made from that object, so that
 * none can be of another row. */
import { unchanged, titles } from '../state/changes.js'
import { say } from '../../languages/say.js'
/** @import {Page, PageQuery, RowAt, Runner, RunnerResult} from '../../../types/pages.js' */

/**
 * Whether its weights are made again from queries and keys, layer by layer, which takes about as
 * long as a run.
 * @param {Pick<RowAt, 'rollout'>} at
 * @param {RunnerResult} of
 */
export const isSlow = ({ rollout }, of) => rollout && !of.kept && !of.light

/**
 * Which row the state asks for of the last run. A slow one follows the chosen query, and not the
 * pointer.
 * @param {Pick<Page, 'engine' | 'store'>} page
 * @returns {RowAt}
 */
export function rowNow({ engine, store }) {
  const state = store.get(),
    { result, shape } = engine,
    { layer, head, first, last, fusion, residual, discard } = state,
    rollout = state.view === 'rollout',
    slow = isSlow({ rollout }, result)
  return {
    view: state.view,
    rollout,
    layer,
    head,
    query: layer === 'pool' && !rollout ? null : ((slow ? null : state.hover) ?? state.query),
    reverse: state.reverse && !rollout,
    score: rollout || !engine.scored(state.score, result) ? 'softmax' : state.score,
    fusion,
    residual,
    discard,
    first,
    last: last < 0 ? shape.layers - 1 : last,
    changes: result.changes ?? unchanged
  }
}

/**
 * The same row, whichever objects say it.
 * @param {RowAt} a
 * @param {RowAt} b
 */
export const isSameRow = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/**
 * What a row is of, in words: its layer and head, or the layers of a rollout, and what was changed.
 * @param {Pick<RowAt, 'rollout' | 'layer' | 'head' | 'first' | 'last' | 'changes'>} at
 */
export function placeName({ rollout, layer, head, first, last, changes }) {
  const place = rollout
    ? say('stage.rolloutLayers', { first, last })
    : say('stage.where', {
        layer: layer === 'pool' ? say('stage.pool') : say('stage.layer', { layer }),
        head: head === 'mean' ? say('keyList.meanHeads') : say('matrix.head', { head })
      })
  return `${place}${titles.changes(changes)}`
}

/**
 * The token of a row, -1: the probe of a pooling attention.
 * @param {Pick<Runner, 'token'>} engine
 * @param {{query: PageQuery | null}} at
 */
export const tokenOfRow = (engine, { query }) => (query === null ? -1 : engine.token(query))

/**
 * A row's title.
 * @param {Pick<Runner, 'token' | 'nameOf'>} engine
 * @param {Parameters<typeof placeName>[0] & {query: PageQuery | null, reverse: boolean}} at
 */
export function titleOfRow(engine, at) {
  const where = placeName(at),
    name = engine.nameOf(tokenOfRow(engine, at))
  return at.reverse ? say('stage.to', { where, name }) : say('stage.from', { where, name })
}

/**
 * A row's weights, all N of them; null where another run came meanwhile.
 * @param {Runner} engine
 * @param {RowAt} at
 * @param {RunnerResult} of
 * @returns {Promise<Float32Array | null> | Float32Array}
 */
export function weightsOfRow(engine, at, of) {
  const { rollout, layer, head, query, reverse } = at
  if (!rollout) return engine.row({ layer, head, query, reverse, of })
  const { fusion, residual, discard, first, last } = at
  return engine.rollout({
    query: /** @type {PageQuery} */ (query),
    fusion,
    residual,
    discard,
    first,
    last,
    of
  })
}
