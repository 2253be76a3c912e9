/* The outline of a set of patches as an SVG path in units of one patch: the edges between a patch
 * inside and one outside. */

export function outline(inside: ArrayLike<unknown>, rows: number, columns: number) {
  const at = (r: number, c: number) =>
    r >= 0 && r < rows && c >= 0 && c < columns && inside[r * columns + c] ? 1 : 0
  let path = ''
  for (let r = 0; r <= rows; r++)
    for (let c = 0; c < columns; c++)
      if (at(r - 1, c) !== at(r, c)) {
        const from = c
        while (c + 1 < columns && at(r - 1, c + 1) !== at(r, c + 1)) c++
        path += `M${from} ${r}H${c + 1}`
      }
  for (let c = 0; c <= columns; c++)
    for (let r = 0; r < rows; r++)
      if (at(r, c - 1) !== at(r, c)) {
        const from = r
        while (r + 1 < rows && at(r + 1, c - 1) !== at(r + 1, c)) r++
        path += `M${c} ${from}V${r + 1}`
      }
  return path
}
