/* Maps that were saved in an order of tokens that is not heed's, of an ONNX graph. */
import { say } from '../../languages/say.js'

/**
 * Maps [H, N, N] of a graph with another order of tokens, in heed's: as heed maps has it.
 * @param said where each of heed's tokens lies in the maps: "0 5 1 2 3 4"
 */
export function inOrder(attention: Float32Array[], tokens: number, said: string, name: string) {
  const order = /^\d{1,8}( \d{1,8})*$/.test(said) ? said.split(' ').map(Number) : []
  if (
    order.length !== tokens ||
    new Set(order).size !== tokens ||
    order.some((token) => token >= tokens)
  )
    throw new Error(
      say('errors.tokensWrong', {
        name,
        found: JSON.stringify(said).slice(0, 60),
        last: tokens - 1
      })
    )
  return attention.map((maps) =>
    maps.map((_, i) => {
      const column = i % tokens,
        row = ((i - column) / tokens) % tokens,
        head = i - column - row * tokens
      return maps[head + order[row] * tokens + order[column]]
    })
  )
}
