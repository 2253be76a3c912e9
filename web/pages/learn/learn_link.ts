/* The numbers of Q, K and V in a link: "4x4x3_1_.5_0_…", queries x tokens x columns and then Q, K,
 * V row by row, to hundredths. */

const short = (value: number) => String(Number(value.toFixed(2))).replace(/^(-?)0\./, '$1.')
const within = (count: number, least: number, most: number) => count >= least && count <= most

export const numbersText = ({
  query,
  key,
  value
}: {
  query: number[][]
  key: number[][]
  value: number[][]
}) =>
  [
    `${query.length}x${key.length}x${key[0].length}`,
    ...[query, key, value].flat(2).map(short)
  ].join('_')

/** { query, key, value }, or null where the text is none of numbersText. */
export function numbersFrom(text: string) {
  const [sides, ...texts] = text.split('_'),
    [, queries, tokens, columns] = (/^(\d)x(\d)x(\d)$/.exec(sides) ?? []).map(Number),
    rows = queries + 2 * tokens
  if (
    !within(tokens, 1, 6) ||
    !within(columns, 2, 4) ||
    (queries !== tokens && queries !== 1) ||
    texts.length !== rows * columns
  )
    return null
  if (!texts.every((one) => /^-?\d{0,4}(\.\d{1,2})?$/.test(one) && /\d/.test(one))) return null
  const all = Array.from({ length: rows }, (_, i) =>
    texts.slice(i * columns, (i + 1) * columns).map(Number)
  )
  return {
    query: all.slice(0, queries),
    key: all.slice(queries, queries + tokens),
    value: all.slice(queries + tokens)
  }
}
