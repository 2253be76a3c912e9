/* Where tokens lie, in words: on an object, around the query, in a part of the picture. */
import { captionWords } from '../caption_words.js'
import type { CaptionOptions } from 'heed/plot'

type Weighed = { token: number; weight: number }

const near = 2, // patches from the query at most, to be around it
  mostly = 0.75 // of their weight on one object, to be on it

/** A name for each patch, of those that hold most of the weight: the one name, or undefined. */
function objectOf(patches: Weighed[], nameAt: (patch: number) => string | undefined) {
  const sums = new Map<string | undefined, number>()
  let all = 0
  for (const { token, weight } of patches) {
    const name = nameAt(token)
    sums.set(name, (sums.get(name) ?? 0) + weight)
    all += weight
  }
  const [[name, sum]] = [...sums].sort((a, b) => b[1] - a[1])
  return sum >= mostly * all ? name : undefined
}

/** The least and the largest of numbers, and how far they reach. */
const reach = (all: number[]) => {
  const [least, most] = [Math.min(...all), Math.max(...all)]
  return { least, most, length: most - least + 1 }
}

/** 0, 1 or 2: the third in which the middle lies. */
const thirdOf = ({ least, most }: { least: number; most: number }, size: number) =>
  Math.min(2, Math.floor((((least + most + 1) / 2) * 3) / size))

/**
 * Where patches lie, by their numbers.
 * @param query a patch's number; below 0: it is none
 */
export function placeOf(
  patches: Weighed[],
  { rows, columns, query }: { rows: number; columns: number; query: number },
  nameAt?: (patch: number) => string | undefined
) {
  const name = nameAt && objectOf(patches, nameAt)
  if (name) return captionWords.onObject(name)
  const down = patches.map(({ token }) => Math.floor(token / columns)),
    across = patches.map(({ token }) => token % columns),
    away = patches.map((_, i) =>
      Math.max(
        Math.abs(down[i] - Math.floor(query / columns)),
        Math.abs(across[i] - (query % columns))
      )
    )
  if (query >= 0 && Math.max(...away) <= near) return captionWords.around
  const [y, x] = [reach(down), reach(across)]
  return 2 * y.length <= rows && 2 * x.length <= columns
    ? captionWords.parts[3 * thirdOf(y, rows) + thirdOf(x, columns)]
    : captionWords.spread
}

/** What tokens are together: "CLS and 3 patches at the top left". */
export function groupName(
  tokens: Weighed[],
  { row, token, prefix, columns, objectAt }: Omit<CaptionOptions, 'where'>,
  nameOf: (token: number) => string,
  prefixName: () => string
) {
  const before = tokens.filter((one) => one.token < prefix),
    patches = tokens
      .filter((one) => one.token >= prefix)
      .map(({ token, weight }) => ({ token: token - prefix, weight })),
    first = before.length > 1 ? prefixName() : before.length ? nameOf(before[0].token) : ''
  if (!patches.length) return first
  const rows = Math.ceil((row.length - prefix) / columns),
    place = placeOf(patches, { rows, columns, query: token - prefix }, objectAt),
    said = captionWords.patches(patches.length, place)
  return first ? captionWords.together(first, said) : said
}
