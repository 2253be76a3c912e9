/* The numbers of the zoom are those of the command line at each stop, for other scenes, heads and rows, while a
 * shape is dragged and after; so are its lanes and the lit path. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { bigModel } from '../big_model.js'
import { finish, startBrowser } from '../browser.js'
import { commandRow, softmax } from '../command_row.js'
import { createRuntime } from '../package.js'
import { go, measured, near, numberIn, pictureAt, same, sceneIn, texts } from '../zoom_page.js'
/** @import {Box, TestBrowser, TestPage} from '../browser.js' */

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

/**
 * All stops of a page against the command line.
 * @param {TestPage} page
 * @param {Awaited<ReturnType<typeof commandRow>>} node
 */
async function check(page, node) {
  const { weights, scores, prefixTokens, columns } = node,
    most = [...weights.keys()].sort((a, b) => weights[b] - weights[a]),
    key = /** @type {number} */ (
      most.find(
        (one) => one >= prefixTokens && one !== node.token && weights[one] * weights.length > 2
      ) ?? most.find((one) => one !== node.token)
    ),
    name = (/** @type {number} */ token) =>
      token < prefixTokens
        ? 'CLS'
        : `patch (${Math.floor((token - prefixTokens) / columns)}, ${(token - prefixTokens) % columns})`
  await go(page, 'numbers')
  await same(page, '[data-card=numbers] .number', node.state)
  await go(page, 'query')
  await same(page, '[data-card=query] .number', [...node.query, ...node.ownKey, ...node.value])
  await go(page, 'products')
  const k = node.keyOf(key),
    products = Array.from(node.query, (q, i) => q * k[i]),
    raw = products.reduce((a, b) => a + b, 0)
  await same(page, '[data-card=products] .number', [...node.query, ...k])
  await same(page, '[data-card=products] .small', products)
  await same(page, '[data-number=raw], #zoom-root [data-number=scaled]', [
    raw,
    raw / Math.sqrt(node.depth)
  ])
  near(numberIn((await texts(page, '[data-number=share]'))[0]), 100 * weights[key], 0.051, 'share')
  assert.ok((await texts(page, '[data-card=products] .heading'))[0].endsWith(name(key)))
  await go(page, 'softmax')
  for (const token of most.slice(0, 5)) {
    const [score] = await texts(page, `[data-card=softmax] [data-score="${token}"]`),
      [share] = await texts(page, `[data-card=softmax] [data-share="${token}"]`)
    near(numberIn(score), scores[token], 5.1e-3, `score ${token}`)
    near(numberIn(share), 100 * weights[token], 0.051, `share ${token}`)
  }
  await go(page, 'mask')
  const mask = node.target ?? [key],
    left = softmax(Array.from(scores, (score, token) => (mask.includes(token) ? -Infinity : score)))
  for (const token of [...left.keys()].sort((a, b) => left[b] - left[a]).slice(0, 5)) {
    const [share] = await texts(page, `[data-card=mask] [data-share="${token}"]`)
    near(numberIn(share), 100 * left[token], 0.051, `masked share ${token}`)
  }
  await go(page, 'values')
  for (const token of most.slice(0, 3))
    await same(page, `[data-values="${token}"] .number`, node.valueOf(token))
  await same(page, '[data-values=mixed] .number', node.mixed)
  await go(page, 'map')
  const shares = await page.$$eval('#zoom-root .share', (found) =>
    found.map((one) => [/** @type {any} */ (one).dataset.patch, one.textContent])
  )
  for (const [patch, share] of shares)
    near(numberIn(share), 100 * weights[prefixTokens + Number(patch)], 0.051, `patch ${patch}`)
  await go(page, 'answer')
  const classes = [...node.shares].sort((a, b) => b - a).slice(0, 5)
  ;(await texts(page, '[data-class]')).forEach((text, i) => {
    if (!text.startsWith('<')) near(numberIn(text), 100 * classes[i], 0.051, `class ${i}`)
  })
  assert.match(
    await page.innerText('#zoom-answer'),
    new RegExp(`${node.label} ${(100 * node.shares[node.best]).toFixed(1)}`)
  )
}

