/* Pieces of the story's figure: the picture, light on its patches, lines, small maps. Units of the
 * drawing: 100 a side of the picture. */

export interface Grid {
  rows: number
  columns: number
  prefixTokens: number
}

const short = (value: number) => String(Math.round(value * 100) / 100)

/** Where a patch is. */
export const placeOf = ({ rows, columns }: Grid, patch: number) => ({
  x: ((patch % columns) * 100) / columns,
  y: (Math.floor(patch / columns) * 100) / rows,
  width: 100 / columns,
  height: 100 / rows
})

export const gridLines = ({ rows, columns }: Grid) =>
  `<path class="grid" d="${Array.from({ length: columns - 1 }, (_, i) => `M${short(((i + 1) * 100) / columns)} 0V100`).join('')}${Array.from({ length: rows - 1 }, (_, i) => `M0 ${short(((i + 1) * 100) / rows)}H100`).join('')}"/>`

/** A frame around a patch that is seen on light and dark. */
export function frame(grid: Grid, patch: number) {
  const { x, y, width, height } = placeOf(grid, patch)
  return ['edge', 'mark']
    .map(
      (name) =>
        `<rect class="${name}" x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/>`
    )
    .join('')
}

/**
 * Light where the weights are: the less a patch has, the darker it stands. It is full at four times
 * uniform, or at the largest.
 * @param weights of all tokens
 */
export function light(grid: Grid, weights: ArrayLike<number>) {
  const patches = Array.from(weights).slice(grid.prefixTokens),
    end = Math.max(4 / weights.length, ...patches)
  return patches
    .map((weight, patch) => {
      const { x, y, width, height } = placeOf(grid, patch)
      return `<rect x="${short(x)}" y="${short(y)}" width="${short(width + 0.1)}" height="${short(height + 0.1)}" opacity="${short(0.78 * (1 - Math.min(1, weight / end)))}"/>`
    })
    .join('')
}

/** Hatched patches: keys that a mask hides. */
export const hatched = (grid: Grid, patches: number[]) =>
  patches
    .map((patch) => {
      const { x, y, width, height } = placeOf(grid, patch)
      return `<path class="hidden-key" d="M${short(x)} ${short(y)}l${short(width)} ${short(height)}M${short(x + width)} ${short(y)}l${short(-width)} ${short(height)}"/>`
    })
    .join('')

/** Lines from a patch to others, as wide as their share of the largest. */
export function lines(grid: Grid, from: number, to: { patch: number; share: number }[]) {
  const middle = (patch: number) => {
      const { x, y, width, height } = placeOf(grid, patch)
      return `${short(x + width / 2)} ${short(y + height / 2)}`
    },
    largest = Math.max(...to.map(({ share }) => share))
  return to
    .map(
      ({ patch, share }) =>
        `<path class="ray" d="M${middle(from)}L${middle(patch)}" stroke-width="${short(0.4 + (2 * share) / largest)}"/>`
    )
    .join('')
}

/** Several pictures in one, `across` in a line, each with a name below. */
export function tiles(parts: { name: string; inside: string }[], across: number) {
  const down = Math.ceil(parts.length / across),
    side = Math.min((100 - 3 * (across - 1)) / across, 100 / down - 9),
    left = (100 - across * side - 3 * (across - 1)) / 2
  return parts
    .map(({ name, inside }, i) => {
      const x = left + (i % across) * (side + 3),
        y = Math.floor(i / across) * (side + 9)
      return `<svg x="${short(x)}" y="${short(y)}" width="${short(side)}" height="${short(side)}" viewBox="0 0 100 100">${inside}</svg><text x="${short(x + side / 2)}" y="${short(y + side + 5)}">${name}</text>`
    })
    .join('')
}
