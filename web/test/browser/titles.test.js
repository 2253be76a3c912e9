/* Title and data agree: in every view, every file that the page saves is held against the row that
 * its own title and caption name, worked out here from the model's weights, of a model whose maps are
 * all kept and of one whose maps are not. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test, { after, before } from 'node:test'
import { bigModel } from '../big_model.js'
import { finish, startBrowser } from '../browser.js'
import { createRuntime, demoModel, loadPage } from '../package.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */
/** @import {Session, SessionInfo} from 'heed' */

const { views } = await loadPage('explorer/views/view_list.js'),
  { readArrays } = await loadPage('shared/array_files.js')
/** @type {TestBrowser} */
let browser
/** @type {Awaited<ReturnType<typeof createRuntime>>} */
let runtime

before(async () => {
  browser = await startBrowser()
  runtime = await createRuntime({ worker: false })
})
after(async () => {
  runtime.close()
  await browser.close()
})

/**
 * What rows a model gives for a scene: each matrix as the session has it, and the rollout summed in
 * double from those.
 * @param {any} source
 * @param {number} scene
 */
async function rowsOf(source, scene) {
  const model = await runtime.loadModel(source),
    session = model.createSession({ taps: 'rows' }),
    info = await session.ready
  await session.run((await runtime.scene(scene)).image)
  const { layers, heads, tokens } = info,
    fused = /** @type {Float64Array[]} */ ([]),
    attention = /** @type {Float32Array[][]} */ ([])
  for (let layer = 0; layer < layers; layer++) {
    const sum = new Float64Array(tokens * tokens)
    attention.push([])
    for (let head = 0; head < heads; head++) {
      const matrix = await session.attention({ layer, head })
      matrix.forEach((weight, i) => (sum[i] += weight / heads))
      attention[layer].push(matrix)
    }
    fused.push(sum)
  }
  session.close()
  /**
   * @param {number} query
   * @param {number} first
   * @param {number} last
   */
  function rollout(query, first, last) {
    let row = new Float64Array(tokens)
    row[query] = 1
    for (let layer = last; layer >= first; layer--) {
      const next = new Float64Array(tokens)
      for (let i = 0; i < tokens; i++) {
        next[i] += row[i] / 2
        for (let j = 0; row[i] && j < tokens; j++)
          next[j] += (row[i] / 2) * fused[layer][i * tokens + j]
      }
      row = next
    }
    return row
  }
  return {
    info,
    rollout,
    /** @param {number} layer @param {number} head @param {number} query */
    row: (layer, head, query) =>
      attention[layer][head].subarray(query * tokens, (query + 1) * tokens)
  }
}
/** @typedef {Awaited<ReturnType<typeof rowsOf>>} Rows */

/**
 * The row that a sentence is of.
 * @param {Rows} rows
 * @param {string} text
 */
function rowSaid({ info, row, rollout }, text) {
  const { prefixTokens, columns, tokenNames } = info,
    [, query, y, x] = /(?:from|:|of) (CLS|register \d|patch \((\d+), (\d+)\))/.exec(text) ?? [],
    token = y
      ? prefixTokens + Number(y) * columns + Number(x)
      : tokenNames.findIndex((name) => name === query),
    [, first, last] = /^Rollout of layers (\d+) to (\d+)/.exec(text) ?? [],
    [, layer, head] = /^Layer (\d+), head (\d+)/.exec(text) ?? []
  assert.ok((first ?? layer) !== undefined && token >= 0, `no row is named: ${text}`)
  return {
    row: first
      ? rollout(token, Number(first), Number(last))
      : row(Number(layer), Number(head), token),
    place: first ? `L${first}-${last}` : `L${layer}H${head}`
  }
}

/**
 * @param {ArrayLike<number>} found
 * @param {ArrayLike<number>} expected
 * @param {string} what
 */
function near(found, expected, what) {
  assert.equal(found.length, expected.length, what)
  for (let i = 0; i < expected.length; i++)
    assert.ok(
      Math.abs(found[i] - expected[i]) <= 2e-6 + 1e-4 * expected[i],
      `${what}: token ${i} is ${found[i]}, expected ${expected[i]}`
    )
}

/**
 * @param {TestPage} page
 * @param {string} kind
 * @returns {Promise<{name: string, bytes: Buffer}>} or a sentence, where it is refused
 */
async function saved(page, kind) {
  await page.evaluate(() => {
    document.getElementById('error').hidden = true
  })
  const download = page.waitForEvent('download', { timeout: 120000 }),
    refused = page.waitForSelector('#error:not([hidden])', { timeout: 120000 })
  for (const one of [download, refused]) one.catch(() => {})
  await page.click(`#save-${kind}`)
  const first = await Promise.race([download, refused])
  if (!('suggestedFilename' in first))
    throw new Error((await page.textContent('#error-text')) ?? 'refused')
  return { name: first.suggestedFilename(), bytes: readFileSync(await first.path()) }
}

