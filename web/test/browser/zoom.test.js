/* The zoom, which a page without a hash opens with: at each stop its numbers are those of the command line,
 * also once a shape was dragged there; links, keys, the wheel and fingers lead along the stops, on all screens. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { bigModel } from '../big_model.js'
import { finish, startBrowser, takePicture, violations } from '../browser.js'
import { commandRow, softmax } from '../command_row.js'
import { createRuntime, loadPage } from '../package.js'
/** @import {Box, TestBrowser, TestPage} from '../browser.js' */

/** @type {typeof import('../../pages/explorer/zoom/stops.js')} */
const { stopNames } = await loadPage('explorer/zoom/stops.js'),
  { flightOf, viewOf } = await loadPage('explorer/zoom/camera.js'),
  { sceneOfCode } = await loadPage('explorer/state/scene_code.js')

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

/** @param {number} found @param {number} wanted @param {number} by @param {string} what */
const near = (found, wanted, by, what) =>
  assert.ok(Math.abs(found - wanted) <= by, `${what}: ${found}, expected ${wanted}`)
/** @param {string} text */
const numberIn = (text) => Number(text.replace('−', '-').replace(/[^\d.e-]/g, ''))

/**
 * The texts of a part of the drawing.
 * @param {TestPage} page
 * @param {string} part
 */
const texts = (page, part) =>
  page.$$eval(`#zoom-root ${part}`, (found) => found.map((one) => one.textContent))

/**
 * A list of the page is one of Node, to its two digits.
 * @param {TestPage} page
 * @param {string} part
 * @param {ArrayLike<number>} wanted
 */
async function same(page, part, wanted) {
  const found = (await texts(page, part)).map(numberIn)
  assert.equal(found.length, wanted.length, part)
  found.forEach((value, i) => near(value, wanted[i], 5.1e-3, `${part} ${i}`))
}

/** @param {TestPage} page @param {string} stop */
async function go(page, stop) {
  await page.click(`#zoom-stops [data-stop=${stop}]`)
  await page.waitForSelector(`#zoom-root[data-stop=${stop}]`, { state: 'attached' })
}

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

test('flights begin and end where they should, and see both ends in between', () => {
  const from = { x: 0, y: 0, w: 100 },
    to = { x: 5000, y: 200, w: 40 },
    { at, length } = flightOf(from, to)
  for (const [share, wanted] of /** @type {const} */ ([
    [0, from],
    [1, to]
  ]))
    for (const key of /** @type {const} */ (['x', 'y', 'w']))
      near(at(share)[key], wanted[key], 1e-6, `${share} ${key}`)
  assert.ok(length > 1 && at(0.5).w > 1000)
  near(flightOf(from, { ...from, w: 25 }).at(0.5).w, 50, 1e-9, 'zooming alone')
  assert.deepEqual(viewOf({ x: 10, y: 20, width: 100, height: 50 }, { width: 100, height: 100 }), {
    x: 60,
    y: 45,
    w: 100
  })
})

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

/* Other scenes, heads and rows than the first. */
for (const [hash, scene, at] of /** @type {const} */ ([
  ['s=7&q=3.4', 7, { row: 3, column: 4 }],
  ['s=42&l=1&h=2&q=7.5', 42, { layer: 1, head: 2, row: 7, column: 5 }],
  ['l=0&h=0&q=6.6', 159, { layer: 0, head: 0, row: 6, column: 6 }]
]))
  test(`the numbers of every stop are those of the command line: ${hash}`, async () => {
    const page = await browser.open(`#${hash}&zoom=numbers`, { reducedMotion: 'reduce' })
    await page.waitForSelector('#zoom-root [data-card=numbers] .number', { state: 'attached' })
    await check(page, await commandRow(scene, at))
    await finish(page)
  })

