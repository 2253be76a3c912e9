/* A figure as a file, which opens again. A file may say anything: every name is looked up among
 * known ones, every number is checked, and what is read is put together anew. */
import { say } from '../../languages/say.js'
import { pngUrl } from '../save/png_url.js'
import { fromHash, longestSettings, toHash } from '../state/address.js'
import { chosenHeads, fonts, panels, widths } from './figure_parts.js'
import type { Figure, FigureMap, FigureScale } from '../types.js'

const longest = 64e6, // characters of a file
  textAtMost = 4000,
  countAtMost = 1e5,
  pictureAtMost = 24e6 // characters of a picture

/** Barred scores, -Infinity, are null in the file: JSON has no such number. */
export const writeFigure = (figure: Figure) =>
  JSON.stringify({ heed_figure: 1, ...figure }, (_, value) => (value === -Infinity ? null : value))

function expect(right: unknown, where: string, found: unknown, expected: string) {
  if (right) return
  const said = (
    typeof found === 'object' && found !== null
      ? Array.isArray(found)
        ? say('figure.aList', { count: found.length })
        : say('figure.anObject')
      : String(typeof found === 'string' ? `“${found}”` : found)
  ).slice(0, 60)
  throw new Error(say('figure.unreadable', { where, found: said, expected }))
}

function object(value: any, where: string) {
  expect(
    typeof value === 'object' && value !== null && !Array.isArray(value),
    where,
    value,
    say('figure.anObject')
  )
  return value
}
function text(value: any, where: string, most = textAtMost): string {
  expect(
    typeof value === 'string' && value.length <= most,
    where,
    value,
    say('offers.text', { most })
  )
  return value
}
function number(value: any, where: string, least: number = -1e30, most: number = 1e30): number {
  expect(
    typeof value === 'number' && value >= least && value <= most,
    where,
    value,
    say('figure.aNumber', { least, most })
  )
  return value
}
function count(value: any, where: string, least = 0, most = countAtMost): number {
  expect(
    Number.isInteger(value) && value >= least && value <= most,
    where,
    value,
    say('figure.aCount', { least, most })
  )
  return value
}
function truth(value: any, where: string): boolean {
  expect(typeof value === 'boolean', where, value, say('figure.aTruth'))
  return value
}
function oneOf<Name extends string>(value: any, where: string, known: Record<Name, unknown>): Name {
  expect(
    typeof value === 'string' && Object.hasOwn(known, value),
    where,
    value,
    say('figure.oneOf', { names: Object.keys(known).join(', ') })
  )
  return value
}
function list<Read>(
  value: any,
  where: string,
  read: (value: any, where: string) => Read,
  { least = 0, most = countAtMost }: { least?: number; most?: number } = {}
): Read[] {
  expect(
    Array.isArray(value) && value.length >= least && value.length <= most,
    where,
    value,
    least === most ? say('figure.aList', { count: least }) : say('figure.aListTo', { least, most })
  )
  return value.map((one: any, i: number) => read(one, `${where}, ${i}`))
}

/** Weights, scores or differences; null is -Infinity. */
const numbers = (value: any, where: string, length: number) =>
  list(value, where, (one, at) => (one === null ? -Infinity : number(one, at)), {
    least: length,
    most: length
  })

const scaleKinds = { uniform: 0, share: 0, log: 0, own: 0, all: 0, signed: 0, plain: 0 }

function scale(value: any, where: string): FigureScale {
  const { kind, label, end, largest } = object(value, where)
  return {
    kind: oneOf(kind, `${where}, kind`, scaleKinds),
    label: text(label, `${where}, label`, 200),
    end: number(end, `${where}, end`, 1e-12),
    largest: number(largest, `${where}, largest`, 0)
  }
}

function png(value: any, where: string) {
  expect(
    typeof value === 'string' && value.length <= pictureAtMost && pngUrl.test(value),
    where,
    value,
    say('figure.aPng')
  )
  return value
}

/** Settings as in a link, but what no link may say. */
const hash = (value: any, where: string) =>
  toHash(fromHash(text(value, where, longestSettings), longestSettings), Infinity) || '#'

function map(value: any, where: string, length: number): FigureMap {
  const { title, values, scale: of, mask, note, png: picture, settings } = object(value, where)
  return {
    title: text(title, `${where}, title`),
    values: numbers(values, `${where}, values`, length),
    scale: scale(of, `${where}, scale`),
    ...(mask === undefined
      ? {}
      : {
          mask: list(mask, `${where}, mask`, (one, at) => count(one, at, 0, 1), {
            least: length,
            most: length
          })
        }),
    ...(note === undefined ? {} : { note: text(note, `${where}, note`) }),
    ...(picture === undefined ? {} : { png: png(picture, `${where}, png`) }),
    ...(settings === undefined ? {} : { settings: hash(settings, `${where}, settings`) })
  }
}

function readLook(value: any): Figure['look'] {
  const { panels: shown, width, font, dark, letters, heads, over, titles } = object(value, 'look')
  return {
    panels: list(shown, 'look, panels', (one, at) => oneOf(one, at, panels), { most: 7 }),
    width: number(width, 'look, width', widths.least, widths.most),
    font: oneOf(font, 'look, font', fonts),
    dark: truth(dark, 'look, dark'),
    letters: truth(letters, 'look, letters'),
    heads: text(heads, 'look, heads', 400),
    ...(over === undefined ? {} : { over: truth(over, 'look, over') }),
    ...(titles === undefined
      ? {}
      : {
          titles: Object.fromEntries(
            Object.entries(object(titles, 'look, titles')).map(([name, title]) => [
              oneOf(name, 'look, titles', panels),
              text(title, `look, titles, ${name}`, 400)
            ])
          )
        })
  }
}

