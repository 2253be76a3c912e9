/* A table of 256 RGB for values of both signs: blue below, near white at zero, orange above; told
 * apart by all common kinds of colour vision, and equally light at equal distance from zero. */

const low = [24, 78, 160],
  middle = [244, 244, 244],
  high = [176, 84, 8]

export function divergingTable() {
  const table = new Uint8Array(768)
  for (let i = 0; i < 256; i++) {
    const t = (i - 127.5) / 127.5,
      end = t < 0 ? low : high
    for (let c = 0; c < 3; c++)
      table[i * 3 + c] = Math.round(middle[c] + (end[c] - middle[c]) * Math.abs(t))
  }
  return table
}