test('each stop is a link, and its numbers are those of the command line; so are lanes and the lit path', async () => {
  const page = await browser.open('#zoom=numbers', { reducedMotion: 'reduce' }),
    node = await commandRow(159)
  await page.waitForSelector('#zoom-root [data-card=numbers] .number', { state: 'attached' })
  assert.equal(await page.innerText('#zoom-title'), 'This network finds the twin. See how.')
  await check(page, node)
  const each = node.each()
  await checkPath(page, node, each)
  await go(page, 'heads')
  await page.waitForFunction(
    () => document.querySelectorAll('[data-loss]').length === 20,
    undefined,
    {
      timeout: 60000
    }
  )
  for (const [head, share] of Object.entries(each.without)) {
    const [loss] = await texts(page, `[data-loss="${head}"]`)
    near(Math.abs(numberIn(loss)), 100 * Math.abs(node.shares[node.best] - share), 0.051, head)
  }
  const widths = await page.$$eval('#zoom-root .lane', (lanes) =>
      lanes
        .map((lane) => [
          Number(lane.querySelector('.way')?.getAttribute('stroke-width')),
          /** @type {any} */ (lane).dataset.head
        ])
        .sort((a, b) => b[0] - a[0])
    ),
    [[needed]] = Object.entries(each.without).sort(([, a], [, b]) => a - b)
  assert.equal(widths[0][1], needed)
  await page.waitForFunction(() => location.hash === '#zoom=heads')
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

test('keys go along the stops and back; Escape and the button lead to the page as it was', async () => {
  const page = await browser.open('#h=mean', { reducedMotion: 'reduce' })
  await page.click('#zoom-in')
  await page.waitForSelector('#zoom-root .card', { state: 'attached' })
  for (const [key, stop] of [
    ['ArrowRight', 'tiles'],
    ['ArrowDown', 'numbers'],
    ['ArrowLeft', 'tiles'],
    ['End', 'answer'],
    ['Home', 'picture'],
    ['ArrowUp', 'picture']
  ]) {
    await page.keyboard.press(key)
    await page.waitForSelector(`#zoom-root[data-stop=${stop}]`, { state: 'attached' })
    await page.waitForFunction(
      (stop) => (location.hash || '#zoom=picture').includes(`zoom=${stop}`), // the address without a hash
      stop
    )
  }
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => location.hash === '#h=mean')
  assert.equal(await page.isVisible('#zoom'), false)
  assert.match(/** @type {string} */ (await page.textContent('#stage-title')), /mean/)
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'zoom-in')
  await page.goBack()
  await page.waitForSelector('#zoom')
  await page.click('#zoom-close')
  await page.waitForSelector('#zoom', { state: 'hidden' })
  await finish(page)
})

/** Where a place of the picture, in its 224 pixels, is in the zoom. @param {TestPage} page */
async function pictureAt(page, part = '#zoom-picture') {
  const { x, y, width, height } = /** @type {Box} */ (await page.locator(part).boundingBox())
  return (/** @type {number} */ across, /** @type {number} */ down) =>
    /** @type {[number, number]} */ ([x + (width * across) / 224, y + (height * down) / 224])
}

test('a shape is dragged at a stop, and the numbers that follow are the command line’s; the map leads back', async () => {
  const page = await browser.open('#zoom=products', { reducedMotion: 'reduce' })
  await page.waitForSelector('#zoom-root [data-number=raw]', { state: 'attached' })
  const at = await pictureAt(page, '#zoom-inset'),
    raw = await texts(page, '[data-number=raw]')
  await page.mouse.move(...at(173, 46))
  await page.mouse.down()
  for (let step = 1; step <= 12; step++) await page.mouse.move(...at(173 - step, 46 + 3 * step))
  await page.waitForFunction(
    (raw) => document.querySelector('[data-number=raw]')?.textContent !== raw,
    raw[0]
  ) // before the shape is let go
  await page.mouse.up()
  await page.waitForFunction(() => /objects=/.test(location.hash))
  await page.waitForFunction(() => !document.body.classList.contains('dim'))
  await page.waitForTimeout(300)
  const { scene, at: asked } = await sceneIn(page)
  await check(page, await commandRow(scene, asked))
  await go(page, 'map')
  const place = await pictureAt(page)
  await page.mouse.click(...place(20, 20))
  await page.waitForSelector('#zoom', { state: 'hidden' })
  assert.match(/** @type {string} */ (await page.textContent('#stage-title')), /patch \(1, 1\)/)
  await finish(page)
})

