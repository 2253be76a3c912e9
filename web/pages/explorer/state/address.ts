/* The state in the URL's hash, short and readable: #s=159&l=3&h=0&q=2.10. Only what differs from
 * the defaults is written; a changed scene is in `objects` (scene_code.js); a picture or model of one's own is on one's own machine and in no
 * link. Fetched with a link, or with the first choice. */
import { defaults } from './defaults.js'
import { views } from '../views/view_list.js'
import { stopNames } from '../zoom/stops.js'
import { readRuns, writeRuns } from '../../shared/number_runs.js'
import type { PageQuery } from '../../shared/types.js'
import type { State } from '../types.js'

/* Characters: what is longer is not read. This page writes links of 200 at most and a changed scene, and all that is
 * changed into session files. */
const longestLink = 1e4
export const longestSettings = 1e6
const patchesMost = 1e4 // more than any model has whose attention can be changed here

const whole = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined)
const share =
  (least: number, most: number): ((text: string) => number | undefined) =>
  (text: any) =>
    /^[01](\.\d{1,3})?$/.test(text) && text >= least && text <= most ? Number(text) : undefined
const oneOf =
  (...names: string[]): ((text: string) => string | undefined) =>
  (text) =>
    names.includes(text) ? text : undefined

const parseQuery = (text: string): PageQuery | undefined => {
  const [, row, column] = /^(\d{1,3})\.(\d{1,3})$/.exec(text) ?? []
  if (row !== undefined) return [Number(row), Number(column)]
  return text === 'cls' ? text : /^[1-9]\d?$/.test(text) ? Number(text) : undefined
}

const parseSize = (text: string) =>
  /^[1-9]\d{0,3}\.[1-9]\d{0,3}$/.test(text) ? text.split('.').map(Number) : undefined

const filterText = (text: string) =>
  text.length <= 60 && /^[\w\s.,<>=%-]*$/.test(text) ? text : undefined

/** Each once, without zeros before its numbers. */
const listOf =
  (entry: RegExp): ((text: string) => string[] | undefined) =>
  (text) => {
    const entries = text.split('_')
    return entries.every((one) => entry.test(one))
      ? [...new Set(entries.map((one) => one.split('.').map(Number).join('.')))]
      : undefined
  }
const pairs = listOf(/^\d{1,4}\.\d{1,4}$/)

/* Times uniform. @param {string} text */
const lockedEnd = (text: string) =>
  /^\d{1,5}(\.\d{1,2})?$/.test(text) && Number(text) >= 1 ? Number(text) : undefined

const temperature = (text: string) =>
  /^\d(\.\d{1,2})?$/.test(text) && Number(text) > 0 ? Number(text) : undefined

export const keys: Record<string, [name: keyof State, read: (text: string) => any]> = {
  s: ['scene', whole],
  objects: ['objects', (text: string) => text], // read where it is opened, which says what is wrong
  l: ['layer', (text: string) => (text === 'pool' ? text : whole(text))],
  h: ['head', (text: string) => (text === 'mean' ? 'mean' : whole(text))],
  q: ['query', parseQuery],
  v: ['view', oneOf(...Object.keys(views))],
  o: ['style', oneOf('colour', 'spotlight', 'contour', 'mass')],
  n: ['scale', oneOf('uniform', 'share', 'log', 'own', 'all')],
  end: ['end', lockedEnd],
  c: ['colours', oneOf('cividis', 'viridis', 'magma', 'inferno', 'grey')],
  a: ['strength', share(0, 1)],
  r: ['reverse', (text: string) => text === '1'],
  f: ['fusion', oneOf('mean', 'min', 'max')],
  i: ['first', whole],
  j: ['last', whole],
  e: ['residual', share(0.05, 0.95)],
  p: ['score', oneOf('softmax', 'masked', 'scaled', 'raw', 'value')],
  t: [
    'sort',
    oneOf('entropy', 'distance', 'distance-patches', 'cls', 'self', 'top5', 'cls-entropy')
  ],
  d: ['descending', (text: string) => text === '1'],
  w: ['filter', filterText],
  x: ['off', pairs],
  y: ['how', oneOf('zero', 'mean', 'uniform')],
  k: ['temperature', temperature],
  g: ['discard', share(0, 0.95)],
  b: ['gains', listOf(/^\d{1,3}\.\d{1,3}\.\d{1,2}$/)],
  m: ['fit', oneOf('model', 'whole')],
  size: ['size', parseSize],
  stage: ['stage', whole],
  z: ['dropped', (text: string) => readRuns(text, patchesMost)],
  u: ['cuts', pairs],
  more: [
    'more',
    oneOf(
      ...['classMap', 'causes', 'features', 'patching'],
      ...['lines', 'pair', 'lens', 'occlusion', 'ablation', 'groups', 'region', 'frames']
    )
  ],
  target: ['target', (text: string) => (/^\d{1,7}(-\d{1,7})?$/.test(text) ? text : undefined)],
  other: ['other', whole],
  zoom: ['zoom', oneOf(...stopNames)],
  tour: ['tour', (text: string) => (/^[1-4]$/.test(text) ? Number(text) : undefined)]
}

export const write = (value: unknown, name: string): string =>
  name === 'dropped'
    ? writeRuns(value as number[])
    : value === true
      ? '1'
      : !Array.isArray(value)
        ? String(value)
        : value.join(typeof value[0] === 'string' ? '_' : '.')

/** What would make it longer than `longest` and the code of a changed scene is left out, the last
 * first: many heads, patches or pairs are in a session file alone. */
export function toHash(state: Partial<State>, longest = 199) {
  const parts = Object.entries(keys)
    .filter(
      ([, [name]]) =>
        state[name] !== undefined &&
        state[name] !== null &&
        write(state[name], name as string) !==
          write((defaults as Partial<State>)[name], name as string)
    )
    .map(
      ([key, [name]]) =>
        `${key}=${name === 'filter' ? encodeURIComponent(state[name] as string | number | boolean) : write(state[name], name as string)}`
    )
  while (parts.join('&').length + 1 > longest + (state.objects?.length ?? 0)) parts.pop()
  return parts.length ? `#${parts.join('&')}` : ''
}

/** What a hash says, over the defaults; what cannot be read is left out, and so is all of one that
 * is too long. */
export function fromHash(hash: string, longest = longestLink): State {
  const state = { ...defaults } as any // State, but for what is not in a link
  if (hash.length > longest) return state
  for (const [key, text] of new URLSearchParams(hash.replace(/^#/, ''))) {
    const value = Object.hasOwn(keys, key) ? keys[key][1](text) : undefined
    if (value !== undefined) state[keys[key][0]] = value
  }
  return state
}

/** The address of a state. Without a hash the page opens with the zoom, so the plain page names its view. */
export const addressOf = (state: State) => {
  const hash = toHash(state)
  return hash === `#zoom=${stopNames[0]}` ? '' : hash || `#v=${defaults.view}`
}

/** What an address says: without a hash, the zoom. */
export const stateOf = (hash: string): State =>
  hash ? fromHash(hash) : { ...fromHash(''), zoom: stopNames[0] }
