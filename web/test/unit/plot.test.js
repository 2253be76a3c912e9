/* Plots are pure: an example each, its result written out. Tables here are grey: entry i is (i, i,
 * i). */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { loadPage, plot } from '../package.js'
/** @import {ScaleKind} from 'heed/plot' */

/** @type {typeof import('../../plot/parts/svg_text.js')} */
const { sans, wrap } = await loadPage('plot/parts/svg_text.js')

const {
  caption,
  countScores,
  divergingTable,
  elsewhere,
  figure,
  gridScale,
  heads,
  heat,
  histogram,
  makeScale,
  outline,
  overlay,
  percent,
  plainScale,
  scatter,
  scoreCaption,
  signedScale,
  strip,
  ticksThatFit,
  times,
  tokenName,
  topOf
} = plot

const table = Uint8Array.from({ length: 768 }, (_, i) => Math.floor(i / 3))
const weights = Float32Array.of(0, 0.125, 0.5, 0.25),
  tokens = 8
const uniform = makeScale('uniform', { tokens, largest: 0.5 })
/** @param {import('heed/plot').Raster} options */
const reds = ({ data, width, height }) =>
  Array.from({ length: width * height }, (_, i) => (data[i * 4 + 3] ? data[i * 4] : '.')).join(' ')
/** @param {import('heed/plot').Raster} options */
const alphas = ({ data }) =>
  Array.from({ length: data.length / 4 }, (_, i) => data[i * 4 + 3]).join(' ')

test('scales say their ends and put weights between them', () => {
  assert.deepEqual(
    uniform.ticks.map(({ text }) => text),
    ['0', '1', '2', '3', '4']
  )
  assert.deepEqual(
    [0, 0.25, 0.5].map((weight) => uniform.position(weight)),
    [0, 0.5, 1]
  )
  const log = makeScale('log', { tokens: 100, largest: 1 })
  assert.deepEqual(
    log.ticks.map(({ text }) => text),
    ['0.01', '0.1', '1', '10', '100']
  )
  assert.deepEqual(
    [0, 0.0001, 0.01, 1].map((weight) => Math.round(log.position(weight) * 1e6) / 1e6),
    [0, 0, 0.5, 1]
  )
  assert.equal(
    /** @type {any} */ (makeScale('share', { tokens, largest: 0.5 }).ticks.at(-1)).text,
    '50 %'
  )
  assert.equal(makeScale('own', { tokens, largest: 0.5 }).position(0.1, 0.2), 0.5)
  const all = makeScale('all', { tokens, largest: 0.5 })
  assert.deepEqual(
    [all.kind, all.label, /** @type {any} */ (all.ticks.at(-1)).text, all.position(0.25, 0.3)],
    ['all', '× uniform, to all heads’ largest', '4', 0.5]
  )
  for (const kind of ['uniform', 'share', 'log', 'own', 'all'])
    assert.ok(
      makeScale(/** @type {ScaleKind} */ (kind), { tokens, largest: 0 }).position(0, 0) >= 0
    )
})

const cases = JSON.parse(
  readFileSync(new URL('../../../tests/vectors/scale/cases.json', import.meta.url))
)
/**
 * @param {number} found
 * @param {number} expected
 * @param {string | number} what
 */