/** The names that codes of scenes count. */
async function sceneNames() {
  const { sceneShapes, sceneColours } = await import('../package.js').then(
    ({ packageFolder }) => import(`${packageFolder}/index.js`)
  )
  return { shapes: sceneShapes, colours: sceneColours }
}

test('the wheel goes from stop to stop; Control with it, a drag and two fingers move the camera alone', async () => {
  const page = await browser.open('#zoom=picture'),
    root = () => page.getAttribute('#zoom-root', 'transform')
  await page.waitForSelector('#zoom-root .card', { state: 'attached' })
  await page.mouse.move(800, 400)
  await page.mouse.wheel(0, 120)
  await page.waitForSelector('#zoom-root[data-stop=tiles]', { state: 'attached' })
  await page.mouse.wheel(0, -120)
  await page.waitForSelector('#zoom-root[data-stop=picture]', { state: 'attached' })
  await page.waitForTimeout(1800) // the flight
  const before = await root()
  await page.keyboard.down('Control')
  await page.mouse.wheel(0, 100)
  await page.keyboard.up('Control')
  await page.waitForFunction(
    (before) => document.getElementById('zoom-root').getAttribute('transform') !== before,
    before
  )
  const far = await root()
  await page.mouse.move(420, 300) // beside the picture
  await page.mouse.down()
  await page.mouse.move(470, 330, { steps: 4 })
  await page.mouse.up()
  assert.notEqual(await root(), far)
  assert.equal(await page.evaluate(() => location.hash), '') // its stop is the same
  const unpinched = await root()
  await page.evaluate(() => {
    const scene = document.getElementById('zoom-scene'),
      { left, top } = scene.getBoundingClientRect()
    scene.setPointerCapture = () => {}
    const touch = (
      /** @type {string} */ type,
      /** @type {number} */ pointerId,
      /** @type {number} */ x
    ) => {
      const at = { clientX: left + x, clientY: top + 20 }
      scene.dispatchEvent(
        new PointerEvent(type, { pointerId, pointerType: 'touch', button: 0, bubbles: true, ...at })
      )
    }
    touch('pointerdown', 11, 100)
    touch('pointerdown', 12, 200)
    touch('pointermove', 12, 300)
    touch('pointerup', 11, 100)
    touch('pointerup', 12, 300)
  })
  assert.notEqual(await root(), unpinched)
  await finish(page)
})

