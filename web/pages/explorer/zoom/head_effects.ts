/* What the answer loses without each head, and which heads the head on the stage needs and moves: the
 * model runs once more for each, with that head's output set to zero, in a session beside the page's own. */
import { probabilitiesOf } from '../model/probabilities.js'
import type { Session } from 'heed'
import type { Page } from '../types.js'
import type { Facts } from './zoom_facts.js'

/* Parameters of all runs together: what is more is begun by a press. */
const atOnce = 1e8

/** Whether taking out each head takes a moment. */
export const isQuick = ({ engine: { model, shape } }: Page) =>
  (model.parameters || atOnce) * shape.layers * shape.heads < atOnce

export interface Effects {
  /** Of the class whose share is measured. */
  best: number
  whole: number
  /** The class's share without a head, [layers * heads]; NaN: not measured yet. */
  shares: Float32Array
  done: number
}

/** Why heads cannot be taken out one by one; '' where they can. */
export const canMeasure = ({ engine }: Page) => Boolean(engine.canChange && engine.result?.logits)

function sessionOf({ engine }: Page, taps: 'none' | 'rows'): Session {
  const [height, width] = engine.size ?? []
  return engine.opened.createSession({
    taps,
    intervene: {},
    ...(engine.size && { height, width })
  })
}

/** What is found while a head's output is zero. */
async function without<Found>(
  session: Session,
  { layer, head }: HeadAt,
  heads: number,
  find: () => Promise<Found>
): Promise<Found> {
  const name = `layer.${layer}.attention.gain`
  await session.write(
    name,
    Float32Array.from({ length: heads }, (_, i) => (i === head ? 0 : 1))
  )
  const found = await find()
  await session.write(name, new Float32Array(heads).fill(1))
  return found
}

/**
 * @param onStep after each head
 * @param stop ends it between two runs
 */
export async function measureHeads(
  page: Page,
  onStep: (effects: Effects) => void,
  stop: AbortSignal
): Promise<void> {
  const { engine, picture } = page,
    { layers, heads } = engine.shape,
    { fit } = engine.result,
    session = sessionOf(page, 'none'),
    shares = async () =>
      probabilitiesOf(engine, (await session.run(picture.source, { fit })).logits as Float32Array)
  try {
    const all = await shares(),
      best = all.indexOf(Math.max(...all)),
      effects: Effects = {
        best,
        whole: all[best],
        shares: new Float32Array(layers * heads).fill(Number.NaN),
        done: 0
      }
    for (let layer = layers - 1; layer >= 0; layer--)
      for (let head = 0; head < heads; head++) {
        if (stop.aborted) return
        effects.shares[layer * heads + head] = await without(
          session,
          { layer, head },
          heads,
          async () => (await shares())[best]
        )
        effects.done++
        if (!stop.aborted) onStep(effects)
      }
  } finally {
    session.close()
  }
}

export interface HeadAt {
  layer: number
  head: number
}
/** The way of what the head on the stage finds. */
export interface Path {
  at: HeadAt
  /** What it gives its target. */
  share: number
  /** The head before it without which it gives its target least, and how much that is; null: it is in the first layer. */
  before: (HeadAt & { share: number }) | null
  /** The head after it whose attention from the first token moves most without it, and the share that moves; null: it is in the last. */
  after: (HeadAt & { moved: number }) | null
}

/** Which head before the one of a row its target needs, and which one after it follows. */
export async function measurePath(
  page: Page,
  { layer, head, token, target }: Facts,
  stop: AbortSignal
): Promise<Path | null> {
  const { engine, picture } = page,
    { layers, heads } = engine.shape,
    { fit } = engine.result,
    session = sessionOf(page, 'rows'),
    run = () => session.run(picture.source, { fit }),
    row = (at: HeadAt, query: number) => session.attention({ ...at, query }),
    found = async () => {
      await run()
      const weights = await row({ layer, head }, token)
      return (target?.tokens ?? []).reduce((sum, key) => sum + weights[key], 0)
    }
  try {
    const path: Path = { at: { layer, head }, share: await found(), before: null, after: null }
    for (let l = 0; target && l < layer; l++)
      for (let h = 0; h < heads; h++) {
        if (stop.aborted) return null
        const share = await without(session, { layer: l, head: h }, heads, found)
        if (!path.before || share < path.before.share) path.before = { layer: l, head: h, share }
      }
    const later = Array.from({ length: (layers - 1 - layer) * heads }, (_, i) => ({
        layer: layer + 1 + Math.floor(i / heads),
        head: i % heads
      })),
      rows = async () => {
        await run()
        const found = []
        for (const at of later) found.push(await row(at, 0))
        return found
      }
    if (later.length && !stop.aborted) {
      const whole = await rows(),
        cut = await without(session, { layer, head }, heads, rows)
      later.forEach((at, i) => {
        const moved =
          whole[i].reduce((sum, weight, key) => sum + Math.abs(weight - cut[i][key]), 0) / 2
        if (!path.after || moved > path.after.moved) path.after = { ...at, moved }
      })
    }
    return stop.aborted ? null : path
  } finally {
    session.close()
  }
}
