/* Tokens by their names, in the language of the page. */
import { say } from '../languages/say.js'

/** A patch by its row and column; what stands before the patches is CLS. */
export function tokenName(token: number, prefixTokens: number, columns: number) {
  const patch = token - prefixTokens,
    row = Math.floor(patch / columns),
    column = patch % columns
  return patch < 0 ? 'CLS' : say('story.patch', { row, column })
}