test('one’s own model, too large to be kept: a layer’s numbers are computed when they are looked at', async () => {
  const page = await browser.open('#l=2&h=1', { reducedMotion: 'reduce' }),
    files = await bigModel()
  await page.setInputFiles('#model-files', files)
  await page.waitForSelector('#demo-model:not([hidden])', { timeout: 120000 })
  await page.waitForFunction(() =>
    /Layer 2, head 1/.test(document.getElementById('stage-title').innerText)
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

test('on arrival both twins are lit and lines lead to one; a shape is dragged beside Intervene and Query × key', async () => {
  for (const view of ['#v=heads', '#v=intervene', '#v=more&more=pair']) {
    const page = await browser.open(view)
    await page.waitForSelector('#arcs .arc', { state: 'attached' })
    assert.ok(((await page.getAttribute('#arcs .twins', 'd')) ?? '').length > 20)
    await page.mouse.move(...(await pictureAt(page, '#patches'))(150, 120))
    await page.waitForTimeout(300) // what drags comes with the first touch
    const at = await pictureAt(page, '#patches')
    await page.mouse.move(...at(173, 46))
    await page.mouse.down()
    await page.mouse.move(...at(170, 60), { steps: 4 })
    await page.mouse.move(...at(165, 75), { steps: 4 })
    await page.mouse.up()
    await page.waitForFunction(() => location.hash.includes('objects='))
    await finish(page)
  }
})

test('the tour names the shape that is there twice; what it knows of one scene it says of that alone', async () => {
  const page = await browser.open('#tour=1')
  await page.waitForFunction(
    () => document.getElementById('tour-title')?.textContent === 'Drag the star.'
  )
  await page.click('#samples button:nth-child(2)')
  await page.waitForFunction(() => {
    const sample = document
        .querySelector('#samples [aria-pressed=true]')
        .getAttribute('aria-label'),
      [, shape] = /: (.*) twice/.exec(sample ?? '') ?? []
    return (
      sample?.includes('Scene 7') &&
      document.getElementById('tour-title')?.textContent === `Drag the ${shape}.` &&
      document.getElementById('tour-text')?.textContent?.includes(`Drag the ${shape} on`)
    )
  })
  await finish(page)
})

/** The scene that the page's link has, as the command reads it. @param {TestPage} page */
async function sceneIn(page) {
  const hash = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)),
    objects = hash.get('objects'),
    [row, column] = (hash.get('q') ?? '2.10').split('.').map(Number)
  return { scene: objects ? sceneOfCode(objects, await sceneNames()) : 159, at: { row, column } }
}

/**
 * What a way to act does at each moment of the first minute.
 * @param {TestPage} page
 * @param {string} way
 */
function acts(page, way) {
  const middle = async (/** @type {string} */ part) => {
    const box = /** @type {Box} */ (await page.locator(part).boundingBox())
    return /** @type {[number, number]} */ ([box.x + box.width / 2, box.y + box.height / 2])
  }
  const press = {
    mouse: async (/** @type {string} */ part) => page.mouse.click(...(await middle(part))),
    touch: async (/** @type {string} */ part) => page.touchscreen.tap(...(await middle(part))),
    keys: async (/** @type {string} */ part) => {
      for (let i = 0; i < 60; i++) {
        if (await page.evaluate((part) => document.activeElement?.matches(part), part)) break
        await page.keyboard.press('Tab')
      }
      await page.keyboard.press('Enter')
    }
  }[way]
  /** @param {[number, number][]} places */
  const drag = async (places) => {
    if (way === 'mouse') {
      await page.mouse.move(...places[0])
      await page.mouse.down()
      for (const place of places) await page.mouse.move(...place)
      await page.mouse.up()
    } else {
      const protocol = await page.context().newCDPSession(page),
        send = (/** @type {any} */ type, /** @type {[number, number][]} */ at) =>
          protocol.send('Input.dispatchTouchEvent', {
            type,
            touchPoints: at.map(([x, y]) => ({ x, y }))
          })
      await send('touchStart', [places[0]])
      for (const place of places) await send('touchMove', [place])
      await send('touchEnd', [])
    }
  }
  return {
    drag,
    press: /** @type {(part: string) => Promise<void>} */ (press),
    next: () => (way === 'keys' ? page.keyboard.press('ArrowRight') : press?.('#zoom-next'))
  }
}

/** Whether a part is within the window. @param {TestPage} page @param {string} part */
const inSight = (page, part) =>
  page.$eval(part, (found) => {
    const { left, right, top, bottom, width } = found.getBoundingClientRect()
    return width > 0 && left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
  })

/** On arrival: the headline, the answer, and soon the twins and the arc. @param {TestPage} page @param {(second: number) => Promise<void>} look */
async function arrive(page, look) {
  await page.waitForSelector('#zoom-title')
  assert.equal(await page.innerText('#zoom-title'), 'This network finds the twin. See how.')
  assert.match(await page.innerText('#zoom-answer'), /star 100\.0/)
  await look(0)
  await page.waitForSelector('#zoom-root .arc', { state: 'attached', timeout: 60000 })
  assert.ok(((await page.getAttribute('#zoom-root .twins', 'd')) ?? '').length > 20)
  await page.waitForTimeout(1300) // the arc grows
  await look(2)
}

/** The star is dragged, and the arc follows. @param {TestPage} page @param {ReturnType<typeof acts>} act */
async function dragStar(page, { drag }) {
  const at = await pictureAt(page),
    arc = await page.getAttribute('#zoom-root .arc', 'd')
  await drag(Array.from({ length: 12 }, (_, i) => at(173 - 2 * i, 46 + 2 * i)))
  await page.waitForFunction(() => location.hash.includes('objects='))
  await page.waitForFunction(
    (arc) => document.querySelector('#zoom-root .arc')?.getAttribute('d') !== arc,
    arc
  )
  await page.waitForTimeout(400)
}

/**
 * The head that the answer of the scene needs most is pressed, and the answer is what the command says of the model
 * without it.
 * @param {TestPage} page
 * @param {(part: string) => Promise<void>} press
 * @param {(head: string) => string} part
 */
async function breakHead(page, press, part) {
  const { scene, at } = await sceneIn(page),
    row = await commandRow(scene, at),
    [[head, share]] = Object.entries(row.each().without).sort(([, a], [, b]) => a - b)
  await press(part(head))
  await page.waitForSelector(`#zoom-root .out[data-head="${head}"]`, { state: 'attached' })
  await page.waitForFunction(
    ({ label, share }) => {
      const text = document.getElementById('zoom-answer').innerText
      return share < 0.5
        ? !text.includes(label)
        : text.includes(`${label} ${(100 * share).toFixed(1)}`)
    },
    { label: row.label, share }
  )
  if (scene === 159) assert.deepEqual([head, share < 0.5], ['2.3', true])
}

for (const [width, height] of [
  [1366, 768],
  [390, 844]
])
  for (const way of ['mouse', 'touch', 'keys'])
    test(`the first minute at ${width} px by ${way}: what is seen, pressed and said`, async () => {
      const page = await browser.open('', {
          viewport: { width, height },
          hasTouch: way === 'touch',
          ready: false
        }),
        act = acts(page, way),
        look = async (/** @type {number} */ second) => {
          for (const part of ['#zoom-title', '#zoom-answer', '#zoom-close'])
            assert.ok(await inSight(page, part), `${second} s: ${part}`)
          await takePicture(page, `minute-${width}-${way}-${String(second).padStart(2, '0')}`)
        },
        to = async (/** @type {string} */ stop) => {
          while ((await page.getAttribute('#zoom-root', 'data-stop')) !== stop) await act.next()
          await page.waitForTimeout(1700) // the flight
        }
      await arrive(page, look)
      if (way !== 'keys') await dragStar(page, act)
      await look(8)
      await to('products')
      const { scene, at } = await sceneIn(page),
        { target, scores } = await commandRow(scene, at),
        most = Math.max(.../** @type {number[]} */ (target).map((key) => scores[key]))
      near(numberIn((await texts(page, '[data-number=scaled]'))[0]), most, 5.1e-3, 'score')
      await look(15)
      await to('heads')
      await page.waitForFunction(
        () => document.querySelectorAll('[data-loss]').length === 20,
        undefined,
        { timeout: 60000 }
      )
      await look(30)
      await breakHead(page, act.press, (head) =>
        way === 'keys' ? `[data-out="${head}"]` : `#zoom-root [data-head="${head}"] .frame`
      )
      await look(45)
      await to('answer')
      for (const part of ['#zoom-own-photo', '#zoom-own-model'])
        assert.ok(await inSight(page, part), part)
      await look(55)
      await act.press('#zoom-close')
      await page.waitForSelector('#zoom', { state: 'hidden' })
      assert.ok(await page.isVisible('#patches'))
      await finish(page)
    })

for (const [width, height] of [
  [1366, 768],
  [390, 844]
])
  test(`every stop at ${width} px: nothing is cut, axe finds nothing, the answer is in sight`, async () => {
    const page = await browser.open('#zoom=picture', {
      viewport: { width, height },
      reducedMotion: 'reduce',
      colorScheme: 'light',
      bypassCSP: true
    })
    await page.waitForSelector('#zoom-root .card', { state: 'attached' })
    for (const stop of stopNames) {
      await go(page, stop)
      if (stop === 'heads')
        await page.waitForFunction(
          () => document.querySelectorAll('[data-loss]').length === 20,
          undefined,
          { timeout: 60000 }
        )
      const out = await page.evaluate(() => {
        const answer = document.getElementById('zoom-answer').getBoundingClientRect()
        return [
          document.documentElement.scrollWidth > innerWidth,
          answer.top < 0 || answer.bottom > innerHeight || answer.right > innerWidth
        ]
      })
      assert.deepEqual(out, [false, false], stop)
      /* What a card says lies within the scene. */
      const cut = await page.evaluate((stop) => {
        const scene = document.getElementById('zoom-scene').getBoundingClientRect()
        return [...document.querySelectorAll(`#zoom-root [data-card=${stop}] text`)]
          .filter((text) => {
            const { left, right, top, bottom } = text.getBoundingClientRect()
            return (
              left < scene.left - 1 ||
              right > scene.right + 1 ||
              top < scene.top - 1 ||
              bottom > scene.bottom + 1
            )
          })
          .map((text) => text.textContent)
      }, stop)
      assert.deepEqual(cut, [], stop)
      for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
        await page.emulateMedia({ colorScheme })
        const rules = colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : {}
        assert.deepEqual(await violations(page, 'html', rules), [], `${stop} ${colorScheme}`)
        await takePicture(page, `zoom-${stop}-${width}-${colorScheme}`)
      }
    }
    await finish(page)
  })

