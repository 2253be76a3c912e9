/* What leads along the zoom, which a page without a hash opens with: keys, the wheel, fingers and links; the first
 * minute, and every stop on all screens, in all schemes and languages. */
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { finish, startBrowser, takePicture, violations } from '../browser.js'
import { commandRow } from '../command_row.js'
import { loadPage } from '../package.js'
import {
  go,
  measured,
  near,
  numberIn,
  pictureAt,
  rests,
  sceneIn,
  stopNames,
  texts
} from '../zoom_page.js'
/** @import {Box, TestBrowser, TestPage} from '../browser.js' */

const { flightOf, viewOf } = await loadPage('explorer/zoom/camera.js')

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

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

test('keys go along all stops and back; Escape and the button lead to the page as it was', async () => {
  const page = await browser.open('#h=mean', { reducedMotion: 'reduce' })
  await page.click('#zoom-in')
  await page.waitForSelector('#zoom-root .card', { state: 'attached' })
  const forth = stopNames
      .slice(1)
      .map((stop, i) => [['ArrowRight', 'ArrowDown', 'PageDown'][i % 3], stop]),
    back = stopNames
      .slice(0, -1)
      .reverse()
      .map((stop, i) => [['ArrowLeft', 'ArrowUp', 'PageUp'][i % 3], stop])
  for (const [key, stop] of [
    ...forth,
    ...back,
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

test('the wheel goes from stop to stop; Control with it, a drag and two fingers move the camera alone', async () => {
  const page = await browser.open('#zoom=picture'),
    root = () => page.getAttribute('#zoom-root', 'transform')
  await page.waitForSelector('#zoom-root .card', { state: 'attached' })
  await page.mouse.move(800, 400)
  await page.mouse.wheel(0, 120)
  await page.waitForSelector('#zoom-root[data-stop=tiles]', { state: 'attached' })
  await page.mouse.wheel(0, -120)
  await page.waitForSelector('#zoom-root[data-stop=picture]', { state: 'attached' })
  await rests(page) // the flight
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

test('on arrival both twins are lit and lines lead to one; a shape is dragged beside Intervene and Query × key', async () => {
  const page = await browser.open('#v=heads')
  for (const view of ['#v=heads', '#v=intervene', '#v=more&more=pair']) {
    await page.evaluate((hash) => (location.hash = hash), view)
    await page.waitForFunction(() => !location.hash.includes('objects='))
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
    await page.mouse.move(5, 5)
  }
  await finish(page)
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

/** The arrow begins in the patch that looks, and its tip is in the patch that is looked at. @param {TestPage} page */
async function checkArrow(page) {
  const [from, tip, keyed, tile] = await page.evaluate(() => {
    const start = (/** @type {string} */ part) =>
        /M(\S+) ([^\sQL]+)/
          .exec(document.querySelector(`#zoom-root ${part}`).getAttribute('d') ?? '')
          ?.slice(1)
          .map(Number) ?? [],
      corner = (/** @type {string} */ part) =>
        ['x', 'y'].map((side) =>
          Number(document.querySelector(`#zoom-root ${part}`).getAttribute(side))
        )
    return [start('.arc'), start('.point'), corner('.keyed'), corner('.over')]
  })
  assert.deepEqual(
    tip,
    keyed.map((side) => side + 0.5)
  )
  from.forEach((side, i) => near(side, (tile[i] * 14) / 1000 + 0.5, 1e-6, 'where the arrow begins'))
}

/** On arrival: the headline, the answer, and soon the twins and the arrow. @param {TestPage} page @param {(second: number) => Promise<void>} look */
async function arrive(page, look) {
  await page.waitForSelector('#zoom-title')
  assert.equal(await page.innerText('#zoom-title'), 'This network finds the twin. See how.')
  assert.match(await page.innerText('#zoom-answer'), /star 100\.0/)
  await look(0)
  await page.waitForSelector('#zoom-root .arc', { state: 'attached', timeout: 60000 })
  assert.ok(((await page.getAttribute('#zoom-root .twins', 'd')) ?? '').length > 20)
  await checkArrow(page)
  assert.match(
    await page.innerText('#zoom-said'),
    /looks along the arrow: head 3\.0 gives 99\.5.%.*the other star.*Head 3\.0 is head 0 of layer 3/s
  )
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState }) => playState !== 'running')
  ) // the arrow grows
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
  await checkArrow(page)
}

/**
 * The head that the answer needs most is pressed, and the answer is what the command says of the model without it.
 * @param {TestPage} page
 * @param {(part: string) => Promise<void>} press
 * @param {(head: string) => string} part
 */
async function breakHead(page, press, part) {
  const { scene, at } = await sceneIn(page),
    row = await commandRow(scene, at),
    losses = await page.$$eval('[data-loss]', (found) =>
      found.map((one) => ({
        head: one.getAttribute('data-loss') ?? '',
        text: one.textContent ?? ''
      }))
    ),
    [{ head, text }] = losses.sort((a, b) => numberIn(a.text) - numberIn(b.text)),
    share = row.without(head)
  near(numberIn(text), 100 * (share - row.shares[row.best]), 0.051, head)
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

/* Pictures of all that moves are those of the mouse. */
for (const [width, height] of [
  [1366, 768],
  [390, 844]
])
  for (const way of ['mouse', 'touch', 'keys'])
    test(`the first minute at ${width} px by ${way}: what is seen, pressed and said`, async () => {
      const page = await browser.open('', {
          viewport: { width, height },
          hasTouch: way === 'touch',
          reducedMotion: way === 'mouse' ? 'no-preference' : 'reduce',
          ready: false
        }),
        act = acts(page, way),
        look = async (/** @type {number} */ second) => {
          for (const part of ['#zoom-title', '#zoom-answer', '#zoom-close'])
            assert.ok(await inSight(page, part), `${second} s: ${part}`)
          if (way === 'mouse')
            await takePicture(page, `minute-${width}-${String(second).padStart(2, '0')}`)
        },
        to = async (/** @type {string} */ stop) => {
          while ((await page.getAttribute('#zoom-root', 'data-stop')) !== stop) await act.next()
          await rests(page) // the flight
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
      await measured(page)
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

/**
 * Nothing of a stop is cut: what a card says lies within the scene, and the answer within the window.
 * @param {TestPage} page
 * @param {string} stop
 */
async function checkRoom(page, stop) {
  const out = await page.evaluate((stop) => {
    const answer = document.getElementById('zoom-answer').getBoundingClientRect(),
      scene = document.getElementById('zoom-scene').getBoundingClientRect()
    return {
      wide: document.documentElement.scrollWidth > innerWidth,
      answer: answer.top < 0 || answer.bottom > innerHeight || answer.right > innerWidth,
      cut: [...document.querySelectorAll(`#zoom-root [data-card=${stop}] text`)]
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
    }
  }, stop)
  assert.deepEqual(out, { wide: false, answer: false, cut: [] }, stop)
}

/**
 * What axe finds at a stop, on a screen and in a scheme.
 * @param {TestPage} page
 * @param {string} stop
 * @param {{width: number, scheme: 'light' | 'dark' | 'forced', part?: string, rules?: object}} screen
 */
async function checkAxe(page, stop, { width, scheme, part = 'html', rules = {} }) {
  await page.setViewportSize({ width, height: { 390: 844, 1366: 768, 3840: 2160 }[width] ?? 768 })
  await page.emulateMedia({
    colorScheme: scheme === 'dark' ? 'dark' : 'light',
    forcedColors: scheme === 'forced' ? 'active' : 'none'
  })
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)))
  assert.deepEqual(await violations(page, part, rules), [], `${stop}, ${width} px, ${scheme}`)
}

/* Each stop whole in light at both widths; its colours in dark at one. The page around it is the same at all. */
for (const [i, width] of [1366, 390].entries())
  test(`every stop at ${width} px: nothing is cut, axe finds nothing, the answer is in sight`, async () => {
    const page = await browser.open('#zoom=picture', {
      viewport: { width, height: i ? 844 : 768 },
      reducedMotion: 'reduce',
      colorScheme: 'light',
      bypassCSP: true
    })
    await page.waitForSelector('#zoom-root .card', { state: 'attached' })
    for (const [at, stop] of stopNames.entries()) {
      await go(page, stop)
      if (stop === 'heads') await measured(page)
      await checkRoom(page, stop)
      await checkAxe(page, stop, { width, scheme: 'light', part: at ? '#zoom' : 'html' })
      await takePicture(page, `zoom-${stop}-${width}-light`)
      if (at % 2 !== i) continue
      await checkAxe(page, stop, { width, scheme: 'dark', rules: { runOnly: ['color-contrast'] } })
      await takePicture(page, `zoom-${stop}-${width}-dark`)
    }
    if (!i) await checkAxe(page, 'answer', { width: 3840, scheme: 'forced' })
    await finish(page)
  })

/* The other pairs of a screen and a scheme, each at a stop in another language. */
for (const [language, screens] of /** @type {const} */ ([
  [
    'ja',
    {
      heads: { width: 390, scheme: 'forced' },
      products: { width: 1366, scheme: 'dark' },
      answer: { width: 3840, scheme: 'light' }
    }
  ],
  [
    'zh',
    {
      picture: { width: 390, scheme: 'dark' },
      values: { width: 1366, scheme: 'forced' },
      layers: { width: 3840, scheme: 'dark' }
    }
  ]
]))
  test(`every stop in ${language}: all has words, and axe finds nothing`, async () => {
    const page = await browser.open(`index.${language}.html#zoom=picture`, {
      reducedMotion: 'reduce',
      bypassCSP: true
    })
    await page.waitForSelector('#zoom-root .card', { state: 'attached' })
    for (const stop of stopNames) {
      await go(page, stop)
      const said = await page.innerText('#zoom')
      assert.doesNotMatch(said, /undefined|\{|\bNaN\b/, stop)
      assert.match(await page.innerText('#zoom-sentence'), /[\u3040-\u9fff]/, stop)
      const screen = /** @type {Record<string, any>} */ (screens)[stop]
      if (screen) await checkAxe(page, stop, screen)
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

/**
 * The page once more, whose files of these names are as `answer` gives them.
 * @param {RegExp} names
 * @param {(route: import('playwright-core').Route) => unknown} answer
 */
async function openWith(names, answer) {
  const page = await browser.open('icon.svg', { ready: false })
  await page.route(names, answer)
  await page.goto(browser.address)
  return page
}

for (const way of ['Escape', 'button', 'picture'])
  test(`what is pressed before the zoom’s code is there counts: ${way}`, async () => {
    const page = await openWith(/zoom(-[0-9a-f]+)?\.js$/, () => {}) // never comes
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
    const page = await openWith(gone, (route) => route.fulfill({ status: 404 }))
    await page.waitForSelector('#error-text:not(:empty)')
    await page.waitForSelector('#zoom', { state: 'hidden' })
    assert.ok(await page.isVisible('#stage-title'))
    page.faults = []
    await finish(page)
  }
})

test('a link opens what it names, and fetches nothing of the zoom; frames stay short while the camera flies', async () => {
  const page = await browser.open('#s=7'),
    fetched = () =>
      page.evaluate(() =>
        performance
          .getEntriesByType('resource')
          .some(({ name }) => /zoom(-[0-9a-f]+)?\.(js|css)$/.test(name))
      )
  assert.equal(await page.isVisible('#zoom'), false)
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
