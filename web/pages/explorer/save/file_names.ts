/* What saved files are called: picture, place and what is shown, as chelsea_L3H0_q2-10_heads.png;
 * of a rollout its layers, as chelsea_L0-11_q2-10_rollout.png. */
import type { RowAt, State } from '../types.js'

/** A text as part of a file's name: letters and digits of any script, joined by hyphens. */
const plain = (text: string) =>
  text
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .slice(0, 48)
    .replace(/^-+|-+$/g, '')

/** The view that is shown, of More the one behind its tab. */
export const viewShown = ({ view, more }: Pick<State, 'view' | 'more'>) =>
  view === 'more' ? more : view

/** The name of a model's files, without its ending: what the model is called, then the picture. */
export const modelFileName = (model: string, picture: string, what: string) =>
  [
    plain(model) || 'model',
    plain(picture.replace(/\.[A-Za-z0-9]{1,5}$/, '')) || 'picture',
    what
  ].join('_')

/** The name without its ending. what: the panels or view; picture: a file's name or a scene's; at:
 * the row that is shown. */
export function fileName({
  picture,
  what,
  at: { rollout, layer, head, query, reverse, first, last }
}: {
  picture: string
  what: string
  at: Pick<RowAt, 'rollout' | 'layer' | 'head' | 'query' | 'reverse' | 'first' | 'last'>
}) {
  const place = rollout ? `L${first}-${last}` : `L${layer}H${head}`,
    token = Array.isArray(query) ? query.join('-') : query,
    asked = query === null ? 'probe' : `${reverse ? 'to' : 'q'}${token}`
  return [plain(picture.replace(/\.[A-Za-z0-9]{1,5}$/, '')) || 'picture', place, asked, what].join(
    '_'
  )
}
