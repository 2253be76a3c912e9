/* The maps of a pooling attention, whose one query, the probe, is learned: SigLIP's, PE's and timm's.
 * Loaded with the first model that has one. */
import type { HeedError, Session } from 'heed'

/**
 * A row of all tokens for each head, 0 for tokens that the probe leaves out, which come first. The
 * heads are counted: they need not be as many as a layer's.
 * @param session one that has run
 */
export async function poolRows(session: Session, tokens: number) {
  const rows: Float32Array[] = []
  try {
    for (;;) {
      const weights = await session.attention({ layer: 'pool', head: rows.length }),
        row = new Float32Array(tokens)
      row.set(weights, tokens - weights.length)
      rows.push(row)
    }
  } catch (error) {
    if (!rows.length || (error as HeedError).status !== 'INVALID_ARGUMENT') throw error
  }
  return rows
}

/** The rollout of the probe: the mean map of its heads times the rollout of the tokens [N, N]. */
export function poolRollout(map: Float32Array, rollout: Float32Array) {
  const row = new Float32Array(map.length)
  map.forEach((share, token) => {
    for (let i = 0; i < row.length; i++) row[i] += share * rollout[token * row.length + i]
  })
  return row
}
