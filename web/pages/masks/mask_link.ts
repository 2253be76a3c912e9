/* The masks of masks.html as a link: #q=4&k=6&y=single&f=half. q, k: queries and keys; y: layer;
 * s=0: keys are not the values; c=0: not causal; w=2.0: a window of 2 to the left and 0 to the
 * right; f: how masks are written; a, b, d: padded queries, values and keys, from 1; p: cells that
 * are painted shut, row by row. What is as at the start is left out, and so is what would make the
 * link 200 characters long. */
import { forms, layers } from './mask_factors.js'
import { readRuns, writeRuns } from '../shared/number_runs.js'
import type { MaskLink } from '../shared/types.js'

const firstScene = 159 // of the explorer

/**
 * The explorer with these patches of a scene hidden from every head.
 * @param patches in raster order
 */
export const explorerLink = (patches: number[], scene: number) =>
  `./#${scene === firstScene ? '' : `s=${scene}&`}v=intervene&z=${writeRuns(patches)}`

const longest = 1e4 // characters; what is longer is not read

/** What stands there at the start. */
export const start = (): MaskLink => ({
  tq: 5,
  tk: 5,
  layer: 'multi',
  shared: true,
  causal: true,
  window: null,
  form: 'boolean',
  padded: { query: [], value: [4], key: [] },
  closed: []
})

/** Numbers from 1 up to a count, as indices; nothing that is out of it. */
const indicesOf = (text: string, count: number): number[] | undefined =>
  text === ''
    ? []
    : readRuns(text, count + 1)
        ?.filter((number) => number > 0)
        .map((number) => number - 1)

const oneBased = (indices: number[]) => writeRuns(indices.map((index) => index + 1))
const written = ({
  tq,
  tk,
  layer,
  shared,
  causal,
  window,
  form,
  padded,
  closed
}: MaskLink): Record<string, string> => ({
  q: String(tq),
  k: String(tk),
  y: layer,
  s: shared ? '1' : '0',
  c: causal ? '1' : '0',
  w: window ? window.join('.') : '',
  f: form,
  a: oneBased(padded.query),
  b: oneBased(padded.value),
  d: oneBased(padded.key),
  p: oneBased(closed)
})

export function toLink(state: MaskLink) {
  const usual = written(start()),
    parts = Object.entries(written(state))
      .filter(([key, text]) => text !== usual[key])
      .map(([key, text]) => `${key}=${text}`)
  while (parts.join('&').length > 198) parts.pop()
  return parts.join('&')
}

export function fromLink(text: string): MaskLink {
  const link = new URLSearchParams(text.length > longest ? '' : text),
    state = start(),
    side = (key: string, usual: number) =>
      /^\d{1,2}$/.test(link.get(key) ?? '')
        ? Math.min(16, Math.max(1, Number(link.get(key))))
        : usual
  const oneOf = (options: object, key: string, usual: string): string =>
      Object.hasOwn(options, link.get(key) ?? '') ? (link.get(key) as string) : usual,
    window = /^(\d{1,2})\.(\d{1,2})$/.exec(link.get('w') ?? '')
  state.tq = side('q', state.tq)
  state.tk = side('k', state.tk)
  const list = (key: string, count: number, usual: number[]) =>
    indicesOf(link.get(key) ?? oneBased(usual), count) ?? usual
  return {
    ...state,
    layer: oneOf(layers, 'y', state.layer),
    shared: link.get('s') !== '0',
    causal: link.get('c') !== '0',
    window: window
      ? [Number(window[1]), Number(window[2])].map((width) => Math.min(15, width))
      : null,
    form: oneOf(forms, 'f', state.form),
    padded: {
      query: list('a', state.tq, []),
      value: list('b', state.tk, state.padded.value),
      key: list('d', state.tk, [])
    },
    closed: list('p', state.tq * state.tk, [])
  }
}