/**
 * The lit path, and what is said of it.
 * @param {TestPage} page
 * @param {Awaited<ReturnType<typeof commandRow>>} node
 * @param {ReturnType<Awaited<ReturnType<typeof commandRow>>['each']>} each
 */
async function checkPath(page, node, each) {
  await go(page, 'layers')
  const onTwin = (/** @type {number[]} */ row) =>
      /** @type {number[]} */ (node.target).reduce((sum, key) => sum + row[key], 0),
    least = (/** @type {[string, number][]} */ all) => all.sort(([, a], [, b]) => a - b)[0],
    [needed3, left] = least(
      Object.entries(each.rows)
        .filter(([name]) => name < '3')
        .map(([name, row]) => [name, onTwin(row)])
    ),
    [moved4, moved] = least(
      Object.entries(each.moved)
        .filter(([name]) => name > '4')
        .map(([name, share]) => [name, -share])
    ),
    percents = (/** @type {number} */ share) => `${(100 * share).toFixed(1)} %`
  await page.waitForSelector('#zoom-root .lit', { state: 'attached', timeout: 60000 })
  const path = (await page.innerText('#zoom-sentence')).replaceAll('\u00a0', ' ')
  for (const said of [
    needed3,
    percents(onTwin(node.weights)),
    percents(left),
    moved4,
    percents(-moved)
  ])
    assert.ok(path.includes(said), `${said}: ${path}`)
  const y = await page.$$eval(
    '#zoom-root .lit',
    (found, names) => {
      const points = (found[1].getAttribute('d') ?? '')
        .slice(1)
        .split('L')
        .map((point) => Number(point.split(' ')[1]))
      const lanes = names.map((name) => {
        const [, at] =
          /M\S+ (\S+?)L/.exec(
            document.querySelector(`#zoom-root [data-head="${name}"] .way`)?.getAttribute('d') ?? ''
          ) ?? []
        return Number(at)
      })
      return [points, lanes.flatMap((lane) => [lane, lane])]
    },
    [needed3, '3.0', moved4]
  )
  assert.deepEqual(y[0], y[1]) // the path lies on the lanes of these heads
}

test('the numbers of every stop are those of the command line, for other scenes, heads and rows', async () => {
  const page = await browser.open('#zoom=picture', { reducedMotion: 'reduce' })
  for (const [hash, scene, at] of /** @type {const} */ ([
    ['s=7&q=3.4', 7, { row: 3, column: 4 }],
    ['s=42&l=1&h=2&q=7.5', 42, { layer: 1, head: 2, row: 7, column: 5 }],
    ['l=0&h=0&q=6.6', 159, { layer: 0, head: 0, row: 6, column: 6 }]
  ])) {
    await page.evaluate((hash) => (location.hash = hash), `${hash}&zoom=numbers`)
    await page.waitForFunction(
      (row) =>
        document.querySelector('[data-card=numbers] .heading')?.textContent?.startsWith(row) &&
        !document.body.classList.contains('dim'),
      `patch (${at.row}, ${at.column})`
    )
    await check(page, await commandRow(scene, at))
  }
  await finish(page)
})

/**
 * Each lane is as wide as the answer changes without its head, and the number beside it says so.
 * @param {TestPage} page
 * @param {Awaited<ReturnType<typeof commandRow>>} node
 * @param {Record<string, number>} without
 */
async function checkLanes(page, { shares, best }, without) {
  await go(page, 'heads')
  await measured(page)
  const losses = Object.entries(without).map(([head, share]) => ({
      head,
      loss: shares[best] - share
    })),
    end = Math.max(...losses.map(({ loss }) => Math.abs(loss))),
    lanes = await page.$$eval('#zoom-root .lane', (found) =>
      found.map((lane) => [
        /** @type {any} */ (lane).dataset.head,
        Number(lane.querySelector('.way')?.getAttribute('stroke-width')),
        lane.querySelector('.loss')?.textContent ?? ''
      ])
    )
  assert.deepEqual(
    lanes.map(([head]) => head),
    losses.map(({ head }) => head)
  )
  losses.forEach(({ head, loss }, i) => {
    const [, width, text] = /** @type {[string, number, string]} */ (lanes[i])
    near(numberIn(text), -100 * loss, 0.051, head)
    near(width, Math.max(1.2, (56 * Math.abs(loss)) / end), 0.05, `the lane of ${head}`)
  })
}

