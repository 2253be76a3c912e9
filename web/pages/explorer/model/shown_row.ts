/* The row that the stage shows: one object says which it is, and of which run. Its weights, its
 * title and caption, and the name and numbers of its files are all made from that object, so that
 * none can be of another row. */
import { unchanged, titles } from '../../shared/changes.js'
import { say } from '../../languages/say.js'
import type { Page, RowAt } from '../types.js'
import type { PageQuery, RunnerResult } from '../../shared/types.js'
import type { Runner } from '../../shared/model_runner.js'

/** Whether its weights are made again from queries and keys, layer by layer, which takes about as
 * long as a run. */
export const isSlow = ({ rollout }: Pick<RowAt, 'rollout'>, of: RunnerResult) =>
  rollout && !of.kept && !of.light

/** Which row the state asks for of the last run. A slow one follows the chosen query, and not the
 * pointer. */
export function rowNow({ engine, store }: Pick<Page, 'engine' | 'store'>): RowAt {
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

/** The same row, whichever objects say it. */
export const isSameRow = (a: RowAt, b: RowAt) => JSON.stringify(a) === JSON.stringify(b)

/** What a row is of, in words: its layer and head, or the layers of a rollout, and what was changed. */
export function placeName({
  rollout,
  layer,
  head,
  first,
  last,
  changes
}: Pick<RowAt, 'rollout' | 'layer' | 'head' | 'first' | 'last' | 'changes'>) {
  const place = rollout
    ? say('stage.rolloutLayers', { first, last })
    : say('stage.where', {
        layer: layer === 'pool' ? say('stage.pool') : say('stage.layer', { layer }),
        head: head === 'mean' ? say('keyList.meanHeads') : say('matrix.head', { head })
      })
  return `${place}${titles.changes(changes)}`
}

/** The token of a row, -1: the probe of a pooling attention. */
export const tokenOfRow = (
  engine: Pick<Runner, 'token'>,
  { query }: { query: PageQuery | null }
) => (query === null ? -1 : engine.token(query))

/** A row's title. */
export function titleOfRow(
  engine: Pick<Runner, 'token' | 'nameOf'>,
  at: Parameters<typeof placeName>[0] & { query: PageQuery | null; reverse: boolean }
) {
  const where = placeName({ ...at, changes: unchanged }), // what was changed comes last, where a narrow title may be cut
    name = engine.nameOf(tokenOfRow(engine, at))
  return `${at.reverse ? say('stage.to', { where, name }) : say('stage.from', { where, name })}${titles.changes(at.changes)}`
}

/**
 * A row's weights, all N of them; null where another run came meanwhile.
 * @param work of a slow one: who is told of its layers, and what ends it
 */
export function weightsOfRow(
  engine: Runner,
  at: RowAt,
  of: RunnerResult,
  work: Pick<Parameters<Runner['rollout']>[0], 'told' | 'signal'> = {}
): Promise<Float32Array | null> | Float32Array {
  const { rollout, layer, head, query, reverse } = at
  if (!rollout) return engine.row({ layer, head, query, reverse, of })
  const { fusion, residual, discard, first, last } = at
  return engine.rollout({
    query: query as PageQuery,
    fusion,
    residual,
    discard,
    first,
    last,
    of,
    ...work
  })
}
