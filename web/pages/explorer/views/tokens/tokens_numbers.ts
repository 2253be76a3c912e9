/* How alike the tokens are in numbers: as a table and as CSV. Loaded when asked for. */
import { likeness } from '../../model/token_similarity.js'
import { namesOf, score } from '../../controls/table_cells.js'
import { tokenTable } from '../../save/csv_lines.js'
import { say } from '../../../languages/say.js'
import type { NumberTable, Page } from '../../types.js'

/** The layer whose states are shown; the probe looks at those of the last. */
function layerOf({ store, engine }: Page) {
  const { layer } = store.get()
  return layer === 'pool' ? engine.shape.layers - 1 : layer
}

export async function table(page: Page): Promise<NumberTable> {
  const layer = layerOf(page),
    token = page.engine.token(page.store.get().query),
    { states, lengths, positions } = await likeness(page, layer, token)
  const columns = {
    ...(states && { cosine: states, length: lengths }),
    ...(positions && { 'cosine of positions': positions })
  }
  if (!states && !positions)
    return {
      title: say('tokensNumbers.tokens'),
      text: say('tokens.hiddenStatesKeptSmall'),
      columns: [],
      rows: [],
      show: score
    }
  return {
    title: say('tokensNumbers.statesAfterLayer', { layer }),
    text: say('tokensNumbers.cosineEachTokensState', { token: namesOf(page)[token] }),
    columns: ['token', ...Object.keys(columns)],
    rows: namesOf(page).map((name, at) => [
      name,
      ...Object.values(columns).map((of) => (of as number[])[at])
    ]),
    show: score
  }
}

/** What the columns are. */
export function said(page: Page) {
  const { engine, store } = page,
    layer = layerOf(page),
    token = engine.nameOf(engine.token(store.get().query))
  return engine.hasStates
    ? `${say('tokensNumbers.statesAfterLayer', { layer })}. ${say('tokensNumbers.cosineEachTokensState', { token })}`
    : say('tokensNumbers.positionsAlone', { token })
}

export async function csv(page: Page) {
  const { query } = page.store.get(),
    { states, lengths, positions } = await likeness(page, layerOf(page), page.engine.token(query))
  if (!states && !positions) throw new Error(say('tokens.hiddenStatesKeptSmall'))
  return tokenTable(page, {
    ...(states && { cosine: states, length: lengths }),
    ...(positions && { position_cosine: positions })
  } as Record<string, ArrayLike<number>>)
}