/** The maps of all heads, a colour a patch. @param {TestPage} page @param {'lanes' | 'grid'} where */
const mapsIn = (page, where) =>
  page.evaluate((where) => {
    const canvas = /** @type {HTMLCanvasElement} */ (
        document.querySelector(where === 'grid' ? '#heads-canvas' : '#zoom-heads')
      ),
      context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')),
      { data, width: across } = context.getImageData(0, 0, canvas.width, canvas.height),
      at = (/** @type {number} */ x, /** @type {number} */ y) =>
        Array.from({ length: 14 }, (_, row) =>
          data.subarray(4 * ((y + row) * across + x), 4 * ((y + row) * across + x + 14)).join()
        ).join()
    if (where === 'grid')
      return Array.from({ length: 20 }, (_, i) => at((i % 4) * 15, Math.floor(i / 4) * 15))
    return [...document.querySelectorAll('#zoom-root .frame')].map((frame) => {
      const [x, y, width] = ['x', 'y', 'width'].map((name) => Number(frame.getAttribute(name))),
        pixel = (width - 4) / 14
      return at(Math.round((x + 2) / pixel), Math.round((y + 2) / pixel))
    })
  }, where)

test('each stop is a link, and its numbers are those of the command line; so are lanes and the lit path', async () => {
  const page = await browser.open('#zoom=numbers', { reducedMotion: 'reduce' }),
    node = await commandRow(159)
  await page.waitForSelector('#zoom-root [data-card=numbers] .number', { state: 'attached' })
  assert.equal(await page.innerText('#zoom-title'), 'This network finds the twin. See how.')
  await check(page, node)
  const each = node.each()
  await checkPath(page, node, each)
  await checkLanes(page, node, each.without)
  await page.waitForFunction(() => location.hash === '#zoom=heads')
  const lanes = await mapsIn(page, 'lanes')
  await page.click('#zoom-view')
  await page.waitForSelector('#zoom', { state: 'hidden' })
  assert.deepEqual(lanes, await mapsIn(page, 'grid')) // the same rows look the same
  await finish(page)
})

test('a lane that is pressed is out: arc and answer follow, and come back', async () => {
  const page = await browser.open('#zoom=heads', { reducedMotion: 'reduce' })
  await page.click('[data-out="2.3"]', { timeout: 60000 })
  await page.waitForFunction(() =>
    /cross 79/.test(document.getElementById('zoom-answer').innerText)
  )
  assert.equal(await page.getAttribute('[data-out="2.3"]', 'aria-pressed'), 'true')
  await go(page, 'answer')
  assert.match(await page.innerText('#zoom-sentence'), /2\.3.*star 100.*cross 79/)
  await go(page, 'heads')
  const box = /** @type {Box} */ (
    await page.locator('#zoom-root [data-head="2.3"] .frame').boundingBox()
  )
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await page.waitForFunction(() =>
    /star 100/.test(document.getElementById('zoom-answer').innerText)
  )
  await finish(page)
})

/** What is said of a row at a stop. @param {TestPage} page */
const saidOf = async (page) => [
  await texts(
    page,
    '[data-number], #zoom-root [data-card=products] .heading, #zoom-root [data-class]'
  ),
  await page.innerText('#zoom-answer'),
  await page.innerText('#zoom-sentence')
]

/** What is said once it stays. @param {TestPage} page @param {unknown} before */
async function settled(page, before) {
  let last = JSON.stringify(before)
  for (;;) {
    await page.waitForTimeout(300)
    const now = JSON.stringify(await saidOf(page))
    if (now === last && now !== JSON.stringify(before)) return now
    last = now
  }
}