const near = (found, expected, what) =>
  assert.ok(
    Math.abs(found - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
    `${what}: ${found}, expected ${expected}`
  )

for (const {
  about,
  kind,
  tokens,
  largest,
  end,
  own,
  positions,
  length,
  label,
  locked,
  ticks
} of cases.scales)
  test(`scale: ${about}`, () => {
    const scale = makeScale(kind, {
      tokens,
      largest,
      length,
      label,
      locked,
      beyond: locked ? largest : 0
    })
    near(scale.top, end, 'end')
    for (const [weight, at] of positions) near(scale.position(weight, own), at, `weight ${weight}`)
    assert.deepEqual(
      scale.ticks.map(({ text }) => text),
      ticks.map((/** @type {any} */ [, text]) => text)
    )
    ticks.forEach((/** @type {any} */ [at, text], /** @type {any} */ i) =>
      near(scale.ticks[i].at, at, text)
    )
  })

for (const { about, tokens, maps, group, locked, kind, end } of cases.grids)
  test(`scale of a grid: ${about}`, () => {
    const all = maps.flatMap((/** @type {any} */ [count, largest]) =>
        new Array(count).fill(largest)
      ),
      largests = group
        ? Array.from({ length: Math.ceil(all.length / group) }, (_, i) =>
            all.slice(i * group, (i + 1) * group)
          )
        : all,
      scale = gridScale('uniform', { tokens, largests, locked })
    assert.equal(scale.kind, kind)
    near(scale.top, end, 'end')
    for (const asked of ['share', 'log', 'own', 'all'])
      assert.equal(
        gridScale(/** @type {ScaleKind} */ (asked), { tokens, largests, locked }).kind,
        asked
      )
  })

test('a locked scale ends where it was locked, whatever is largest: from once uniform to all of the row', () => {
  for (const largest of [0, 3.77e-7, 0.02, 1, NaN, Infinity])
    for (const kind of /** @type {const} */ (['uniform', 'share', 'log'])) {
      const scale = makeScale(kind, { tokens: 197, largest, locked: 0.1, beyond: largest })
      near(scale.end, 0.1, largest)
      near(scale.position(0.1), 1, largest)
      assert.equal(scale.ticks.at(-1)?.text.startsWith('≥'), largest > 0.1, `${largest}`)
      assert.equal(
        gridScale(kind, { tokens: 197, largests: [largest], locked: 0.1 }).end.toFixed(9),
        '0.100000000'
      )
    }
  near(makeScale('uniform', { tokens: 197, largest: 1, locked: 1e-9 }).top, 1, 'least')
  near(makeScale('uniform', { tokens: 197, largest: 0, locked: 7 }).top, 197, 'most')
})

test('a scale ends at what is finite, and says what is beyond its end', () => {
  for (const largest of [NaN, Infinity, -1])
    near(makeScale('uniform', { tokens: 197, largest }).top, 4, largest)
  const { ticks } = gridScale('uniform', { tokens: 100, largests: [0.5, 0.1, 0.2], to: 0.2 })
  assert.equal(/** @type {any} */ (ticks.at(-1)).text, '≥ 20')
  assert.equal(
    /** @type {any} */ (
      gridScale('uniform', { tokens: 100, largests: [0.001, 0.002], to: 0.001 }).ticks.at(-1)
    ).text,
    '4'
  )
  assert.equal(
    /** @type {any} */ (
      gridScale('log', { tokens: 100, largests: [0.5, 0.2], to: 0.2 }).ticks.at(-1)
    ).text,
    '≥ 20'
  )
})

test('labels of ticks never meet, whatever the bar is long', () => {
  for (const largest of [1e-9, 0.0000742, 0.041, 3.7, 12, 99.4, 123456])
    for (const scale of [
      plainScale('', largest),
      signedScale('', largest),
      makeScale('log', { tokens: 4096, largest: Math.min(1, largest) })
    ])
      for (const length of [4, 12, 20, 40]) {
        const kept = ticksThatFit(scale.ticks, length)
        assert.equal(kept.at(-1), scale.ticks.at(-1))
        kept.slice(1).reduce(
          (before, { at, text }) => {
            const from = at === 1 ? length - text.length : at * length - text.length / 2
            assert.ok(from > before, `${length}: ${kept.map(({ text }) => text)}`)
            return from + text.length
          },
          kept.length > 1 ? kept[0].text.length : -Infinity
        )
      }
})

test('numbers that are no shares have a scale from 0, with words of their own', () => {
  const scale = plainScale('weight × |v|', 3)
  assert.deepEqual(
    [
      scale.label,
      scale.ticks[0].text,
      /** @type {any} */ (scale.ticks.at(-1)).text,
      scale.position(1.5)
    ],
    ['weight × |v|', '0', '3', 0.5]
  )
})

test('heat: a pixel a weight', () =>
  assert.equal(reds(heat({ weights, rows: 2, columns: 2, scale: uniform, table })), '0 64 255 128'))

test('strip: a pixel a weight, or the one that stands out most', () => {
  assert.equal(reds(strip({ weights, scale: uniform, table })), '0 64 255 128')
  assert.equal(reds(strip({ weights, width: 2, scale: uniform, table })), '64 255')
  const scores = strip({
    weights: Float32Array.of(1, -4, -Infinity, -Infinity),
    width: 2,
    scale: signedScale('q·k', 4),
    table
  })
  assert.deepEqual([reds(scores), scores.width, scores.height], ['0 128', 2, 1])
})

test('heads: layers down, heads across, a gap after each', () =>
  assert.equal(
    reds(heads({ maps: [[weights, weights]], rows: 2, columns: 2, scale: uniform, table })),
    '0 64 . 0 64 . 255 128 . 255 128 . . . . . . .'
  ))

test('histogram: bars of the scores, the curve of the softmax, what is barred left out', () => {
  const found = countScores([-1, -1, 0, 1, -Infinity])
  assert.deepEqual(
    [
      /** @type {any} */ (found).low,
      /** @type {any} */ (found).high,
      /** @type {any} */ (found).counts[0],
      /** @type {any} */ (found).counts[16],
      /** @type {any} */ (found).counts[31],
      /** @type {number[]} */ (/** @type {any} */ (found).counts).reduce((a, b) => a + b)
    ],
    [-1, 1, 2, 1, 1, 4]
  )
  const drawing = histogram({ scores: [-1, -1, 0, 1], largest: 'up to 60 %' })
  assert.match(
    drawing,
    /<path class="bars" d="M4\.0 66v-54\.0h6\.3v54\.0zM120\.0 66v-27\.0h6\.3v27\.0zM228\.8 66v-27\.0h6\.3v27\.0z"\/>/
  )
  assert.match(drawing, /class="line" d="M4\.0 58\.7L.*L236\.0 12\.0"/)
  for (const text of ['2 tokens', 'up to 60 %', '−1.00', '1.00'])
    assert.ok(drawing.includes(`>${text}</text>`), text)
  assert.equal(histogram({ scores: [-Infinity], largest: '' }), '')
})

test('outline: edges between inside and outside, joined', () => {
  assert.equal(outline([1, 1, 0, 0], 2, 2), 'M0 0H2M0 1H2M0 0V1M2 0V1')
  assert.equal(outline([0, 0, 0, 0], 2, 2), '')
})

test('overlay: four styles', () => {
  /** @param {string} style */
  const draw = (style) =>
    overlay({
      weights,
      rows: 2,
      columns: 2,
      scale: uniform,
      table,
      style: /** @type {any} */ (style),
      strength: 1,
      mask: [0, 0, 1, 1]
    })
  assert.equal(reds(draw('colour').raster), '. 64 255 128')
  assert.equal(alphas(draw('colour').raster), '0 64 255 128')
  assert.equal(alphas(draw('spotlight').raster), '255 191 0 128')
  assert.equal(alphas(draw('contour').raster), '0 0 0 0')
  assert.equal(alphas(draw('mass').raster), '204 204 0 0')
  assert.equal(draw('mass').path, outline([0, 0, 1, 1], 2, 2))
})

for (const { about, kind, tokens, largest, locked, weights, rgba } of cases.overlays)
  test(`overlay: ${about}`, () => {
    const { raster } = overlay({
      weights: weights.map((/** @type {number | null} */ weight) => weight ?? NaN),
      rows: 1,
      columns: weights.length,
      scale: makeScale(kind, { tokens, largest, locked }),
      table
    })
    assert.deepEqual([...raster.data], rgba.flat())
  })

test('captions name the place of the patches that hold half', () => {
  const columns = 12,
    /** @type {(held: [number, number][], more?: object) => string} */
    said = (held, more = {}) => {
      const row = new Float32Array(1 + columns * columns)
      for (const [y, x] of held) row[1 + y * columns + x] = 1 / held.length
      const words = caption({ row, where: 'X', token: 1, prefix: 1, columns, ...more })
      return /** @type {RegExpExecArray} */ (/attention to (.+), most/.exec(words))[1]
    },
    two = (/** @type {number} */ y, /** @type {number} */ x) =>
      said([0, 1, 2, 3].map((i) => [y, x + i]))
  assert.equal(two(10, 8), '2 patches at the bottom right')
  assert.equal(two(5, 4), '2 patches in the middle')
  assert.equal(two(0, 5), '2 patches at the top')
  assert.equal(two(0, 0), '2 patches around it')
  assert.equal(two(5, 0), '2 patches at the left')
  assert.equal(
    said([
      [0, 11],
      [11, 0],
      [0, 0],
      [11, 11]
    ]),
    '2 patches in several places'
  )
  const objectAt = (/** @type {number} */ patch) => (patch % columns < 6 ? 'the star' : undefined)
  assert.equal(
    said(
      [1, 3, 8, 9].map((x) => [9, x]),
      { objectAt }
    ),
    '2 patches on the star'
  )
  assert.equal(
    said(
      [6, 7, 8, 9].map((x) => [9, x]),
      { objectAt }
    ),
    '2 patches at the bottom'
  )
})

test('captions are sentences with numbers', () => {
  const row = Float32Array.of(0.25, 0, 0.5, 0.25, 0, 0, 0, 0)
  assert.equal(
    caption({ row, where: 'Layer 1, head 2', token: 3, prefix: 1, columns: 3 }),
    'Layer 1, head 2: patch (0, 2) gives 50.0 % of its attention to patch (0, 1) alone: 4.0 × uniform.'
  )
  assert.equal(
    caption({
      row: new Float32Array(8).fill(1 / 8),
      where: 'X',
      token: 1,
      prefix: 1,
      columns: 3
    }),
    'X: patch (0, 0) gives 50.0 % of its attention to CLS and 3 patches around it, most to CLS: 12.5 % = 1.0 × uniform.'
  )
  assert.match(
    caption({ row, where: 'X', token: 1, prefix: 1, columns: 3, reverse: true }),
    /is looked at most by patch \(0, 1\), which gives it 50.0 %/
  )
  assert.equal(
    caption({
      row: Float32Array.of(0, 0.25, 0.75),
      where: 'Rollout of layers 0 to 1',
      token: 2,
      prefix: 1,
      columns: 2,
      rollout: true
    }),
    'Rollout of layers 0 to 1: 75.0 % of patch (0, 1) comes from itself alone: 2.3 × uniform.'
  )
  assert.equal(
    caption({ row: new Float32Array(8), where: 'X', token: 1, prefix: 1, columns: 3 }),
    'X: patch (0, 0) looks nowhere.'
  )
  assert.deepEqual(
    [tokenName(0, 2, 4), tokenName(1, 2, 4), tokenName(7, 2, 4)],
    ['CLS', 'register 1', 'patch (1, 1)']
  )
  const distilled = { token: 3, prefix: 2, columns: 3, names: ['CLS', 'distillation'] },
    held = Float32Array.of(0, 1, 0, 0)
  assert.equal(tokenName(1, 2, 3, distilled.names), 'distillation')
  assert.match(
    caption({ row: held, where: 'X', ...distilled }),
    /gives 100\.0 % of its attention to distillation alone/
  )
  assert.equal(elsewhere({ row: held, ...distilled }), '100.0 % on distillation')
  assert.match(
    scoreCaption({ row: held, where: 'X', stage: 'scores', ...distilled }),
    /highest at distillation\.$/
  )
  assert.deepEqual(
    [percent(0), percent(0.0004), percent(0.0123), percent(1), times(0.5, 197)],
    ['0.00 %', '0.040 %', '1.23 %', '100.0 %', '98.5 × uniform']
  )
  assert.deepEqual(
    topOf(row, 2).map(({ token }) => token),
    [2, 0]
  )
})

for (const { about, row, token, prefix, columns, kind, says } of cases.elsewhere)
  test(`words on the picture: ${about}`, () =>
    assert.equal(
      elsewhere({
        row: Float32Array.from(row),
        token,
        prefix,
        columns,
        reverse: kind === 'column',
        rollout: kind === 'rollout'
      }),
      says
    ))

test('figure: one SVG with picture, map, bar, caption and where it is from; text is escaped', () => {
  const svg = figure({
    pictures: { picture: 'data:p', map: 'data:m', bar: 'data:b' },
    views: [
      {
        href: 'data:h',
        aspect: 1,
        scale: makeScale('uniform', { tokens, largest: 0, beyond: 1 }),
        bar: 'data:c'
      }
    ],
    rows: 2,
    columns: 2,
    path: 'M0 0H1',
    cell: [1, 0],
    note: '9 % on <CLS>',
    scale: uniform,
    caption: 'a < b & c',
    provenance: 'heed "1"'
  })
  for (const part of [
    'xmlns:xlink="http://www.w3.org/1999/xlink"',
    ...['p', 'm', 'b', 'h', 'c'].map((name) => `<image xlink:href="data:${name}"`), // as Inkscape 1.2 reads it
    '9 % on &lt;CLS&gt;',
    '>≥ 4</text>',
    '<path d="M0 0H1"',
    '<rect x="0" y="1" width="1"',
    'a &lt; b &amp; c',
    'heed &quot;1&quot;',
    '× uniform',
    '>4</text>'
  ])
    assert.ok(svg.includes(part), part)
  assert.ok(!/NaN|undefined/.test(svg))
  const pictures = { picture: 'p', map: 'm', bar: 'b' },
    long = figure({
      pictures,
      rows: 2,
      columns: 2,
      scale: uniform,
      caption: 'c',
      provenance: 'x'.repeat(300)
    })
  const lines = [...long.matchAll(/>(x+)</g)].map(([, line]) => line.length)
  assert.equal(
    lines.reduce((a, b) => a + b),
    300
  )
  assert.ok(Math.max(...lines) * 5.5 < 480, 'no line runs off the edge')
})

test('figure: names of layers and heads, a frame around the chosen map, axes of a matrix, titles', () => {
  const drawn = (/** @type {Partial<import('heed/plot').FigureView>[]} */ ...views) =>
      figure({
        pictures: { picture: 'p', map: 'm', bar: 'b' },
        views: views.map((view) => ({ href: 'data:h', aspect: 1, ...view })),
        rows: 3,
        columns: 3,
        scale: uniform,
        caption: 'c',
        provenance: 'p'
      }),
    numbersOf = (/** @type {string | undefined} */ tag) =>
      (tag?.match(/[\d.]+(?=")/g) ?? []).map(Number),
    textAt = (/** @type {string} */ svg, /** @type {string} */ text) =>
      numbersOf(svg.match(new RegExp(`<text [^>]*>${text}</text>`))?.[0]),
    pictureIn = (/** @type {string} */ svg) =>
      numbersOf(svg.match(/<image xlink:href="data:h"[^>]*?height="[^"]*"/)?.[0])
  const names = ['head 0', 'head 1'],
    grid = drawn({
      cells: { columns: 2, lines: 2, above: names, left: ['layer 0', 'layer 1'], chosen: 3 }
    }),
    [x, y, across, down] = pictureIn(grid),
    frame = grid.match(/<rect [^>]*stroke="#fff"[^>]*>/g)?.at(-1)
  const close = (/** @type {number[]} */ found, /** @type {number[]} */ expected) =>
    expected.forEach((value, i) =>
      assert.ok(Math.abs(found[i] - value) < 0.06, `${found}, expected ${expected}`)
    )
  close(
    names.map((name) => textAt(grid, name)[0]),
    [x + across / 4, x + (across * 3) / 4]
  )
  assert.ok(textAt(grid, 'head 0')[1] < y && textAt(grid, 'layer 1')[0] < x)
  assert.ok(textAt(grid, 'layer 0')[1] < y + down / 2 && textAt(grid, 'layer 1')[1] > y + down / 2)
  close(numbersOf(frame), [x + across / 2, y + down / 2, (across * 3) / 8, (down * 3) / 8])

  const many = Array.from({ length: 64 }, (_, i) => `${i}`),
    shown = drawn({ cells: { columns: 64, lines: 64, above: many, left: many } }).match(
      />\d+<\/text>/g
    )
  assert.ok(shown && shown.length > 32 && shown.length < 100, 'names that would meet are left out')

  const found = drawn({ cells: { columns: 2, lines: 1, inside: ['3.0: 0.419', '1.3: 1.355'] } })
  assert.ok(textAt(found, '3.0: 0.419').length && textAt(found, '1.3: 1.355').length)
  assert.ok(
    textAt(drawn({ cells: { columns: 9, lines: 1, inside: ['3.0: 0.419'] } }), '3.0').length,
    'the head alone where its number has no room'
  )
  const matrix = drawn({ cells: { columns: 1, lines: 1, above: ['key'], left: ['query'] } })
  assert.ok(textAt(matrix, 'key').length && textAt(matrix, 'query').length)

  const pair = drawn(
      { title: 'A: a title that has two lines, side by side', href: 'data:h' },
      { title: 'B' }
    ),
    tops = [...pair.matchAll(/<image xlink:href="data:h"[^>]* y="([\d.]+)"/g)].map(([, top]) => top)
  assert.equal(new Set(tops).size, 1, 'pictures side by side begin at one height')
  assert.ok(textAt(pair, 'B').length)
  assert.ok(!/NaN|undefined/.test(grid + found + matrix + pair))
})

test('scatter: a dot a head, the chosen one marked', () => {
  const points = [
    { x: 1, y: 2, name: 'layer 0, head 0', layer: 0, faint: true },
    { x: 2, y: 1, name: 'layer 1, head 0', layer: 1 }
  ]
  const inside = scatter({
    points,
    layers: 2,
    chosen: 1,
    labels: { x: 'entropy', y: 'distance' },
    table
  })
  assert.equal(/** @type {RegExpMatchArray} */ (inside.match(/<circle/g)).length, 2)
  assert.match(inside, /<circle data-index="0" [^>]*class="faint"/)
  assert.match(
    inside,
    /<circle data-index="1" cx="299.2" cy="109.5" r="8" class="chosen" fill="rgb\(255,255,255\)">/
  )
  assert.ok(!/NaN|undefined/.test(inside))
  assert.deepEqual(
    [...inside.matchAll(/<text[^>]*middle">([\d.]+)</g)].map(([, text]) => text),
    ['0.0', '0.5', '1.0', '1.5', '2.0']
  )
  assert.match(
    scatter({ points, layers: 2, labels: { x: '', y: '' }, table, reference: { x: 4 } }),
    /<path class="reference" d="M299\.2 10V200"\/>/
  )
})

test('scores have zero in the middle of their scale, and their ends beside it', () => {
  const scale = signedScale('q·k', 4),
    table = divergingTable(),
    { raster } = overlay({
      weights: Float32Array.of(-4, 0, 4, 0),
      rows: 2,
      columns: 2,
      scale,
      table,
      strength: 1
    })
  assert.deepEqual(
    scale.ticks.map(({ text }) => text),
    ['−4', '−2', '0', '2', '4']
  )
  assert.deepEqual([...raster.data.subarray(0, 4)], [24, 78, 160, 255])
  assert.ok(raster.data.subarray(4, 7).every((value) => value > 240))
  assert.equal(
    scoreCaption({
      row: Float32Array.of(-1, 2.5, 0, 1, 0),
      where: 'Layer 0, head 1',
      token: 1,
      prefix: 1,
      columns: 2,
      stage: 'q·k'
    }),
    'Layer 0, head 1, q·k: patch (0, 0) scores tokens from -1.00 to 2.50, highest at patch (0, 0).'
  )
})

test('barred scores are grey, and counted', () => {
  const row = Float32Array.of(-1, -Infinity, 2, -Infinity, 0),
    how = { where: 'X', token: 1, prefix: 1, columns: 2, stage: 'q·k' }
  assert.ok(Number.isNaN(signedScale('q·k', 4).position(-Infinity)))
  assert.equal(
    scoreCaption({ row, ...how }),
    'X, q·k: patch (0, 0) scores tokens from -1.00 to 2.00, highest at patch (0, 1); 2 barred.'
  )
  assert.equal(
    scoreCaption({ row: row.fill(-Infinity), ...how }),
    'X, q·k: patch (0, 0) may look nowhere.'
  )
})

test('index.js hands out every plot, and index.d.ts declares what it hands out', async () => {
  const folder = new URL('../../plot/', import.meta.url),
    index = await loadPage('plot/index.js')
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.ts')))
    for (const name of Object.keys(await loadPage(`plot/${file.replace('.ts', '.js')}`)))
      assert.ok(name in index, `${file}: ${name}`)
  const declared = [
    ...readFileSync(new URL('../api/plot/index.d.ts', folder), 'utf8').matchAll(
      /^export (?:const|function) (\w+)/gm
    )
  ].map((match) => match[1])
  assert.deepEqual(declared.sort(), Object.keys(index).sort())
})

test('fonts of figures have names that programs for SVG know', () => {
  const named = sans.split(', ')
  assert.equal(named.at(-1), 'sans-serif')
  for (const name of ['Helvetica', 'Arial', "'Liberation Sans'", "'DejaVu Sans'"])
    assert.ok(named.includes(name), name)
  for (const name of readdirSync(new URL('../../plot/', import.meta.url), { recursive: true }))
    if (/\.ts$/.test(String(name)))
      assert.doesNotMatch(
        readFileSync(new URL(`../../plot/${name}`, import.meta.url), 'utf8'),
        /font-family="system-ui/
      )
})

test('lines of text: words stay whole; Japanese and Chinese end anywhere, but not before what closes', () => {
  assert.deepEqual(wrap('one two three four', 9), ['one two', 'three', 'four'])
  assert.deepEqual(wrap('abcdefghij', 5), ['abcd', 'efgh', 'ij'])
  assert.deepEqual(wrap('', 9), [''])
  assert.deepEqual(wrap('行は、パッチ (2, 10) から。', 8), [
    '行は、パ',
    'ッチ (2,',
    '10) か',
    'ら。'
  ])
  assert.deepEqual(wrap('注意力（权重）。', 10), ['注意力（权', '重）。'])
})