for (const language of ['ja', 'zh'])
  test(`every stop in ${language}: all has words`, async () => {
    const page = await browser.open(`index.${language}.html#zoom=picture`, {
      reducedMotion: 'reduce'
    })
    await page.waitForSelector('#zoom-root .card', { state: 'attached' })
    for (const stop of stopNames) {
      await go(page, stop)
      const said = await page.innerText('#zoom')
      assert.doesNotMatch(said, /undefined|\{|\bNaN\b/, stop)
      assert.match(await page.innerText('#zoom-sentence'), /[\u3040-\u9fff]/, stop)
    }
    await finish(page)
  })

test('each step of Learn links to its stop, and each stop to its step', async () => {
  const page = await browser.open('learn.html', { ready: false }),
    links = await page.$$eval('.chapter a[href*="zoom="]', (found) =>
      found.map((one) => one.getAttribute('href')?.split('zoom=')[1] ?? '')
    )
  assert.equal(links.length, 10)
  for (const stop of links) assert.ok(stopNames.includes(/** @type {any} */ (stop)), stop)
  const address = await page.getAttribute('.chapter >> nth=3 >> a[href*="zoom="]', 'href'),
    zoom = await browser.open(/** @type {string} */ (address))
  await zoom.waitForSelector('#zoom-root[data-stop=products]', { state: 'attached' })
  assert.match(/** @type {string} */ (await zoom.getAttribute('#zoom-said a', 'href')), /#step=4$/)
  await finish(page)
  await finish(zoom)
})

test('without a hash the page opens with the zoom: its first view stands in the page, its code comes after the first map', async () => {
  const page = await browser.open('', { ready: false })
  await page.addInitScript(() => {
    const own = /** @type {any} */ (globalThis)
    new MutationObserver(() => {
      if (own.live || document.getElementById('picture')?.hidden !== false) return
      own.live = performance.now()
    }).observe(document, { subtree: true, childList: true, attributes: true })
  })
  await page.reload()
  const before = await page.innerText('#zoom-title'),
    first = /** @type {Box} */ (await page.locator('#zoom-first').boundingBox())
  assert.equal(before, 'This network finds the twin. See how.')
  await page.waitForSelector('#zoom-root .arc', { state: 'attached', timeout: 60000 })
  const live = await page.evaluate(() => /** @type {any} */ (globalThis).live),
    code = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => /zoom(-[0-9a-f]+)?\.(js|css)$/.test(name))
        .map(({ startTime }) => startTime)
    )
  assert.equal(code.length, 2)
  assert.ok(live > 0 && Math.min(...code) > live, `first map ${live}, code ${code}`)
  assert.equal(await page.innerText('#zoom-title'), before)
  const now = /** @type {Box} */ (await page.locator('#zoom-picture').boundingBox())
  for (const side of /** @type {const} */ (['x', 'y', 'width', 'height']))
    near(now[side], first[side], 1.5, `the picture’s ${side}`)
  assert.equal(await page.evaluate(() => location.hash), '')
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // what the reload ended
  await finish(page)
})