test('a shape is dragged at a stop, and the numbers that follow are the command line’s; the map leads back', async () => {
  const page = await browser.open('#zoom=products', { reducedMotion: 'reduce' })
  await page.waitForSelector('#zoom-root [data-number=raw]', { state: 'attached' })
  const at = await pictureAt(page, '#zoom-inset'),
    before = await saidOf(page)
  await page.mouse.move(...at(173, 46))
  await page.mouse.down()
  for (let step = 1; step <= 12; step++) await page.mouse.move(...at(173 - step, 46 + 3 * step))
  const during = await settled(page, before) // before the shape is let go
  await page.mouse.up()
  await page.waitForFunction(() => /objects=/.test(location.hash))
  await page.waitForFunction(() => !document.body.classList.contains('dim'))
  await page.waitForTimeout(300)
  assert.equal(JSON.stringify(await saidOf(page)), during)
  const { scene, at: asked } = await sceneIn(page)
  await check(page, await commandRow(scene, asked))
  await go(page, 'map')
  const place = await pictureAt(page)
  await page.mouse.click(...place(20, 20))
  await page.waitForSelector('#zoom', { state: 'hidden' })
  assert.match(/** @type {string} */ (await page.textContent('#stage-title')), /patch \(1, 1\)/)
  await finish(page)
})

test('one’s own model, too large to be kept: a layer’s numbers are computed when they are looked at', async () => {
  const page = await browser.open('#l=2&h=1&zoom=picture', { reducedMotion: 'reduce' }),
    files = await bigModel({ layers: 3, heads: 8 })
  await page.waitForSelector('#zoom-root .arc', { state: 'attached' })
  await page.setInputFiles('#model-files', files)
  await page.waitForSelector('#zoom', { state: 'hidden', timeout: 120000 }) // it opens with all controls
  await page.waitForSelector('#demo-model:visible', { timeout: 120000 })
  await page.waitForFunction(
    () =>
      !document.getElementById('model-origin').textContent.startsWith('vit:') &&
      !document.body.classList.contains('dim'), // it has run
    undefined,
    { timeout: 120000 }
  )
  assert.match(await page.innerText('#stage-title'), /Layer 2, head 1/)
  assert.doesNotMatch(
    /** @type {string} */ (await page.textContent('#model-origin')),
    /classifier/ // it has none
  )
  await page.click('#zoom-in')
  await go(page, 'products')
  await page.waitForSelector('#zoom-root [data-number=raw]', { state: 'attached', timeout: 60000 })
  assert.equal(await page.innerText('#zoom-title'), 'From the picture to the answer')
  const heading = (await texts(page, '[data-card=products] .heading'))[0],
    [query, key] = /** @type {[number, number][]} */ (
      [...heading.matchAll(/\((\d+), (\d+)\)/g)].map(([, row, column]) => [
        Number(row),
        Number(column)
      ])
    ),
    runtime = await createRuntime(),
    { image } = await runtime.scene(159),
    [config, preprocessor, weights] = files.map(({ buffer }) => new Blob([buffer])),
    model = await runtime.loadModel({ config, preprocessor, weights }),
    names = ['query', 'key', 'value'].map((what) => `layer.2.${what}`),
    session = model.createSession({ taps: [...names, 'layer.1.output'] }),
    { heads, tokens, prefixTokens, columns } = await session.ready,
    { values } = await session.run(image),
    tokenOf = ([row, column] = [0, 0]) => prefixTokens + row * columns + column,
    vector = (/** @type {string} */ what, /** @type {number} */ token) => {
      const { data } = values[`layer.2.${what}`],
        depth = data.length / heads / tokens
      return Array.from(data.slice((tokens + token) * depth, (tokens + token + 1) * depth))
    },
    own = vector('query', tokenOf(query)),
    products = vector('key', tokenOf(key)).map((k, i) => own[i] * k),
    raw = products.reduce((a, b) => a + b, 0)
  await same(page, '[data-card=products] .small', products)
  await same(page, '[data-number=raw], #zoom-root [data-number=scaled]', [
    raw,
    raw / Math.sqrt(own.length)
  ])
  await go(page, 'numbers')
  const { data } = values['layer.1.output'],
    width = data.length / tokens,
    at = tokenOf(query) * width
  await same(page, '[data-card=numbers] .number', /** @type {any} */ (data.slice(at, at + width)))
  runtime.close()
  await finish(page)
})
