/* Figures for print: from numbers to shapes, SVG, PNG and a file that opens again; no browser. */
import assert from 'node:assert/strict'
import test from 'node:test'
import * as zlib from 'node:zlib'
import { explain, loadPage } from '../package.js'
import { crc32 } from '../zips.js'
/** @import {Figure, FigureMap, FigureScale, FigureShape} from '../../pages/explorer/types.js' */

const { layoutFigure } = await loadPage('explorer/figure/figure_layout.js'),
  { chosenHeads, panels, points, scaleAgain } = await loadPage('explorer/figure/figure_parts.js'),
  { figureSvg, metadataOf } = await loadPage('explorer/figure/figure_svg.js'),
  { readFigure, writeFigure } = await loadPage('explorer/figure/figure_file.js'),
  { pngOfRaster, pngUrlOf, withTexts } = await loadPage('explorer/figure/figure_png.js'),
  { fileName, modelFileName } = await loadPage('explorer/save/file_names.js'),
  { makeScale } = await loadPage('plot/scale.js'),
  { newRaster } = await loadPage('plot/raster.js')

const table = explain.colormap('cividis'),
  rows = 14,
  columns = 14,
  tokens = 197

let seed = 1
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647
/** @param {number} count */
const weights = (count) =>
  Array.from({ length: count }, () => Number(((random() ** 6 * 8) / count).toPrecision(9)))
/** @param {number[]} values @returns {FigureScale} */
const scaleOf = (values) => ({
  kind: 'uniform',
  label: '× uniform',
  end: 0.06,
  largest: Math.max(...values)
})
/** @param {string} title @returns {FigureMap} */
function mapOf(title, count = rows * columns) {
  const values = weights(count)
  return { title, values, scale: scaleOf(values) }
}

/**
 * A figure of all panels with 12 x 12 heads.
 * @param {Partial<Figure['look']>} [look]
 * @returns {Promise<Figure>}
 */
async function makeFigure(look) {
  const picture = pngUrlOf(await pngOfRaster(newRaster(4, 4)))
  return {
    look: {
      panels: ['heads'],
      width: 85,
      font: 'sans',
      dark: false,
      letters: true,
      heads: 'all',
      ...look
    },
    from: {
      heed: '0.3.0',
      model: 'vit',
      layers: 12,
      heads: 12,
      parameters: 86e6,
      weights_sha256: { 'model.safetensors': 'ab'.repeat(32) },
      picture: 'chel<sea> & "co"\u0001.png',
      settings: '#h=7',
      device: 'CPU'
    },
    grid: { rows, columns, tokens, names: ['CLS'] },
    title: 'Layer 3, head 7: from patch (2, 10)',
    caption: 'Layer 3, head 7: patch (2, 10) gives 50 % < all.',
    parts: {
      picture,
      map: { ...mapOf('Layer 3, head 7: from patch (2, 10)'), note: '98.3 % on CLS' },
      rollout: mapOf('Rollout of layers 0 to 11: from patch (2, 10)'),
      matrix: mapOf('Layer 3, head 7', tokens * tokens),
      heads: {
        title: 'Heads from patch (2, 10)',
        scale: scaleOf([0.3]),
        maps: Array.from({ length: 144 }, (_, i) => ({
          layer: Math.floor(i / 12),
          head: i % 12,
          values: weights(rows * columns)
        }))
      },
      statistics: {
        title: 'Statistics',
        labels: { x: 'Entropy of patch queries, nats', y: 'Mean attention distance, pixels' },
        uniform: { x: 5.28, y: 110 },
        points: Array.from({ length: 144 }, (_, i) => ({
          layer: Math.floor(i / 12),
          head: i % 12,
          x: 1 + 4 * random(),
          y: 20 + 90 * random()
        }))
      },
      comparison: {
        a: mapOf('Layer 3, head 7'),
        b: { ...mapOf('Layer 4, head 0'), png: picture },
        less: {
          title: 'blue: B has more',
          values: weights(rows * columns).map((weight) => weight * 30 - 1),
          scale: { kind: 'signed', label: '× uniform', end: 3, largest: 3 }
        },
        facts: 'Jensen–Shannon divergence 0.123 nats, cosine 0.9000.'
      }
    }
  }
}
const names = Object.keys(panels)