for (const way of ['Escape', 'button', 'picture'])
  test(`what is pressed before the zoom’s code is there counts: ${way}`, async () => {
    const page = await browser.open('', { ready: false })
    await page.route(/zoom(-[0-9a-f]+)?\.js$/, () => {}) // never comes
    await page.reload()
    await page.waitForSelector('html[data-ready]', { timeout: 60000 })
    if (way === 'Escape') await page.keyboard.press('Escape')
    else await page.click(way === 'button' ? '#zoom-close' : '#zoom-scene .first')
    await page.waitForSelector('#zoom', { state: 'hidden' })
    assert.ok(await page.isVisible('#patches'))
    await page.waitForFunction(() => location.hash === '#v=heads')
    await page.goBack()
    await page.waitForFunction(() => location.hash === '')
    page.faults = []
    await finish(page)
  })

test('where the zoom’s code is gone, or the model does not start, the page is the one with all controls', async () => {
  for (const gone of [/zoom(-[0-9a-f]+)?\.js$/, /heed\/worker\.js$/]) {
    const page = await browser.open('', { ready: false })
    await page.route(gone, (route) => route.fulfill({ status: 404 }))
    await page.reload()
    await page.waitForSelector('#error-text:not(:empty)')
    await page.waitForSelector('#zoom', { state: 'hidden' })
    assert.ok(await page.isVisible('#stage-title'))
    page.faults = []
    await finish(page)
  }
})