/**
 * The map in a saved SVG: of each patch, how much of the picture it hides, 0 to 255, which grows with
 * its weight.
 * @param {TestPage} page
 * @param {string} svg
 * @param {SessionInfo} info
 */
async function mapOf(page, svg, { rows, columns }) {
  const [, href] = [...svg.matchAll(/<image xlink:href="([^"]+)"/g)].map(([, url]) => url)
  return page.evaluate(
    async ({ href, rows, columns }) => {
      const image = new Image()
      image.src = href
      await image.decode()
      const canvas = Object.assign(document.createElement('canvas'), {
          width: image.naturalWidth,
          height: image.naturalHeight
        }),
        context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'))
      context.drawImage(image, 0, 0)
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
      return Array.from({ length: rows * columns }, (_, patch) => {
        const y = Math.floor(((Math.floor(patch / columns) + 0.5) * canvas.height) / rows),
          x = Math.floor((((patch % columns) + 0.5) * canvas.width) / columns),
          at = 4 * (y * canvas.width + x)
        return data[at + 3]
      })
    },
    { href, rows, columns }
  )
}

/**
 * Whether they grow together, but for rounding.
 * @param {number[]} opacities
 * @param {ArrayLike<number>} weights
 * @param {string} what
 */
function growTogether(opacities, weights, what) {
  const order = Array.from(opacities, (_, patch) => patch).sort((a, b) => weights[a] - weights[b])
  let most = 0
  for (const patch of order) {
    assert.ok(
      opacities[patch] >= most - 1,
      `${what}: patch ${patch} of weight ${weights[patch]} hides less than one of less weight`
    )
    most = Math.max(most, opacities[patch])
  }
  assert.ok(most > 8, `${what}: nothing is lit`)
}

/**
 * @param {string} svg
 * @returns {any}
 */
const metadataIn = (svg) =>
  JSON.parse(
    /** @type {RegExpExecArray} */ (/<metadata[^>]*>([^<]*)</.exec(svg))[1]
      .replaceAll('&quot;', '"')
      .replaceAll('&gt;', '>')
      .replaceAll('&lt;', '<')
      .replaceAll('&amp;', '&')
  )