/** @param {Figure} figure @returns {Promise<string>} */
const svgOf = (figure) => figureSvg(figure, layoutFigure(figure, { table }))
/** @param {string} svg */
const textsOf = (svg) => [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text)

test('the SVG of 12 × 12 heads: names of lines and columns, a scale with its end, one picture of all maps', async () => {
  const svg = await svgOf(await makeFigure()),
    said = textsOf(svg)
  for (const name of ['a', 'Heads from patch (2, 10)', 'head', 'layer', '× uniform', '≥ 11.8'])
    assert.ok(said.includes(name), name)
  for (let i = 0; i < 12; i++)
    assert.ok(said.filter((text) => text === String(i)).length >= 2, String(i)) // a line and a column
  // the maps and the bar, named as Inkscape 1.2 reads it: without the prefix it draws nothing
  assert.equal(svg.match(/<image xlink:href="data:image/g)?.length, 2)
  assert.equal(svg.match(/<image /g)?.length, 2)
  assert.match(svg, /<svg [^>]*xmlns:xlink="http:\/\/www\.w3\.org\/1999\/xlink"/)
  assert.match(svg, /<svg [^>]*width="85mm"/)
})

test('title, description and metadata say where a figure is from; what no XML holds is left out', async () => {
  const figure = await makeFigure({ panels: ['picture', 'map', 'heads'] }),
    svg = await svgOf(figure),
    of = (/** @type {string} */ name) =>
      new RegExp(`<${name}[^>]*>([^<]*)</${name}>`).exec(svg)?.[1] ?? ''
  assert.match(of('title'), /^chel&lt;sea&gt; &amp; &quot;co&quot;\ufffd\.png: Layer 3, head 7/)
  assert.match(
    of('desc'),
    /50 % &lt; all\. heed 0\.3\.0, vit 12 x 12, weights sha256 abababababababab/
  )
  const said = JSON.parse(
    of('metadata')
      .replaceAll('&quot;', '"')
      .replaceAll(/&(lt|gt|amp);/g, '_')
  )
  assert.deepEqual(
    [said.heed, said.model, said.layer, said.head, said.query, said.end],
    ['0.3.0', 'vit', 3, 7, [2, 10], 0.06]
  )
  assert.equal(said.end_times_uniform, 0.06 * tokens)
  assert.equal(said.weights_sha256['model.safetensors'], 'ab'.repeat(32))
  assert.deepEqual(metadataOf(figure).panels, ['picture', 'map', 'heads'])
})

test('heads over the picture: the picture once, a use of it below the map of each head, both in its place', async () => {
  const figure = await makeFigure({ over: true, heads: '3.0-3.2', panels: ['heads'] }),
    svg = await svgOf(figure),
    layout = layoutFigure(figure, { table }),
    images = /** @type {any[]} */ (layout.groups[0].shapes).filter(({ kind }) => kind === 'image'),
    pairs = [0, 1, 2].map((i) => images.slice(2 * i, 2 * i + 2))
  for (const [below, above] of pairs) {
    assert.equal(below.href, figure.parts.picture)
    for (const side of ['x', 'y', 'width', 'height']) assert.equal(below[side], above[side], side)
    assert.ok(
      above.raster.data.some(
        (/** @type {number} */ value, /** @type {number} */ i) => i % 4 === 3 && value < 255
      )
    )
  }
  assert.equal(new Set(pairs.map(([{ x }]) => x)).size, 3)
  assert.equal(svg.split(figure.parts.picture).length - 1, 1, 'its bytes are in the file once')
  assert.equal(svg.match(/<use xlink:href="#figure-picture"/g)?.length, 3)
  assert.ok(!(await svgOf(await makeFigure({ panels: ['heads'] }))).includes('<use'))
})

test('titles of panels are those that were typed, also in a file that opens again', async () => {
  const figure = await makeFigure({
      panels: ['picture', 'map'],
      titles: { map: 'Where it looks' }
    }),
    said = textsOf(await svgOf(figure))
  assert.ok(said.includes('Where it looks'))
  assert.ok(!said.includes('Layer 3, head 7: from patch (2, 10)'))
  const again = readFigure(writeFigure(figure), 'figure.json')
  assert.deepEqual(again.look, figure.look)
  for (const titles of [{ other: 'x' }, { map: 1 }, 'x'])
    assert.throws(
      () =>
        readFigure(
          JSON.stringify({ heed_figure: 1, ...figure, look: { ...figure.look, titles } }),
          'f.json'
        ),
      /look, titles/
    )
})

test('every panel alone and all together, at each width and on each ground: nothing sticks out', async () => {
  for (const width of [40, 85, 120, 180, 300])
    for (const shown of [...names.map((name) => [name]), names]) {
      const figure = await makeFigure({
          panels: /** @type {any} */ (shown),
          width,
          dark: width > 90
        }),
        layout = layoutFigure(figure, { table }),
        where = `${shown} at ${width}`
      assert.equal(layout.width, width * points)
      assert.deepEqual(
        layout.groups.map((/** @type {{name: string}} */ { name }) => name),
        shown
      )
      for (const { shapes } of layout.groups)
        for (const shape of /** @type {FigureShape[]} */ (shapes)) {
          if (shape.kind === 'path') {
            assert.doesNotMatch(shape.d, /NaN|Infinity/, where)
            continue
          }
          const { x, y } = shape,
            [across, down] = shape.kind === 'image' ? [shape.width, shape.height] : [0, 0]
          assert.ok(
            x >= 0 && x + across <= layout.width + 0.01,
            `${where}: ${JSON.stringify(shape).slice(0, 120)}`
          )
          assert.ok(
            y >= 0 && y + down <= layout.height + 0.01,
            `${where}: ${JSON.stringify(shape).slice(0, 120)}`
          )
        }
    }
})

test('a scale of a figure is the page’s once more', () => {
  for (let i = 0; i < 200; i++) {
    const largest = random() ** 3,
      kind = /** @type {const} */ (['uniform', 'share', 'log', 'own', 'all'])[i % 5],
      locked = i % 3 ? 0 : 10 ** (-2 * random()),
      asked = makeScale(kind, { tokens, largest, locked, beyond: largest }),
      { label, end } = asked,
      again = scaleAgain({ kind, label, end, largest }, tokens)
    assert.deepEqual(again.ticks, asked.ticks)
    assert.ok(Math.abs(again.position(0.01, largest) - asked.position(0.01, largest)) < 1e-12)
  }
})

test('heads are chosen by layers and heads; what is none of them is named', () => {
  const all = Array.from({ length: 12 }, (_, i) => ({ layer: i >> 2, head: i & 3 })),
    chosen = (/** @type {string} */ text) =>
      chosenHeads(text, all)
        .map((/** @type {{layer: number, head: number}} */ { layer, head }) => `${layer}.${head}`)
        .join(' ')
  assert.equal(chosenHeads('all', all), all)
  assert.equal(chosen('1'), '1.0 1.1 1.2 1.3')
  assert.equal(chosen('2.0, 0.1-0.2'), '0.1 0.2 2.0')
  assert.equal(chosen('0.1-2'), '0.1 0.2')
  for (const wrong of ['3', '0.4', 'x', '1.', '1.1-', '__proto__', 'pool'])
    assert.throws(
      () => chosen(wrong),
      new RegExp(`found “${wrong.replace('.', '\\.')}”, expected “all”`)
    )
})

test('a figure that was saved gives the same SVG', async () => {
  for (const look of [
    { panels: names, width: 180, font: 'serif', dark: true, letters: false },
    { panels: ['heads'], heads: '3, 4.0-4.5' }
  ]) {
    const figure = await makeFigure(/** @type {any} */ (look))
    figure.parts.heads?.maps[0].values.fill(-Infinity, 0, 3)
    assert.equal(await svgOf(readFigure(writeFigure(figure), 'own.json')), await svgOf(figure))
  }
})

/**
 * Files that say what no figure says, made of a right one, and what they are told.
 * @param {string} text
 * @returns {[text: string, expected: RegExp][]}
 */
function hostileFiles(text) {
  /** @param {(file: any) => unknown} change */
  const changed = (change) => {
    const file = JSON.parse(text)
    change(file)
    return JSON.stringify(file)
  }
  return [
    ['{', /^own\.json: this figure is no JSON \(/],
    ['[]', /the file: cannot be read \(found a list of 0, expected an object\)/],
    [
      text.replace('"heed_figure":1', '"heed_figure":2'),
      /heed_figure: cannot be read \(found 2, expected 1\)/
    ],
    [text.replace('"look":{', '"look":{"__proto__":{"dark":true},'), /__proto__: cannot be read/],
    [text.replace('"from":{', '"from":{"constructor":1,'), /constructor: cannot be read/],
    [
      changed(({ look }) => (look.font = 'toString')),
      /look, font: .*“toString”, expected one of sans, serif, latin/
    ],
    [
      changed(({ look }) => (look.panels = ['hasOwnProperty'])),
      /look, panels, 0: .*expected one of picture/
    ],
    [
      changed(({ look }) => (look.width = 1e9)),
      /look, width: .*found 1000000000, expected a number from 40 to 300/
    ],
    [changed(({ look }) => (look.width = '85')), /look, width: .*“85”/],
    [changed(({ look }) => (look.dark = 1)), /look, dark: .*expected true or false/],
    [changed(({ look }) => (look.heads = '99')), /Heads: cannot be shown \(found “99”/],
    [changed(({ grid }) => (grid.tokens = 198)), /grid, tokens: .*found 198, expected 197/],
    [changed(({ grid }) => (grid.rows = 0.5)), /grid, rows: .*expected a whole number/],
    [changed(({ from }) => (from.settings = 7)), /from, settings: .*found 7, expected a text/],
    [
      changed(({ parts }) => (parts.picture = 'https://a.b/c.png')),
      /parts, picture: .*a PNG as data URL/
    ],
    [changed(({ parts }) => (parts.picture = 'data:image/svg+xml;base64,AAAA')), /parts, picture/],
    [
      changed(({ parts }) => parts.map.values.pop()),
      /parts, map, values: .*list of 195, expected a list of 196/
    ],
    [
      changed(({ parts }) => (parts.map.values[3] = '1')),
      /parts, map, values, 3: .*“1”, expected a number/
    ],
    [text.replace(/"values":\[[^,]+/, '"values":[1e999'), /values, 0: .*found Infinity/],
    [changed(({ parts }) => (parts.map.scale.kind = 'constructor')), /map, scale, kind/],
    [changed(({ parts }) => (parts.map.scale.end = 0)), /map, scale, end/],
    [
      changed(({ parts }) => (parts.matrix.values.length = 9)),
      /parts, matrix, values: .*expected a list of 38809/
    ],
    [changed(({ parts }) => (parts.heads.maps[5].layer = -1)), /maps, 5, layer/],
    [changed(({ parts }) => (parts.statistics.points[0].x = null)), /points, 0, x/],
    [changed((file) => (file.title = 'x'.repeat(5000))), /title: .*at most 4000 characters/]
  ]
}

test('a file that is no figure gets one sentence that says what is wrong', async () => {
  const text = writeFigure(await makeFigure({ panels: /** @type {any} */ (names) }))
  for (const [hostile, expected] of hostileFiles(text))
    assert.throws(
      () => readFigure(hostile, 'own.json'),
      ({ message }) =>
        (expected.test(message) && message.startsWith('own.json: ') && /again\.$/.test(message)) ||
        assert.fail(`${message} is not ${expected}`)
    )
  assert.equal(/** @type {any} */ ({}).dark, undefined)
})

/**
 * The chunks of a PNG by zlib of Node: none of the page's own code.
 * @param {Uint8Array} bytes
 */
function chunksOf(bytes) {
  const png = Buffer.from(bytes),
    found = []
  assert.equal(png.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n')
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at),
      body = png.subarray(at + 8, at + 8 + length)
    assert.equal(png.readUInt32BE(at + 8 + length), crc32(png.subarray(at + 4, at + 8 + length)))
    found.push({ type: png.subarray(at + 4, at + 8).toString('latin1'), body })
    at += 12 + length
  }
  return found
}

test('a raster as PNG: its pixels, enlarged; DPI and texts before the pixels', async () => {
  const raster = newRaster(3, 2)
  for (let i = 0; i < 24; i++) raster.data[i] = i * 10
  const png = withTexts(await pngOfRaster(raster, 2), {
      dpi: 300,
      texts: { Title: 'plain ×', Description: 'Jensen–Shannon' }
    }),
    chunks = chunksOf(png),
    body = (/** @type {string} */ type) =>
      /** @type {Buffer} */ (chunks.find((chunk) => chunk.type === type)?.body)
  assert.deepEqual(
    chunks.map(({ type }) => type),
    ['IHDR', 'pHYs', 'tEXt', 'iTXt', 'IDAT', 'IEND']
  )
  assert.deepEqual([...body('IHDR')], [0, 0, 0, 6, 0, 0, 0, 4, 8, 6, 0, 0, 0])
  assert.deepEqual(
    [body('pHYs').readUInt32BE(0), body('pHYs').readUInt32BE(4), body('pHYs')[8]],
    [11811, 11811, 1]
  )
  assert.equal(body('tEXt').toString('latin1'), 'Title\0plain ×')
  assert.equal(body('iTXt').toString('utf8'), 'Description\0\0\0\0\0Jensen–Shannon')
  const pixels = zlib.inflateSync(body('IDAT'))
  assert.equal(pixels.length, 4 * 25)
  for (let y = 0; y < 4; y++)
    for (let x = 0; x < 6; x++) {
      const from = ((y >> 1) * 3 + (x >> 1)) * 4
      assert.deepEqual(
        [...pixels.subarray(y * 25 + 1 + x * 4, y * 25 + 5 + x * 4)],
        [...raster.data.subarray(from, from + 4)]
      )
    }
})

test('files of all maps are called by model and picture', () => {
  assert.equal(modelFileName('demo', 'Scene 159', 'maps.npy'), 'demo_Scene-159_maps.npy')
  assert.equal(
    modelFileName('vit_tiny.augreg/in1k', 'chelsea.png', 'session.json'),
    'vit-tiny-augreg-in1k_chelsea_session.json'
  )
  assert.equal(modelFileName('', '…', 'maps.npz'), 'model_picture_maps.npz')
})

test('files are called by picture, place and what is shown', () => {
  const at = { layer: 3, head: 0, query: [2, 10], reverse: false }
  /** @param {string} picture @param {object} [state] */
  const name = (picture, state) => fileName({ picture, what: 'heads', at: { ...at, ...state } })
  assert.equal(name('chelsea.png'), 'chelsea_L3H0_q2-10_heads')
  assert.equal(name('scene 159'), 'scene-159_L3H0_q2-10_heads')
  assert.equal(name('chelsea.jpeg', { reverse: true }), 'chelsea_L3H0_to2-10_heads')
  assert.equal(name('a/../b\\c:*.png', { query: 'cls', head: 'mean' }), 'a-b-c_L3Hmean_qcls_heads')
  assert.equal(name('猫.webp', { layer: 'pool', query: null }), '猫_LpoolH0_probe_heads')
  assert.equal(name('a.png', { rollout: true, first: 0, last: 11 }), 'a_L0-11_q2-10_heads')
  assert.equal(name('...'), 'picture_L3H0_q2-10_heads')
  assert.ok(name('x'.repeat(400)).length < 80)
})
