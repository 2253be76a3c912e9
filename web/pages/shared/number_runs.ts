/* Whole numbers in a link, as runs: 3, 10, 11, 12, 13 as "3_10-13". */

export function writeRuns(numbers: number[]) {
  const parts: number[][] = []
  for (const number of [...numbers].sort((a, b) => a - b)) {
    if (parts.at(-1)?.[1] === number - 1) (parts.at(-1) as number[])[1] = number
    else parts.push([number, number])
  }
  return parts.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join('_')
}

/** The numbers below `end`, each once and in order; undefined where the text cannot be read.
 * Whatever the runs overlap, it takes as long as the text and `end` say: only where runs begin and
 * end is noted. */
export function readRuns(text: string, end: number) {
  const edges = new Int32Array(end + 1)
  for (const run of text.split('_')) {
    if (!/^\d{1,4}(-\d{1,4})?$/.test(run)) return undefined
    const [first, last = first] = run.split('-').map(Number)
    if (first >= end || last < first) continue
    edges[first]++
    edges[Math.min(last + 1, end)]--
  }
  let open = 0
  return Array.from(edges.keys()).filter((i) => (open += edges[i]) > 0)
}