/** Of each kind of file, whether what it holds is what it says. */
const checks =
  /** @type {Record<string, (page: TestPage, rows: Rows, file: {name: string, bytes: Buffer}, shown: {title: string, caption: string, view: string}) => Promise<void> | void>} */ ({
    svg: async (page, rows, { name, bytes }, { title }) => {
      const svg = bytes.toString(),
        { prefixTokens } = rows.info,
        said = metadataIn(svg),
        { row, place } = rowSaid(rows, said.title)
      assert.equal(said.title, title)
      assert.ok(name.includes(`_${place}_`), `${name}: ${place}`)
      assert.equal('rollout' in said, place.includes('-'), JSON.stringify(said))
      growTogether(
        await mapOf(page, svg, rows.info),
        row.subarray(prefixTokens),
        `${name}: ${title}`
      )
    },
    png: (_page, rows, { name, bytes }, { title }) => {
      const { place } = rowSaid(rows, title)
      assert.ok(name.includes(`_${place}_`), `${name}: ${place}`)
      assert.ok(bytes.toString('utf8').includes(title), name)
    },
    csv: (_page, rows, { name, bytes }, { view }) => {
      const [, said, head, ...lines] = bytes.toString().trim().split('\n'),
        names = head.split(',').map((one) => one.replaceAll('"', '')),
        column = (/** @type {number} */ at) =>
          lines.map((line) => Number(line.replace(/"[^"]*"/, 'name').split(',')[at]))
      if (view === 'matrix' || view === 'statistics') return // tables of their own, named by their columns
      if (view === 'tokens')
        return assert.match(
          said,
          names.includes('cosine')
            ? /^# States after layer 3/
            : /^# Cosine of each token’s position embedding/
        )
      const { row, place } = rowSaid(rows, said.slice(2)),
        at = view === 'compare' ? 2 : names.indexOf('weight')
      assert.ok(name.includes(`_${place}_`), `${name}: ${place}`)
      near(column(at), row, `${name}: ${said}`)
      if (view === 'compare') assert.match(names[2] + names[3], /^A: Layer 3/)
      if (view === 'heads')
        near(
          column(names.indexOf('1.1')),
          rowSaid(rows, said.slice(2).replace(/^Layer \d+, head \d+/, 'Layer 1, head 1')).row,
          `${name}: head 1.1`
        )
    },
    json: (_page, rows, { bytes }) => {
      const [{ heads, rollout, query }] = JSON.parse(bytes.toString()).results,
        last = rows.info.layers - 1
      near(
        rollout,
        rowSaid(rows, `Rollout of layers 0 to ${last}: from ${query}`).row,
        'JSON: rollout'
      )
      for (const { layer, head, row } of heads)
        near(
          row,
          rowSaid(rows, `Layer ${layer}, head ${head}: from ${query}`).row,
          `JSON: ${layer}.${head}`
        )
    },
    session: (_page, rows, { bytes }, { view, title }) => {
      const { settings } = JSON.parse(bytes.toString())
      assert.equal(/v=rollout/.test(settings), /^Rollout/.test(title), `${view}: ${settings}`)
      rowSaid(rows, title)
    }
  })
/** Files of all maps, which a model whose maps are not kept has not. */
const whole = ['npy', 'npz', 'safetensors']

for (const [what, source, scene] of /** @type {[string, () => Promise<any>, number][]} */ ([
  ['all of whose maps are kept', async () => demoModel, 159],
  ['whose maps are not kept', bigModel, 159]
]))
  test(`a model ${what}: in every view, every file has the row that its title names`, async () => {
    const files = await source(),
      kept = !Array.isArray(files),
      page = await browser.open('#n=own&l=3') // each map to its own largest weight: an even row has its opacities, too
    if (!kept) {
      await page.setInputFiles('#model-files', files)
      await page.waitForSelector('#demo-model:not([hidden])', { timeout: 120000 })
      await page.waitForFunction(() => !document.body.classList.contains('dim'))
    }
    const rows = await rowsOf(
      kept ? files : files.map((/** @type {any} */ { name, buffer }) => new File([buffer], name)),
      scene
    )
    for (const view of Object.keys(views)) {
      await page.click(`#tab-${view}`)
      await page.waitForSelector(`#view[aria-labelledby=tab-${view}] > *`)
      await page.waitForFunction(
        (view) =>
          document.getElementById('stage-title').textContent.startsWith('Rollout') ===
          (view === 'rollout'),
        view,
        { timeout: 120000 }
      )
      const shown = {
        view,
        title: (await page.textContent('#stage-title')) ?? '',
        caption: (await page.textContent('#caption')) ?? ''
      }
      for (const [kind, check] of Object.entries(checks)) {
        if (kind === 'json' && view !== 'heads') continue // the same of all views
        if (kind === 'session' && !['heads', 'rollout'].includes(view)) continue
        await check(page, rows, await saved(page, kind), shown)
      }
    }
    for (const kind of whole)
      if (!kept) await assert.rejects(saved(page, kind), /too large/)
      else {
        const { name, bytes } = await saved(page, kind),
          arrays = await readArrays(new File([new Uint8Array(bytes)], name)),
          { tokens, heads, layers } = rows.info,
          all =
            arrays['attention.3']?.data ??
            (arrays['maps.npy'] ?? arrays.maps ?? Object.values(arrays)[0]).data,
          head = all.subarray(
            (all.length === layers * heads * tokens ** 2 ? 3 * heads : 0) * tokens ** 2
          )
        for (const query of [0, 39])
          near(head.subarray(query * tokens, (query + 1) * tokens), rows.row(3, 0, query), name)
      }
    await finish(page)
  })

test('statistics and JSON of a large model say which layer they are at, and stop', async () => {
  const page = await browser.open(),
    seen = /** @type {string[]} */ ([]),
    layerSaid = /^Statistics of the heads: layer (\d+) of 12$/
  await page.exposeFunction('tellStatus', (/** @type {string} */ text) => seen.push(text))
  await page.evaluate(() =>
    new MutationObserver(() =>
      /** @type {any} */ (window).tellStatus(document.getElementById('status').textContent)
    ).observe(document.getElementById('status'), { childList: true })
  )
  await page.setInputFiles('#model-files', await bigModel())
  await page.waitForSelector('#demo-model:not([hidden])', { timeout: 120000 })
  await page.waitForSelector('.stop', { state: 'hidden', timeout: 120000 })
  assert.ok(seen.filter((text) => layerSaid.test(text)).length >= 2, seen.join('|'))
  assert.doesNotMatch((await page.textContent('#status')) ?? '', layerSaid)
  seen.length = 0
  let downloads = 0
  page.on('download', () => downloads++)
  await page.click('#save-json')
  await page.waitForFunction(() =>
    /^Statistics of the heads: layer/.test(document.getElementById('status').textContent)
  )
  await page.click('#stop')
  await page.waitForFunction(
    () => document.getElementById('status').textContent === 'Nothing was saved.',
    undefined,
    { timeout: 60000 }
  )
  assert.ok(await page.isHidden('#error'))
  assert.equal(downloads, 0)
  const { bytes } = await saved(page, 'json')
  assert.equal(JSON.parse(String(bytes)).results[0].heads.length, 24)
  await finish(page)
})