function readGrid(value: any): Figure['grid'] {
  const { rows, columns, tokens, names } = object(value, 'grid'),
    grid = {
      rows: count(rows, 'grid, rows', 1, 1000),
      columns: count(columns, 'grid, columns', 1, 1000),
      tokens: count(tokens, 'grid, tokens', 1),
      names: list(names, 'grid, names', (one, at) => text(one, at, 40), { most: 64 })
    },
    all = grid.names.length + grid.rows * grid.columns
  expect(grid.tokens === all, 'grid, tokens', tokens, say('figure.tokens', { all }))
  return grid
}

/** Where it is from; of the settings what a link may say. */
function readFrom(value: any): Figure['from'] {
  const from = object(value, 'from'),
    at = (name: string) => `from, ${name}`,
    sums = from.weights_sha256 ?? null
  if (sums !== null) object(sums, at('weights_sha256'))
  return {
    heed: text(from.heed, at('heed'), 40),
    model: text(from.model, at('model'), 200),
    layers: count(from.layers, at('layers'), 1, 1000),
    heads: count(from.heads, at('heads'), 1, 1000),
    parameters: from.parameters === null ? null : number(from.parameters, at('parameters'), 0),
    weights_sha256:
      sums &&
      Object.fromEntries(
        Object.entries(sums)
          .slice(0, 100)
          .map(([name, sum]) => [
            text(name, at('weights_sha256'), 400),
            sum === null ? null : text(sum, at('weights_sha256'), 64)
          ])
      ),
    picture: text(from.picture, at('picture'), 400),
    settings: hash(from.settings, at('settings')),
    device: text(from.device, at('device'), 400),
    ...(from.fit === 'whole' ? { fit: 'whole' } : {}),
    ...(from.changes === undefined
      ? {}
      : { changes: text(from.changes, at('changes'), longestSettings) })
  }
}

function readParts(value: any, { rows, columns, tokens }: Figure['grid']): Figure['parts'] {
  const parts = object(value, 'parts'),
    patches = rows * columns,
    read: Figure['parts'] = { picture: png(parts.picture, 'parts, picture') }
  if (parts.map !== undefined) read.map = map(parts.map, 'parts, map', patches)
  if (parts.rollout !== undefined) read.rollout = map(parts.rollout, 'parts, rollout', patches)
  if (parts.matrix !== undefined) read.matrix = map(parts.matrix, 'parts, matrix', tokens * tokens)
  if (parts.heads !== undefined) {
    const { title, maps, scale: of } = object(parts.heads, 'parts, heads')
    read.heads = {
      title: text(title, 'parts, heads, title'),
      scale: scale(of, 'parts, heads, scale'),
      maps: list(
        maps,
        'parts, heads, maps',
        (one, at) => {
          const { layer, head, values } = object(one, at)
          return {
            layer: layer === 'pool' ? layer : count(layer, `${at}, layer`, 0, 1000),
            head: count(head, `${at}, head`, 0, 1000),
            values: numbers(values, `${at}, values`, patches)
          }
        },
        { least: 1, most: 1e4 }
      )
    }
  }
  if (parts.statistics !== undefined) {
    const where = 'parts, statistics',
      { title, labels, points, uniform } = object(parts.statistics, where),
      pair = (of: any, at: string) => ({
        x: number(object(of, at).x, `${at}, x`, 0),
        y: number(of.y, `${at}, y`, 0)
      })
    read.statistics = {
      title: text(title, `${where}, title`),
      labels: {
        x: text(object(labels, `${where}, labels`).x, `${where}, labels`, 200),
        y: text(labels.y, `${where}, labels`, 200)
      },
      points: list(
        points,
        `${where}, points`,
        (one, at) => ({
          layer: count(object(one, at).layer, `${at}, layer`, 0, 1000),
          head: count(one.head, `${at}, head`, 0, 1000),
          ...pair(one, at)
        }),
        { least: 1, most: 1e4 }
      ),
      uniform: pair(uniform, `${where}, uniform`)
    }
  }
  if (parts.comparison !== undefined) {
    const { a, b, less, facts } = object(parts.comparison, 'parts, comparison')
    read.comparison = {
      a: map(a, 'parts, comparison, a', patches),
      b: map(b, 'parts, comparison, b', patches),
      less: map(less, 'parts, comparison, less', patches),
      facts: text(facts, 'parts, comparison, facts')
    }
  }
  return read
}

/** Names that reach an object's prototype are refused wherever they stand. */
function named(key: string, value: unknown) {
  expect(
    !['__proto__', 'constructor', 'prototype'].includes(key),
    key,
    say('figure.thisName'),
    say('figure.nameOfFigure')
  )
  return value
}

/** The figure in a text; throws a sentence that says what cannot be read. name: of the file. */
export function readFigure(json: string, name: string): Figure {
  try {
    expect(
      json.length <= longest,
      say('figure.theFile'),
      say('figure.characters', { count: json.length }),
      say('figure.atMost', { most: longest })
    )
    const file = object(JSON.parse(json, named), say('figure.theFile'))
    expect(file.heed_figure === 1, 'heed_figure', file.heed_figure, '1')
    const look = readLook(file.look),
      grid = readGrid(file.grid),
      parts = readParts(file.parts, grid)
    if (parts.heads) chosenHeads(look.heads, parts.heads.maps)
    return {
      look,
      from: readFrom(file.from),
      grid,
      title: text(file.title, 'title'),
      caption: text(file.caption, 'caption'),
      parts
    }
  } catch (error) {
    const { message } = error as Error,
      known = !(error instanceof SyntaxError)
    throw new Error(
      known
        ? say('figure.saveAgain', { name, why: message.replace(/[.。]$/, '') })
        : say('figure.noJson', { name, why: message })
    )
  }
}
