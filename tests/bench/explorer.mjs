/* How quickly the explorer answers, in Chromium on one thread: pointer to repainted map (another
 * patch under the mouse), pointer to new maps (a shape dragged: drawn, run, maps on screen; also on
 * two threads, as web/serve.js serves it), the longest main-thread task while pictures are run, frames while
 * a shape is dragged at two stops of the zoom, and the similarity of the patch under the pointer to 1,369 patches of two pictures.
 *   node tests/bench/explorer.mjs [MOVES]     after `ninja -C build/wasm`; prints the least,
 *   median, 90th percentile and largest, in ms */
import { startBrowser } from '../../web/test/browser.js'

const moves = Number(process.argv[2] ?? 60)
const browser = await startBrowser({ isolated: false })

/* Times from the pointer's event to the end of the frame after it, or after the text of an element is another. */
const watch = (page, text) =>
  page.evaluate((text) => {
    globalThis.times = []
    let from = null
    const note = () => {
      if (from === null) return
      const began = from
      from = null
      requestAnimationFrame(() => {
        const channel = new MessageChannel()
        channel.port1.onmessage = () => {
          globalThis.times.push(performance.now() - began)
          globalThis.painted?.()
        }
        channel.port2.postMessage(0)
      })
    }
    for (const type of text ? ['pointermove', 'pointerrawupdate'] : ['pointermove'])
      addEventListener(
        type,
        (event) => {
          from = event.timeStamp
          if (!text) note()
        },
        { capture: true }
      )
    if (text)
      new MutationObserver(note).observe(document.querySelector(text), {
        childList: true,
        characterData: true,
        subtree: true
      })
  }, text)

async function timed(page, move, text = '', after = () => {}) {
  await watch(page, text)
  for (let i = 0; i < moves; i++) {
    // the driver looks at no frame, which would cost 1 to 2 ms of each; the page may paint before
    // it gets this
    const painted = page.evaluate(
      (i) =>
        new Promise((done) => {
          globalThis.painted = done
          if (globalThis.times.length > i) done()
        }),
      i
    )
    await move(i)
    await painted
    await after()
  }
  return page.evaluate(() => globalThis.times)
}

function tell(what, times) {
  const sorted = [...times].sort((a, b) => a - b),
    at = (share) =>
      sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1)
  console.log(
    `${what}: least ${at(0)}, median ${at(0.5)}, 90 % ${at(0.9)}, largest ${at(1)} ms (${times.length})`
  )
}

const placeOf = async (page) => {
  const box = await page.locator('#patches').boundingBox()
  return (x, y) => [box.x + box.width * x, box.y + box.height * y]
}

/** @param {import('../../web/test/browser.js').TestBrowser} browser */
async function drag(browser) {
  const page = await browser.open('#v=scene'),
    at = await placeOf(page)
  await page.mouse.move(...at(60 / 224, 30 / 224)) // the ring of scene 159
  await page.mouse.down()
  const forward = [],
    note = async () =>
      forward.push(Number(/: ([\d.]+) ms/.exec(await page.textContent('#status'))[1]))
  const times = await timed(
    page,
    (i) => page.mouse.move(...at((61 + (i % 12)) / 224, (30 + (i % 7)) / 224)),
    '#status',
    note
  )
  tell(`pointer to new maps of a dragged shape, ${await page.textContent('#machine')}`, times)
  tell('of that the forward pass', forward)
  await page.mouse.up()
  await page.context().close()
}

{
  const page = await browser.open(),
    at = await placeOf(page)
  tell(
    'pointer to repaint',
    await timed(page, (i) =>
      page.mouse.move(...at((((i * 5) % 14) + 0.5) / 14, (((i * 3) % 14) + 0.5) / 14))
    )
  )
  await page.context().close()
}
await drag(browser)
{
  const page = await browser.open()
  await page.evaluate(() => {
    globalThis.long = []
    new PerformanceObserver((list) =>
      globalThis.long.push(...list.getEntries().map(({ duration }) => duration))
    ).observe({ type: 'longtask' })
  })
  for (let i = 0; i < 12; i++) {
    await page.click(`#samples button:nth-child(${1 + (i % 4)})`)
    await page.waitForTimeout(400)
  }
  const long = await page.evaluate(() => globalThis.long)
  console.log(
    `main-thread tasks over 50 ms while 12 pictures were run: ${long.length}${long.length ? `, the longest ${Math.max(...long).toFixed(0)} ms` : ''}`
  )
  await page.context().close()
}
await browser.close()

/* Keeps how long each frame takes from here on. */
const watchFrames = (page) =>
  page.evaluate(() => {
    globalThis.frames = []
    let last = 0
    const frame = (now) => {
      if (last) globalThis.frames.push(now - last)
      last = now
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })

/** @param {import('../../web/test/browser.js').TestBrowser} browser */
async function zoom(browser) {
  for (const [stop, part] of [
    ['picture', '#zoom-picture'],
    ['products', '#zoom-inset']
  ]) {
    const page = await browser.open(`#zoom=${stop}`)
    await page.waitForSelector('#zoom-root [data-number=raw]', { state: 'attached' })
    await page.waitForTimeout(1000)
    const box = await page.locator(part).boundingBox(),
      at = (x, y) => [box.x + (box.width * x) / 224, box.y + (box.height * y) / 224]
    await page.mouse.move(...at(173, 46))
    await page.mouse.down()
    await page.mouse.move(...at(172, 50))
    await watchFrames(page)
    for (let i = 0; i < 4 * moves; i++) {
      await page.mouse.move(...at(150 + 20 * Math.cos(i / 8), 60 + 20 * Math.sin(i / 8)))
      await page.waitForTimeout(8)
    }
    tell(
      `from frame to frame while a shape is dragged in the zoom, ${stop}`,
      await page.evaluate(() => globalThis.frames)
    )
    await page.mouse.up()
    await page.context().close()
  }
}

/** @param {import('../../web/test/browser.js').TestBrowser} browser */
async function similarity(browser) {
  const page = await browser.open('#v=more&more=features&size=592.592'),
    at = await placeOf(page)
  await page.locator('#view canvas').nth(6).waitFor()
  await watchFrames(page)
  const times = await timed(
      page,
      (i) => {
        const turn = (2 * Math.PI * i) / moves
        return page.mouse.move(...at(0.5 + 0.4 * Math.cos(turn), 0.5 + 0.4 * Math.sin(3 * turn)))
      },
      '',
      () => page.waitForTimeout(20)
    ),
    frames = await page.evaluate(() => globalThis.frames)
  tell('similarity under the pointer, pointer to the end of its frame', times)
  tell('from frame to frame meanwhile', frames)
  await page.context().close()
}

const isolated = await startBrowser()
await drag(isolated)
await zoom(isolated)
await similarity(isolated)
await isolated.close()