test('a link opens what it names; one’s own model opens with all controls', async () => {
  const link = await browser.open('#s=7')
  assert.equal(await link.isVisible('#zoom'), false)
  await finish(link)
  const page = await browser.open('')
  await page.waitForSelector('#zoom-root .arc', { state: 'attached' })
  await page.setInputFiles('#model-files', await bigModel())
  await page.waitForSelector('#zoom', { state: 'hidden', timeout: 120000 })
  await page.waitForSelector('#demo-model:visible', { timeout: 120000 })
  await finish(page)
})

test('a link to another view fetches nothing of it; frames stay short while the camera flies', async () => {
  const page = await browser.open('#v=heads'),
    fetched = () =>
      page.evaluate(() =>
        performance
          .getEntriesByType('resource')
          .some(({ name }) => /zoom(-[0-9a-f]+)?\.(js|css)$/.test(name))
      )
  assert.equal(await fetched(), false)
  await page.click('#zoom-in')
  await page.waitForSelector('#zoom-root .card', { state: 'attached' })
  assert.equal(await fetched(), true)
  const times = await page.evaluate(
    () =>
      new Promise((done) => {
        const found = /** @type {number[]} */ ([])
        let last = 0
        const frame = (/** @type {number} */ now) => {
          if (last) found.push(now - last)
          last = now
          if (found.length < 90) requestAnimationFrame(frame)
          else done(found.sort((a, b) => a - b))
        }
        document.querySelector('[data-stop=products]').click()
        requestAnimationFrame(frame)
      })
  )
  console.log(`flight: median ${times[45].toFixed(1)} ms, largest ${times[89].toFixed(1)} ms`)
  await finish(page)
})
