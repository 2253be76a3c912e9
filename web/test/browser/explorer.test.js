/* More of the explorer in Chromium: comparing, rollout, reverse, keys and their switch, a grid that
 * speaks, forced colours and print, a model of 1,374 tokens whose maps are not all kept, memory
 * over many pictures. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from '../browser.js'
import { bigModel } from '../big_model.js'
import { createRuntime, demoModel, native, packageFolder } from '../package.js'
/** @import {Box, TestBrowser, TestPage} from '../browser.js' */
/** @import {Session} from 'heed' */

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

/**
 * @param {TestPage} page
 * @param {string} selector
 */
const text = (page, selector) => /** @type {Promise<string>} */ (page.textContent(selector))
/**
 * @param {TestPage} page
 * @param {string} selector
 * @param {RegExp} pattern
 */
const until = (page, selector, pattern) =>
  page.waitForFunction(
    ([selector, source]) =>
      new RegExp(source).test(document.querySelector(selector)?.textContent ?? ''),
    [selector, pattern.source]
  )

test('compare: weights in 4 bits beside the model, a curtain, another picture', async () => {
  const page = await browser.open('#v=compare&h=1')
  /** @param {string} other */
  const apart = async (other) => {
    await page.selectOption('#view [name=other]', other)
    await until(page, '#view', /B weights in 4 bits[^]*divergence/)
    return Number(
      /** @type {RegExpMatchArray} */ (
        (await text(page, '#view dl')).match(/divergence([\d.e-]+) nats/)
      )[1]
    )
  }
  const coarse = await apart('int4')
  assert.ok(coarse > 1e-4 && coarse < 0.2, `${coarse}`)
  await page.selectOption('#view [name=shown]', 'swipe')
  await page.focus('#view [name=curtain]')
  await page.keyboard.press('Home')
  assert.equal(
    await page.evaluate(() => document.getElementById('view').style.getPropertyValue('--curtain')),
    '0%'
  )
  await page.click('#view [name=pin]')
  await page.click('#samples button:nth-child(2)')
  await until(page, '#view figure:nth-child(2)', /Scene 159/)
  await finish(page, 'explorer-curtain')
})

test('compare: the other modules of the runtime, and scores of a stage', async () => {
  const page = await browser.open('#v=compare&h=1')
  const { simd } = await page.evaluate(async () =>
    (await import('./heed/index.js')).createRuntime({ worker: false }).then(({ info }) => info)
  )
  assert.equal(await page.locator('#view option[value=simd]').isDisabled(), simd !== 'relaxed')
  if (simd === 'relaxed') {
    await page.selectOption('#view [name=other]', 'simd')
    await until(page, '#view', /B the SIMD module[^]*A is by WASM relaxed SIMD[^]*, B by WASM SIMD/)
    assert.match(await text(page, '#view dl'), /divergence[\d.e-]+ nats.*Cosine1\.0000/)
  }
  await page.selectOption('#score', 'scaled')
  await page.selectOption('#view [name=other]', 'int8')
  await until(page, '#view', /All in q·k \/ √D \(ONNX mode 0\); A and B on one scale/)
  await page.selectOption('#view [name=other]', 'pinned')
  await page.click('#view [name=pin]')
  await page.waitForFunction(() =>
    /divergence0\.0000 nats/.test(document.querySelector('#view dl').textContent)
  )
  const csv = readFileSync(
    await (await Promise.all([page.waitForEvent('download'), page.click('#save-csv')]))[0].path(),
    'utf8'
  )
    .split('\n')
    .find((line) => line.startsWith('token'))
  assert.match(
    /** @type {string} */ (csv),
    /^token,name,"A: [^"]*","B: [^"]*","A: [^"]*, scores","B: [^"]*, scores"$/
  )
  await page.selectOption('#score', 'raw')
  await until(page, '#view', /All in × uniform[^]*B has no scores of this stage/)
  await finish(page, 'explorer-compared-scores')
})

test('a folder in int8 opens as any model', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'heed-int8-')), 'int8'),
    page = await browser.open()
  execFileSync(native, ['convert', '-o', folder, '--weights', 'int8'])
  const answer = await text(page, '#answer li >> nth=0')
  await page.setInputFiles(
    '#model-files',
    ['config.json', 'preprocessor_config.json', 'model.safetensors'].map((name) =>
      join(folder, name)
    )
  )
  await page.waitForSelector('#demo-model:not([hidden])', { timeout: 60000 })
  await page.waitForSelector('body:not(.dim)')
  assert.match(answer, /^star/)
  assert.equal(await text(page, '#answer li >> nth=0'), answer)
  await finish(page)
})

/* The runs are those of two programs, which round some activations to another step: what differs
 * between them is far below what differs between the models. */
test('compare: another model of the same shape, as heed compare', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heed-compare-')),
    bf16 = join(folder, 'bf16'),
    json = join(folder, 'found.json'),
    demo = join(packageFolder, 'demo')
  /* Both multiply floats, so both see the same differences; products of int8 differ by their levels'
   * roundings of the rows. */
  execFileSync(native, ['convert', '-o', bf16, '--weights', 'bf16'])
  execFileSync(native, ['compare', demo, bf16, '--scenes', '1', '--seed', '159', '--json', json])
  const expected = JSON.parse(readFileSync(json, 'utf8')),
    page = await browser.open('#v=compare&s=159')
  await page.selectOption('#view [name=other]', 'files')
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.click('#view [name=weights]')
  ])
  await chooser.setFiles(['model.safetensors', 'config.json'].map((name) => join(bf16, name)))
  await page.waitForSelector('#view .models tbody tr')
  const rows = await page
    .locator('#view .models tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.children].map(({ textContent }) => textContent)))
  assert.equal(rows.length, expected.heads.length)
  rows.forEach(([name, ...numbers], i) => {
    const { layer, head, largest, mean, divergence_mean, divergence_largest } = expected.heads[i]
    assert.equal(name, `${layer}.${head}`)
    const wanted = [largest, mean, divergence_mean, divergence_largest]
    numbers.forEach((number, k) =>
      assert.ok(
        Math.abs(Number(number) - wanted[k]) <= 0.01 * wanted[k] + 1e-6,
        `${name}, column ${k}: ${number}, expected ${wanted[k]}`
      )
    )
  })
  assert.match(
    await text(page, '#view .models dl'),
    new RegExp(`Same first class${expected.top1_agreed ? 'yes' : 'no'}`)
  )
  rmSync(folder, { recursive: true })
  await finish(page, 'explorer-compared-models')
})

/**
 * How far the answer of scene 159 is from that without each of these heads.
 * @param {TestPage} page
 * @param {string[]} heads "layer.head"
 */
const divergencesWithout = (page, heads) =>
  page.evaluate(async (heads) => {
    const { createRunner } = await import('./shared/model_runner.js'),
      { unchanged } = await import('./shared/changes.js'),
      engine = await createRunner(),
      { image } = await engine.scene(159)
    const whole = Float32Array.from(
        engine.explain.softmax(
          /** @type {ArrayLike<number>} */ ((await engine.run(/** @type {any} */ (image))).logits)
        )
      ),
      found = /** @type {Record<string, any>} */ ({})
    for (const off of heads)
      found[off] = engine.explain.divergence(
        whole,
        Float32Array.from(
          engine.explain.softmax(
            /** @type {ArrayLike<number>} */ (
              (
                await engine.run(/** @type {any} */ (image), {
                  changes: { ...unchanged, off: [off] }
                })
              ).logits
            )
          )
        )
      )
    return found
  }, heads)

test('each head alone out: heads by what the answer is without them, as runs without them say', async () => {
  const page = await browser.open('#v=intervene', { modules: true })
  await page.click('#view [name=sweep]')
  await page.waitForSelector('#view .effects:not([hidden]) tbody tr:nth-child(20)', {
    timeout: 60000
  })
  const rows = await page
    .locator('#view .effects tbody tr')
    .evaluateAll((lines) =>
      lines.map((line) =>
        [.../** @type {HTMLTableRowElement} */ (line).cells].map((cell) => cell.textContent)
      )
    )
  const expected = await divergencesWithout(page, ['0.2', '3.0', '4.1'])
  const apart = rows.map((row) => Number(row[2]))
  assert.deepEqual(
    apart,
    [...apart].sort((a, b) => b - a)
  )
  for (const [name, value] of Object.entries(expected)) {
    const [, , shown] = /** @type {any} */ (rows).find(
      (/** @type {string[]} */ [head]) => head === name.replace(/(\d)\.(\d)/, 'layer $1, head $2')
    )
    assert.ok(
      Math.abs(Number(shown) - value) <= Math.max(1e-4, value * 0.06),
      `${name}: ${shown}, expected ${value}`
    )
  }
  /** @param {number} row */
  const place = (row) =>
    /** @type {RegExpExecArray} */ (/layer (\d), head (\d)/.exec(/** @type {any} */ (row)[0]))
      .slice(1)
      .join('.')
  await until(
    page,
    '#view',
    new RegExp(
      `Ablating ${place(/** @type {any} */ (rows[0]))} changes the prediction most .* ablating ${place(/** @type {any} */ (rows.at(-1)))} changes it least`
    )
  )
  await page.click('#view .effects tbody tr:last-child button')
  await until(
    page,
    '#stage-title',
    new RegExp(`^${/** @type {string[]} */ (rows.at(-1))[0].replace('layer', 'Layer')}:`)
  )
  await page.click('#view [data-key="0.2"]')
  await until(page, '#view .downstream', /heads changed, most of all \d\.\d, by/)
  await finish(page, 'explorer-sweep')
})

test('what is said stays true: of a column, of a mean whose one head is out, of saved scores', async () => {
  const page = await browser.open('#r=1')
  assert.deepEqual(
    [await text(page, '#numbers-title'), await text(page, '#most-title')],
    ['Statistics of this column', 'Most attention from']
  )
  assert.match(await text(page, '#facts'), /^Mean of all queries[^]*that is[^]*× uniform/)
  assert.ok(!/ln N/.test(await text(page, '#facts')))
  await page.evaluate(() => (location.hash = '#p=masked&h=mean&x=3.1'))
  await until(page, '#caption', /mean of the heads, without 3\.1.*scores tokens from -?\d/)
  await page.evaluate(() => (location.hash = '#v=matrix&p=raw'))
  await until(page, '#caption', /q·k, not scaled/)
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-csv')])
  const [, first] = readFileSync(await download.path(), 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
  assert.ok(
    Math.abs(
      first
        .split(',')
        .slice(1)
        .reduce((sum, score) => sum + Number(score), 0)
    ) > 2,
    'scores, not weights that sum to 1'
  )
  await finish(page)
})

/**
 * That no name of an axis is cut by its control.
 * @param {TestPage} page
 */
async function cutOptions(page) {
  const cut = await page.locator('.axes select >> visible=true').evaluateAll((selects) =>
    /** @type {HTMLSelectElement[]} */ (selects).flatMap((select) => {
      const context = /** @type {CanvasRenderingContext2D} */ (
        document.createElement('canvas').getContext('2d')
      )
      context.font = getComputedStyle(select).font
      return [...select.options]
        .map(({ text }) => text)
        .filter((text) => context.measureText(text).width > select.clientWidth - 28) // its arrow
    })
  )
  assert.deepEqual(cut, [])
}

test('on a wide screen the statistics stand below the maps of all heads: a dot chooses, the filter fades', async () => {
  const page = await browser.open('#v=heads', { viewport: { width: 1920, height: 1080 } })
  await page.waitForSelector('#view .beside circle:nth-of-type(20)')
  const grid = /** @type {Box} */ (await page.locator('#view .heads-grid').boundingBox()),
    dots = /** @type {Box} */ (await page.locator('#view .beside').boundingBox())
  assert.ok(
    grid.width > 350 && dots.y >= grid.y + grid.height && dots.y + dots.height <= 1080,
    `${grid.y + grid.height}, ${dots.y}, ${dots.height}`
  )
  const high = await page.evaluate(() => document.documentElement.scrollHeight)
  assert.ok(high <= 1080, `the page is ${high} pixels high`)
  await page.locator('#view .beside circle[data-index="6"]').click()
  await until(page, '#stage-title', /^Layer 1, head 2:/)
  await page.waitForSelector('#view .beside circle.chosen[data-index="6"]')
  await page.selectOption('#view .beside [name=x]', 'layer')
  await page.selectOption('#view .beside [name=y]', 'top5')
  const xs = await page
    .locator('#view .beside circle')
    .evaluateAll((dots) => dots.map((dot) => dot.getAttribute('cx')))
  assert.deepEqual(
    xs,
    xs.map((_, i) => xs[i - (i % 4)])
  )
  assert.equal(new Set(xs).size, 5)
  await page.fill('#view [name=filter]', 'top5 > 50 %, layer > 1')
  await page.waitForFunction(() => document.querySelectorAll('#view .beside .faint').length >= 8)
  const faint = await page.locator('#view .beside .faint').count(),
    [, shown] = /** @type {RegExpExecArray} */ (
      /^(\d+) of 20 heads/.exec(await text(page, '#view .hint'))
    )
  assert.equal(faint, 20 - Number(shown) - 1) // the chosen head, of layer 1, has its ring instead
  await page.click('#tab-matrix')
  await page.waitForSelector('#view .matrix')
  assert.equal(await page.locator('#view .beside').count(), 0)
  await page.click('#tab-heads')
  await cutOptions(page)
  await page.setViewportSize({ width: 1366, height: 768 })
  await page.click('#tab-statistics')
  await page.waitForSelector('#view [aria-label="Table of heads"]')
  await cutOptions(page)
  await finish(page, 'explorer-wide')
})

test('matrix: the other patch of the pair is ringed in the picture; who looks here is a column', async () => {
  const page = await browser.open('#v=matrix&q=3.9'),
    ring = (/** @type {number} */ row, /** @type {number} */ column) =>
      page.waitForFunction(
        (d) => document.querySelector('#marks .ring.over')?.getAttribute('d') === d,
        `M${column} ${row}h1v1h-1z`
      )
  await page.focus('.matrix')
  await page.keyboard.press('ArrowRight')
  await ring(3, 10)
  await page.click('#reverse')
  await page.waitForFunction(() =>
    /^M0 53\.5H197M52\.5 0V197$/.test(
      /** @type {string} */ (document.querySelector('.matrix .over').getAttribute('d'))
    )
  ) // token 52 is the key now
  await until(page, '#matrix-said', /^patch \(3, 10\) to patch \(3, 9\): /)
  await page.focus('.matrix')
  await page.keyboard.press('ArrowDown')
  await until(page, '#matrix-said', /^patch \(3, 11\) to patch \(3, 9\): /)
  await ring(3, 11)
  await page.keyboard.press('ArrowLeft')
  await until(page, '#stage-title', /to patch \(3, 8\)$/)
  await page.click('#tab-heads')
  await page.waitForFunction(() => !document.querySelector('#marks .ring'))
  await finish(page)
})

test('a shape is turned with Shift held; its maps follow', async () => {
  const page = await browser.open('#v=scene'),
    box = /** @type {Box} */ (await page.locator('#patches').boundingBox()),
    at = /** @returns {[x: number, y: number]} */ (
      /** @type {number} */ x,
      /** @type {number} */ y
    ) => [box.x + (box.width * x) / 224, box.y + (box.height * y) / 224]
  await page.mouse.move(...at(170, 60)) // the violet star of scene 159
  await page.keyboard.down('Shift')
  await page.mouse.down()
  await page.mouse.up()
  const before = Number(await page.inputValue('#view [name=angle]')),
    place = await page.inputValue('#view [name=x]')
  await page.mouse.down()
  await page.mouse.move(...at(180, 40), { steps: 3 })
  await page.mouse.up()
  await page.keyboard.up('Shift')
  await page.waitForFunction(
    (before) =>
      Math.abs(
        Number(
          /** @type {HTMLInputElement} */ (document.querySelector('#view [name=angle]')).value
        ) - before
      ) > 5,
    before
  )
  assert.equal(await page.inputValue('#view [name=x]'), place)
  await until(page, '#status', /^Your scene/)
  await finish(page)
})

test('rollout: discarding changes it, playing walks the layers', async () => {
  const page = await browser.open('#v=rollout'),
    caption = await text(page, '#caption')
  await page.fill('#view [name=discard]', '0.9')
  await page.waitForFunction(
    (caption) => document.getElementById('caption').textContent !== caption,
    caption
  )
  await page.waitForFunction(() => location.hash === '#v=rollout&g=0.9')
  /* Each title stands for a moment. */
  await page.evaluate(() => {
    const title = document.getElementById('stage-title'),
      seen = (window.seen = /** @type {string[]} */ ([]))
    new MutationObserver(() => seen.push(title.textContent.split(':')[0])).observe(title, {
      characterData: true,
      childList: true,
      subtree: true
    })
  })
  await page.click('#view [name=play]')
  await page.waitForFunction(() =>
    [0, 1].every((last) => window.seen.includes(`Rollout of layers 0 to ${last}`))
  )
  await page.click('#view [name=play]')
  await finish(page, 'explorer-rollout')
})

/**
 * A token's row of the rollout up to each layer, heads fused by their mean, r = 0.5: in double
 * precision, from the maps of all heads.
 * @param {Float32Array[]} attention
 * @param {{heads: number, tokens: number, token: number}} of
 */
const rollouts = (attention, { heads, tokens, token }) =>
  attention.map((_, last) => {
    let row = Array.from({ length: tokens }, (_, key) => Number(key === token))
    for (let layer = last; layer >= 0; layer--)
      row = row.map((own, key) => {
        let sum = 0
        for (let query = 0; query < tokens; query++)
          for (let head = 0; head < heads; head++)
            sum += row[query] * attention[layer][(head * tokens + query) * tokens + key]
        return (own + sum / heads) / 2
      })
    return row
  })

test('rollout up to each layer: small maps whose numbers are the rollout’s; a press makes a layer the last', async () => {
  const runtime = await createRuntime({ threads: 1 }),
    session = (await runtime.loadModel(demoModel)).createSession({ taps: 'all' }),
    { attention } = await session.run((await runtime.scene(159)).image)
  runtime.close()
  const expected = rollouts(/** @type {Float32Array[]} */ (attention), {
    heads: 4,
    tokens: 197,
    token: 1 + 2 * 14 + 10
  }).map((row) => Math.max(...row.slice(1)) * 100)
  const page = await browser.open('#v=rollout')
  await page.waitForFunction(() => document.querySelector('#view .cells [aria-label*="up to"]'))
  const names = await page
    .locator('#view .cells button')
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('aria-label') ?? ''))
  assert.equal(names.length, 5)
  names.forEach((name, layer) => {
    const [, at, largest] = /** @type {RegExpExecArray} */ (
      /^up to layer (\d), largest ([\d.]+) %$/.exec(name)
    )
    assert.equal(Number(at), layer)
    assert.ok(Math.abs(Number(largest) - expected[layer]) <= 0.06, `${name}: ${expected[layer]}`)
  })
  const end = (Math.max(...expected) / 100) * 197 // the largest that is drawn, of an earlier layer
  assert.match(await text(page, '#view .ticks'), new RegExp(`${end.toFixed(0)}$`))
  await page.locator('#view .cells button').nth(1).click()
  await until(page, '#stage-title', /^Rollout of layers 0 to 1:/)
  await page.waitForSelector('#view .cells button:nth-child(2)[aria-selected=true]')
  await page.fill('#view [name=first]', '1') // the first map is now of the layer after
  await page.waitForFunction(() => document.querySelectorAll('#view .cells button').length === 4)
  assert.equal(await text(page, '#view .cells button >> nth=0'), '1')
  await finish(page)
})

test('rollout with less motion: a press takes the last layer one on, and round', async () => {
  const page = await browser.open('#v=rollout&j=3', { reducedMotion: 'reduce' })
  for (const last of [4, 0, 1]) {
    await page.click('#view [name=play]')
    await until(page, '#stage-title', new RegExp(`^Rollout of layers 0 to ${last}:`))
  }
  await until(page, '#view', /the stage applies to the other views only/)
  await finish(page)
})

test('letter keys: heads out and back, swap, back; off by a switch, which is remembered', async () => {
  const page = await browser.open(),
    press = (/** @type {string[]} */ ...keys) =>
      keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())
  await page.focus('#patches [tabindex="0"]')
  await press('h')
  await until(page, '#stage-title', /without 3\.0/)
  await press('h')
  await page.waitForFunction(() => location.hash === '#v=heads')
  await until(page, '#stage-title', /^(?!.*without)/) // the run that follows has its own status
  await press('m', 'h')
  await until(page, '#status', /^Nothing was ablated: choose one head/)
  await press(',')
  await page.waitForFunction(() => location.hash === '#v=heads')
  await press('p', '.')
  await page.waitForFunction(() => location.hash === '#h=1')
  await press('x')
  await page.waitForFunction(() => location.hash === '#v=heads')
  await until(page, '#stage-title', /head 0: /)
  await press('2')
  await page.waitForFunction(() => location.hash.includes('v=matrix'))
  await press('Escape')
  await page.waitForFunction(() => !location.hash.includes('v=matrix'))
  await press('?')
  await page.uncheck('#letters')
  await press('Escape')
  await page.focus('#patches [tabindex="0"]')
  await press(']', '4')
  await page.waitForTimeout(200) // an address that changed would be written by now
  await page.waitForFunction(() => location.hash === '#v=heads')
  await page.focus('#theme')
  await page.reload()
  await page.waitForSelector('html[data-ready]')
  await page.focus('#patches [tabindex="0"]')
  await press('?') // which works also while letters do not
  await page.waitForSelector('#key-list dt')
  assert.equal(await page.isChecked('#letters'), false)
  await finish(page)
})

test('help comes by ? from anywhere, and closes by Escape; the status has no threads', async () => {
  const page = await browser.open()
  for (const from of ['body', '#theme', '#another', '#patches [tabindex="0"]']) {
    await page.evaluate((from) => {
      const at = /** @type {HTMLElement} */ (document.querySelector(from))
      if (from === 'body') /** @type {HTMLElement} */ (document.activeElement).blur()
      else at.focus()
    }, from)
    await page.keyboard.press('?')
    await page.waitForSelector('#keys[open]')
    assert.match(await text(page, '#machine-why'), /^This browser: WASM .*\. .*\.$/)
    await page.keyboard.press('Escape')
    await page.waitForSelector('#keys[open]', { state: 'detached' })
  }
  assert.doesNotMatch(await text(page, '#status'), /thread/) // it stands once, beside the run's time
  assert.ok((await text(page, '.run span')).match(/thread/g)?.length === 1)
  assert.equal(await page.getAttribute('#samples button', 'aria-label'), 'Scene 159: star twice')
  await finish(page)
})

/**
 * The text that a button saves.
 * @param {TestPage} page
 * @param {string} button
 */
async function downloaded(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)])
  return readFileSync(await download.path(), 'utf8')
}
/**
 * @param {TestPage} page
 * @param {Session} session
 */
const openSession = (page, session) =>
  page.setInputFiles('#model-files', {
    name: 'own.json',
    mimeType: '',
    buffer: Buffer.from(JSON.stringify(session))
  })

test('pins: rows with notes, shown again, compared, removed, kept in the session file; by keyboard', async () => {
  const page = await browser.open('#q=3.4&s=7'),
    press = async (/** @type {string[]} */ ...keys) => {
      for (const key of keys) await page.keyboard.press(key)
    }
  await page.press('#patches [tabindex="0"]', 'p')
  await page.waitForSelector('#pins li') // what keys do is fetched with the first
  await press('.', 'p', 'p') // the last one is there already
  await page.waitForSelector('#pins li:nth-child(2)')
  await page.click('#samples button:nth-child(3)')
  await until(page, '#status', /^Scene 42/)
  await page.click('#pin')
  await page.waitForSelector('#pins li:nth-child(3)')
  assert.equal(await page.locator('#pins li').count(), 3)
  await page.fill('#pins li:nth-child(1) input', 'finds its twin')
  await press('Tab', 'Enter') // Show
  await page.waitForFunction(() => location.hash === '#s=7&q=3.4')
  await until(page, '#stage-title', /^Layer 3, head 0: from patch \(3, 4\)/)
  const session = JSON.parse(await downloaded(page, '#save-session'))
  assert.deepEqual(
    session.pins.map((/** @type {any} */ { title, note, b }) => [title, note, b])[0],
    ['Layer 3, head 0: from patch (3, 4)', 'finds its twin', false]
  )
  assert.deepEqual(
    session.pins.map((/** @type {any} */ { b, scene }) => [b, scene]),
    [
      [false, 7],
      [false, 7],
      [true, 42]
    ]
  )
  await page.click('#pins li:nth-child(3) button:nth-child(2)')
  await until(page, '#view figure:nth-child(2)', /Scene 42/)
  assert.match(
    await downloaded(page, '#save-csv'),
    /^token,name,"A: Layer 3, head 0: from patch \(3, 4\)","B: [^"]*","pin: [^"]*; Scene 7, Demo model[^"]*; finds its twin"/m
  )
  for (let i = 0; i < 3; i++) await page.click('#pins li:last-child button:last-child')
  await page.waitForSelector('#pins', { state: 'hidden' })
  await page.waitForSelector('[popovertarget=head-menu]:focus') // which pins another
  await openSession(page, session)
  await page.waitForSelector('#pins li:nth-child(3)')
  assert.equal(await page.inputValue('#pins li:nth-child(1) input'), 'finds its twin')
  assert.equal(
    await page.getAttribute('#pins li:nth-child(3) button:nth-child(2)', 'aria-pressed'),
    'true'
  )
  await page.click('#pins li:nth-child(3) button:nth-child(1)')
  await until(page, '#status', /^Scene 42/)
  session.pins[1].row.pop()
  await openSession(page, session)
  await until(
    page,
    '#error-text',
    /^Pin 2 of this session cannot be read \(expected a row of 197 numbers/
  )
  await page.click('#error-close')
  const { pins, pictures, ...old } = session
  await openSession(page, old) // as they were written before there were pins
  await page.waitForFunction(() => location.hash === '#s=7&q=3.4')
  assert.equal(await page.isVisible('#error'), false)
  await finish(page, 'explorer-pins')
})

test('a grid that speaks: place, share, times uniform; a sentence when the query changes', async () => {
  const page = await browser.open()
  await page.waitForFunction(() =>
    [...document.querySelectorAll('#patches button')].every((cell) =>
      /^row \d+, column \d+, (< )?[\d.]+ %, [\d.e-]+ times uniform$/.test(
        /** @type {string} */ (cell.getAttribute('aria-label'))
      )
    )
  )
  assert.equal(
    await page
      .locator('#patches button')
      .nth(10 * 14 + 1)
      .getAttribute('aria-label'),
    'row 10, column 1, 19.4 %, 38.3 times uniform'
  )
  await page.focus('#patches [tabindex="0"]')
  await page.keyboard.press('ArrowDown')
  await until(page, '#spoken', /patch \(3, 10\)/)
  await finish(page)
})

test('forced colours, less motion, print and a large screen', async () => {
  const page = await browser.open('#v=heads', {
    viewport: { width: 3840, height: 2160 },
    forcedColors: 'active',
    reducedMotion: 'reduce'
  })
  assert.ok(/** @type {any} */ (await page.locator('#frame').boundingBox()).width > 600)
  // controls grow with their text: none is tighter than one of 28 pixels around 15
  const tight = await page.evaluate(() =>
    [...document.querySelectorAll('main button, main summary, select')]
      .filter(
        (element) =>
          element.checkVisibility() && !element.closest('.cells, .strip, .title, .facts, .legend')
      )
      .map((element) => element.clientHeight / parseFloat(getComputedStyle(element).fontSize))
      .filter((ratio) => ratio < 1.8)
  )
  assert.deepEqual(tight, [])
  await page.emulateMedia({ forcedColors: 'none' })
  await page.screenshot({
    path: new URL('../../../build/web/screenshots/explorer-4k.png', import.meta.url).pathname
  })
  await page.emulateMedia({ media: 'print' })
  assert.equal(await page.isVisible('#samples'), false)
  assert.equal(await page.isVisible('#caption'), true)
  await finish(page, 'explorer-print')
})

test('a model of 1,374 tokens: rows, heads, matrix and statistics on demand, without all its maps', async () => {
  const page = await browser.open('#v=matrix')
  await page.setInputFiles('#model-files', await bigModel())
  await page.waitForSelector('#demo-model:not([hidden])', { timeout: 120000 })
  assert.match(await text(page, '#model-facts'), /12 layers, 2 heads, 1374 tokens/)
  await until(page, '#matrix-said', /1374 × 1374/)
  assert.equal(await page.locator('#patches [role=gridcell]').count(), 37 * 37)
  await page.click('#tab-heads')
  await page.waitForFunction(() => document.querySelectorAll('#view [role=gridcell]').length === 24)
  await page.click('#patches [role=gridcell]:nth-child(5)')
  await until(page, '#stage-title', /from patch \(\d+, 4\)/)
  await page.click('#tab-statistics')
  await page.waitForSelector('#view tbody tr:nth-child(24)', { timeout: 120000 })
  await page.click('#tab-rollout')
  await until(
    page,
    '#view',
    /too large to keep all maps. Its rollout is made from queries and keys/
  )
  await until(page, '#stage-title', /^Rollout of layers 0 to 11: from patch/)
  await page.waitForFunction(
    () => document.querySelectorAll('#view .ordered [role=gridcell]').length === 12
  )
  await page.click('#view .ordered [role=gridcell]:nth-child(4)')
  await until(page, '#stage-title', /^Rollout of layers 0 to 3: from patch/)
  assert.equal(await page.isDisabled('#view [name=play]'), false)
  await page.click('#tab-tokens')
  await until(page, '#view', /After layer \d+: .*largest norm/)

  await page.click('#tab-more')
  await page.click('[data-more=pair]')
  await until(page, '#view', /The products sum to/)
  await page.click('#fit [data-fit=whole]') // takes long: run when asked for
  await page.waitForSelector('#stale:not([hidden])')
  assert.equal(await text(page, '#stale'), 'Settings changed: run again')
  await page.click('#fit [data-fit=model]')
  await page.waitForSelector('#stale', { state: 'hidden' })
  await page.click('#fit [data-fit=whole]')
  await page.click('#stale')
  await page.waitForSelector('#stale', { state: 'hidden', timeout: 60000 })
  await page.waitForFunction(
    () => !document.body.classList.contains('dim') && location.hash.includes('m=whole')
  )
  await finish(page, 'explorer-1374')
})

test('loading is stopped, and tried again; what is built in stays', async () => {
  const page = await browser.open('#v=heads', { ready: false })
  let go = () => {}
  const held = new Promise((done) => (go = () => done(undefined)))
  await page.route('**/model.safetensors.deflate', async (route) => {
    await held
    await route.continue().catch(() => {})
  })
  await page.goto(browser.address)
  await page.waitForFunction(() =>
    /^Loading: 0\.[2-9] of [\d.]+ MB$/.test(document.getElementById('status').textContent)
  ) // code and module are there, the weights not
  const share = await page.evaluate(() => document.getElementById('progress').value)
  assert.ok(share > 0.05 && share < 0.5, `${share}`)
  await page.click('#stop')
  await page.waitForSelector('#error-again:not([hidden])')
  assert.match(await text(page, '#error-text'), /stopped.*built in/)
  assert.equal(await page.isVisible('#first-map'), true)
  await page.unroute('**/model.safetensors.deflate')
  go()
  await page.click('#error-again')
  await page.waitForSelector('html[data-ready]', { timeout: 60000 })
  page.faults = page.faults.filter((fault) => !/model\.safetensors|ERR_ABORTED/.test(fault))
  await finish(page)
})

test('pairs are barred on the matrix by a stroke and by a key, and freed; zoom keeps the crosshair in sight', async () => {
  const page = await browser.open('#v=matrix'),
    at = async (/** @type {number} */ token, /** @type {number} */ key) => {
      const box = /** @type {Box} */ (await page.locator('.matrix canvas').boundingBox())
      return [box.x + (box.width * (key + 0.5)) / 197, box.y + (box.height * (token + 0.5)) / 197]
    }
  await page.selectOption('#view [name=brush]', '1')
  await page.mouse.move(.../** @type {[number, number]} */ (await at(40, 100)))
  await page.mouse.down()
  await page.mouse.move(.../** @type {[number, number]} */ (await at(40, 101)))
  await page.mouse.up()
  await page.waitForFunction(() => location.hash.includes('u=40.100_40.101'))
  await until(page, '#stage-title', /2 pairs cut/)
  assert.equal(await page.getAttribute('.matrix .barred', 'd'), 'M100 40h1v1h-1zM101 40h1v1h-1z')
  await until(page, '#matrix-said', /^patch \(2, 11\) to patch \(7, 2\): 0\.00 %/)
  await page.selectOption('#view [name=zoom]', '4')
  await page.mouse.move(5, 5)
  await page.selectOption('#view [name=brush]', '0')
  await page.mouse.click(.../** @type {[number, number]} */ (await at(40, 100)))
  await page.selectOption('#view [name=brush]', '1')
  await page.focus('.matrix')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press(' ')
  await until(page, '#stage-title', /1 pair cut/)
  assert.ok(await page.evaluate(() => document.querySelector('.window').scrollLeft > 0))
  /* A key at once after a press on a row, before the stage has drawn that row. */
  const [x, y] = await at(60, 20)
  await page.evaluate(
    ([clientX, clientY]) => {
      const brush = /** @type {HTMLSelectElement} */ (document.querySelector('#view [name=brush]')),
        matrix = document.querySelector('.matrix')
      brush.value = '0'
      matrix.dispatchEvent(new MouseEvent('click', { clientX, clientY, bubbles: true }))
      brush.value = '1'
      matrix.dispatchEvent(new KeyboardEvent('keydown', { key: ' ', bubbles: true }))
    },
    [x, y]
  )
  await page.waitForFunction(() => location.hash.includes('60.20'))
  await page.click('#view [name=free]')
  await page.waitForFunction(() => !location.hash.includes('u='))
  await finish(page, 'explorer-barred')
})

test('weights times the lengths of values: the softmax’s row, longer or shorter by what each key gives; in every view', async () => {
  const page = await browser.open('#p=value', { modules: true })
  assert.match(
    await text(page, '#caption'),
    /weight × \|v\|: patch \(2, 10\) scores tokens from 0\.00 to [\d.]+, highest at patch \(1?\d, \d\)/
  )
  assert.equal(await text(page, '#bar-label'), 'weight × |v|')
  const apart = await page.evaluate(async () => {
    const { createRunner } = await import('./shared/model_runner.js'),
      engine = await createRunner(),
      { image } = await engine.scene(7)
    const { values } = await engine.run(/** @type {any} */ (image)),
      { data, shape } = values['layer.3.value'],
      size = shape[3],
      tokens = shape[2]
    /**
     * @param {number} head
     * @param {string} key
     */
    const length = (head, key) =>
      Math.sqrt(
        data
          .slice(
            /** @type {any} */ (head * tokens + key) * size,
            /** @type {any} */ (head * tokens + key + 1) * size
          )
          .reduce((sum, v) => sum + v * v, 0)
      )
    /**
     * @param {{layer: number, head: number, token: number}} at
     * @param {number} [of]
     */
    const off = (at, of) => {
      const plain = engine.row(at),
        found = engine.row({ ...at, score: 'value' })
      return Math.max(
        ...found.map((/** @type {any} */ value, /** @type {any} */ i) =>
          Math.abs(value - plain[i] * length(at.head, /** @type {any} */ (of ?? i)))
        )
      )
    }
    return [
      off({ layer: 3, head: 2, token: 40 }),
      off(/** @type {any} */ ({ layer: 3, head: 1, token: 77, reverse: true }), 77)
    ]
  })
  for (const value of apart) assert.ok(value < 1e-5, `${value}`)
  await page.keyboard.press('Tab')
  await page.click('#tab-matrix')
  await until(page, '#matrix-said', /the largest [\d.]+$/)
  await finish(page, 'explorer-values')
})

test('a head gives a share: none of it is the head taken out, half is between, in every layer', async () => {
  const page = await browser.open('#v=intervene', { modules: true })
  const apart = await page.evaluate(async () => {
    const { createRunner } = await import('./shared/model_runner.js'),
      { unchanged } = await import('./shared/changes.js'),
      engine = await createRunner(),
      { image } = await engine.scene(7)
    const logits = async (/** @type {{gains: string[], } | { off: string[]}} */ changes) =>
        Array.from(
          /** @type {any} */ (
            (
              await engine.run(/** @type {any} */ (image), {
                changes: { ...unchanged, ...changes }
              })
            ).logits
          )
        ),
      plain = await logits(/** @type {any} */ ({}))
    /**
     * @param {number} a
     * @param {number} b
     */
    const off = (/** @type {number[]} */ a, /** @type {number[]} */ b) =>
      Math.max(...a.map((value, i) => Math.abs(value - b[i])))
    const found = []
    for (const head of ['0.1', '4.2'])
      found.push([
        off(await logits({ gains: [`${head}.0`] }), await logits({ off: [head] })),
        off(plain, await logits({ gains: [`${head}.50`] }))
      ])
    return [...found, off(plain, await logits(/** @type {any} */ ({})))]
  })
  for (const [none, half] of /** @type {any[]} */ (apart.slice(0, 2)))
    assert.ok(none < 1e-4 && half > 1e-3, `${none}, ${half}`)
  const differ = await page.evaluate(async () => {
    // runs that go on from a layer, against whole ones: another picture before each
    const { createRunner } = await import('./shared/model_runner.js'),
      { unchanged } = await import('./shared/changes.js'),
      [engine, fresh] = await Promise.all([createRunner(), createRunner()])
    const [{ image }, { image: other }] = await Promise.all([engine.scene(7), engine.scene(8)]),
      wrong = []
    const steps = [
      { gains: ['4.0.50'] },
      { gains: ['4.0.50', '2.1.0'] },
      { gains: ['2.1.0'], off: ['3.3'] },
      { gains: ['2.1.0'], off: ['3.3'] },
      { dropped: [7] },
      { off: ['1.0'], how: 'mean' },
      {},
      { off: ['4.0'] }
    ]
    for (const [i, step] of steps.entries()) {
      const changes = { ...unchanged, ...step }
      await fresh.run(/** @type {any} */ (other), { changes: /** @type {any} */ (changes) })
      const [a, b] = [
        await engine.run(/** @type {any} */ (image), { changes: /** @type {any} */ (changes) }),
        await fresh.run(/** @type {any} */ (image), { changes: /** @type {any} */ (changes) })
      ]
      if (
        Array.from(/** @type {ArrayLike<number>} */ (a.logits)).some(
          (/** @type {any} */ logit, /** @type {any} */ j) =>
            logit !== /** @type {ArrayLike<number>} */ (b.logits)[j]
        ) ||
        /** @type {Float32Array[]} */ (a.attention).some((layer, l) =>
          layer.some((weight, j) => weight !== /** @type {Float32Array[]} */ (b.attention)[l][j])
        )
      )
        wrong.push(i)
    }
    return wrong
  })
  assert.deepEqual(differ, [])
  assert.equal(apart[2], 0)
  await page.fill('#view [name=gain]', '40')
  await until(page, '#stage-title', /head 3\.0 at 40 %/)
  await page.waitForFunction(() => location.hash.includes('b=3.0.40'))
  await page.click('#view [name=all]')
  await page.waitForFunction(() => !location.hash.includes('b='))
  await finish(page, 'explorer-gain')
})

test('Shift and a press make a patch B of the comparison', async () => {
  const page = await browser.open()
  await page
    .locator('#patches button')
    .nth(5 * 14 + 5)
    .click({ modifiers: ['Shift'] })
  await until(page, '#view', /B Layer 3, head 0: from patch \(5, 5\)[^]*divergence/)
  await page.mouse.move(5, 5)
  await until(page, '#stage-title', /^Layer 3, head 0: from patch \(2, 10\)$/)
  await finish(page, 'explorer-b')
})

/**
 * Share of a canvas's pixels that have the last colour of cividis.
 * @param {TestPage} page
 * @param {string} selector
 */
const shareAtEnd = (page, selector) =>
  page.evaluate((selector) => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(selector)),
      context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')),
      { data } = context.getImageData(0, 0, canvas.width, canvas.height)
    let end = 0
    for (let i = 0; i < data.length; i += 4)
      end += Number(data[i + 3] > 0 && data[i] === 254 && data[i + 1] === 232 && data[i + 2] === 56)
    return end / (canvas.width * canvas.height)
  }, selector)

/**
 * The labels of a bar, which may not meet.
 * @param {TestPage} page
 * @param {string} selector
 */
async function labelsOf(page, selector) {
  const labels = await page.locator(`${selector} span`).evaluateAll((spans) =>
    spans.map((span) => {
      const { left, right, height } = span.getBoundingClientRect()
      return { text: span.textContent, left, right, height }
    })
  )
  labels.slice(1).forEach(({ text, left, height }, i) => {
    assert.ok(left > labels[i].right, `${selector}: ${labels[i].text} and ${text}`)
    assert.equal(height, labels[i].height)
  })
  return labels.map(({ text }) => text)
}

test('where patches have next to nothing nothing shines: each scale ends at the largest that it draws, and the picture says where the weight is', async () => {
  const page = await browser.open('#q=6.12')
  assert.deepEqual(await labelsOf(page, '#ticks'), ['0', '1', '2', '3', '4'])
  assert.equal(await page.textContent('#elsewhere'), '100.0 % on CLS')
  assert.equal(await shareAtEnd(page, '#map'), 0)
  const [, ofHeads] = /** @type {RegExpExecArray} */ (
    /one scale for all heads; the largest of all heads is ([\d.]+) × uniform.*its own row/.exec(
      /** @type {string} */ (await page.textContent('#view .hint'))
    )
  )
  assert.ok(Number(ofHeads) > 20, ofHeads)
  assert.ok(
    Math.abs(
      Number(/** @type {string} */ ((await labelsOf(page, '#view .ticks')).at(-1))) -
        Number(ofHeads)
    ) < 0.06
  )
  assert.ok((await shareAtEnd(page, '#heads-canvas')) < 0.05, 'heads')
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-svg')]),
    svg = readFileSync(await download.path(), 'utf8')
  for (const part of ['>100.0 % on CLS</text>', '>4</text>', `>${ofHeads}</text>`])
    assert.ok(svg.includes(part), part)
  await page.click('#tab-matrix')
  await page.waitForFunction(
    () => document.querySelector('#view .matrix') && document.querySelector('#view .ticks span')
  )
  const ends = await labelsOf(page, '#view .ticks')
  assert.ok(
    ends.length > 3 &&
      /^≥ [\d.]+$/.test(/** @type {string} */ (ends.at(-1))) &&
      Number(/** @type {string} */ (ends.at(-1)).slice(2)) > 4,
    ends.join()
  )
  assert.deepEqual(await labelsOf(page, '#ticks'), ['0', '1', '2', '3', '4'], 'the picture stays')
  await page.focus('#patches [tabindex="0"]')
  for (const key of ['ArrowUp', 'ArrowUp']) await page.keyboard.press(key)
  await until(page, '#stage-title', /\(4, 12\)/)
  assert.deepEqual(await labelsOf(page, '#view .ticks'), ends, 'the matrix stays as it is')
  await page.click('#tab-heads')
  for (const [kind, last] of [
    ['share', '2.03 %'],
    ['log', '4'],
    ['all', null],
    ['own', '1']
  ]) {
    await page.selectOption('#scale', kind)
    await page.waitForFunction(
      (label) => document.getElementById('bar-label').textContent === label,
      await page.locator('#scale option:checked').textContent()
    )
    const labels = await labelsOf(page, '#ticks')
    if (last) assert.equal(labels.at(-1), last, /** @type {any} */ (kind))
  }
  await finish(page)
})

test('compare with nothing pinned: B is the mean of the heads; the numbers of an ablated head are those before; from the header to the picture by key', async () => {
  const page = await browser.open('#v=compare')
  await until(
    page,
    '#view .hint',
    /Nothing is pinned: B is Layer 3, mean of the heads: from patch \(2, 10\)\.$/
  )
  const apart = /divergence([\d.]+) nats/.exec((await page.textContent('#view dl')) ?? '')?.[1]
  assert.ok(Number(apart) > 0.05, String(apart))
  assert.equal(await page.isDisabled('#view [name=back]'), true)
  const whole = await page.innerText('#most')
  await page.click('#ablate')
  await until(page, '#elsewhere', /^this head is ablated$/)
  await until(page, '#numbers-title', /^Statistics before this head was ablated$/)
  assert.equal(await page.innerText('#most'), whole)
  await page.focus('#skip')
  assert.ok(/** @type {Box} */ (await page.locator('#skip').boundingBox()).width > 40)
  await page.keyboard.press('Enter')
  assert.equal(
    await page.evaluate(() => Boolean(document.activeElement?.closest('#patches'))),
    true
  )
  await finish(page)
})

test('words on the picture: none where patches have the weight, others for a head that is taken out and for a patch that keeps it', async () => {
  const page = await browser.open()
  assert.equal(await page.textContent('#elsewhere'), '')
  assert.equal(await page.isVisible('#elsewhere'), false)
  await page.evaluate(() => {
    location.hash = '#x=3.0'
  })
  await until(page, '#elsewhere', /^this head is ablated$/)
  assert.deepEqual(await labelsOf(page, '#ticks'), ['0', '1', '2', '3', '4']) // it has no weight
  await page.evaluate(() => {
    location.hash = '#l=1'
  })
  await until(page, '#elsewhere', /^9\d\.\d % on itself$/)
  await finish(page)
})

test('<attention-map> has the same words on its picture', async () => {
  const page = await browser.open('embed.html', { ready: false }),
    dark = () =>
      page.evaluate(() => {
        const context = /** @type {CanvasRenderingContext2D} */ (
          Object.assign(document.createElement('canvas'), {
            width: 1,
            height: 1
          }).getContext('2d')
        )
        context.drawImage(
          /** @type {any} */ (document.querySelector('attention-map canvas')),
          -11,
          -11
        )
        const { data } = context.getImageData(0, 0, 1, 1)
        return Math.max(data[0], data[1], data[2])
      })
  /** @param {string} query */
  const drawn = (query) =>
    page.evaluate(
      (query) =>
        new Promise((done) => {
          const element = document.querySelector('attention-map')
          element.addEventListener('drawn', () => done(null), { once: true })
          element.setAttribute('query', query)
        }),
      query
    )
  await page.waitForSelector('attention-map canvas[aria-label*="× uniform"]', { timeout: 60000 })
  await drawn('2,11')
  assert.ok((await dark()) > 100)
  await drawn('6,12')
  assert.ok((await dark()) < 60)
  await finish(page)
})

test('the end of the scale is locked for picture, heads and matrix, stays in the address and in this browser', async () => {
  const page = await browser.open()
  await page.click('#lock')
  await page.waitForFunction(() => location.hash.includes('end=38.3'))
  await until(page, '#bar-label', /^× uniform, locked$/)
  const end = /** @type {string} */ ((await labelsOf(page, '#ticks')).at(-1))
  await page.focus('#patches [tabindex="0"]')
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key)
  await until(page, '#stage-title', /\(4, 11\)/)
  assert.equal((await labelsOf(page, '#ticks')).at(-1), end)
  assert.match(/** @type {string} */ ((await labelsOf(page, '#view .ticks')).at(-1)), /38\.3/)
  await page.click('#tab-matrix')
  await page.waitForSelector('#view .matrix')
  await until(page, '#view .ticks span:last-child', /38\.3/)
  await page.goto(`${browser.address}?again#v=heads`)
  await page.waitForSelector('html[data-ready]')
  await until(page, '#bar-label', /locked$/)
  await page.click('#lock')
  await until(page, '#bar-label', /^× uniform$/)
  await finish(page)
})

test('whatever is pointed at: the bar ends at 4 × uniform or above, few patches shine, a background stays as it is', async () => {
  const page = await browser.open('#v=heads', { modules: true })
  const found = await page.evaluate(async () => {
    const { createRunner } = await import('./shared/model_runner.js'),
      { makeScale } = await import('./plot/scale.js'),
      { overlay } = await import('./plot/overlay.js'),
      engine = await createRunner(),
      table = engine.colours('cividis')
    let seed = 20
    const random = (/** @type {number} */ end) => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return Math.floor((seed / 2147483648) * end)
    }
    const ends = [],
      bright = []
    let shining = 0
    for (const scene of [159, 7, 42, 1009, 3]) {
      const { image } = await engine.scene(scene)
      await engine.run(/** @type {any} */ (image))
      const { layers, heads, tokens, rows, columns } = engine.shape
      for (let i = 0; i < 400; i++) {
        const [layer, head, patch] = [random(layers), random(heads), random(rows * columns)],
          query = /** @type {[number, number]} */ ([Math.floor(patch / columns), patch % columns]),
          row = (/** @type {number} */ head) =>
            /** @type {Float32Array} */ (engine.row({ layer, head, query })).subarray(1),
          largest = Math.max(...Array.from({ length: heads }, (_, h) => Math.max(...row(h)))),
          weights = row(head),
          scale = makeScale('uniform', { tokens, largest })
        ends.push(scale.end * tokens)
        bright.push(
          weights.filter((weight) => scale.position(weight) > 0.5).length / weights.length
        )
        /* What the model gives less than uniform covers less than a fifth of the picture. */
        const { data } = overlay({ weights, rows, columns, scale, table }).raster
        weights.forEach((weight, p) => {
          if (weight * tokens < 1 && data[p * 4 + 3] > 0.2 * 255) shining++
        })
      }
    }
    bright.sort((a, b) => a - b)
    return {
      least: Math.min(...ends),
      shining,
      median: bright[1000],
      most: bright.at(-1),
      count: ends.length
    }
  })
  assert.equal(found.count, 2000)
  assert.ok(found.least > 4 - 1e-9, JSON.stringify(found))
  assert.equal(found.shining, 0)
  assert.ok(
    /** @type {number} */ (found.median) < 0.05 && /** @type {number} */ (found.most) < 0.35,
    JSON.stringify(found)
  )
  await finish(page)
})

test('the background of a scene under the pointer stays as it is', async () => {
  const page = await browser.open()
  /* The picture under the pointer on the background, where this head gives all to CLS. */
  const shot = () =>
    page.evaluate(() => {
      const map = document.getElementById('map'),
        copy = new OffscreenCanvas(map.width, map.height).getContext('2d', {
          willReadFrequently: true
        })
      copy?.drawImage(map, 0, 0)
      const data = copy?.getImageData(0, 0, map.width, map.height).data ?? []
      return Math.max(...data.filter((_, i) => i % 4 === 3))
    })
  assert.ok((await shot()) > 150, 'the twin shines')
  const box = /** @type {Box} */ (await page.locator('#patches').boundingBox())
  await page.mouse.move(box.x + (box.width * 0.5) / 14, box.y + (box.height * 0.5) / 14)
  await until(page, '#stage-title', /\(0, 0\)/)
  assert.ok((await shot()) <= 1, `opacity ${await shot()} of 255`)
  await finish(page)
})

/* Runs in the page: which share of a part of a screenshot is yellow. */
async function yellowShare(/** @type {{png: string, box: Box}} */ { png, box }) {
  const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0)),
    bitmap = await createImageBitmap(
      new Blob([bytes]),
      Math.ceil(box.x),
      Math.ceil(box.y),
      Math.floor(box.width),
      Math.floor(box.height)
    ),
    context = /** @type {OffscreenCanvasRenderingContext2D} */ (
      new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
    )
  context.drawImage(bitmap, 0, 0)
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height)
  let yellow = 0
  for (let i = 0; i < data.length; i += 4)
    if (data[i] > 160 && data[i + 1] > 150 && data[i + 2] < 110) yellow++
  return (4 * yellow) / data.length
}

/**
 * The share of all heads' weights on patches that are so many times uniform, by the package.
 * @param {number} times
 * @param {[number, number]} query
 */
async function sharesAbove(times, query) {
  const runtime = await createRuntime({ threads: 1 }),
    session = (await runtime.loadModel(demoModel)).createSession({ taps: 'rows' }),
    { layers, heads, tokens } = await session.ready
  await session.run((await runtime.scene(159)).image)
  let above = 0
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++)
      above += (await session.attention({ layer, head, query }))
        .subarray(1)
        .filter((weight) => weight * tokens >= times).length
  runtime.close()
  return above / (layers * heads * (tokens - 1))
}

test('screenshots: the background of a scene under the pointer turns nothing yellow', async () => {
  const page = await browser.open(),
    boxOf = async (/** @type {string} */ selector) =>
      /** @type {Box} */ (await page.locator(selector).boundingBox()),
    frame = await boxOf('#frame'),
    patches = await boxOf('#patches'),
    grid = await boxOf('#heads-canvas'),
    chosen = { ...grid, y: grid.y + (grid.height * 3) / 5, width: grid.width / 4 }
  chosen.height = grid.height / 5
  const shares = async () => {
    const png = (await page.screenshot()).toString('base64')
    const [picture, heads, head] = await Promise.all(
      [frame, grid, chosen].map((box) => page.evaluate(yellowShare, { png, box }))
    )
    return { picture, heads, head }
  }
  await until(page, '#view .ticks', /\d$/)
  const away = await shares(),
    ticks = await text(page, '#view .ticks')
  await page.mouse.move(patches.x + patches.width / 28, patches.y + patches.height / 28)
  await until(page, '#stage-title', /\(0, 0\)/)
  await page.waitForFunction(
    (before) => document.querySelector('#view .ticks')?.textContent !== before,
    ticks
  ) // the maps of all heads are drawn anew
  const over = await shares(),
    said = JSON.stringify({ away, over })
  assert.ok(away.picture > 0.03 && away.head > 0.01, said) // of shapes, and of the twin
  assert.ok(over.picture < 0.06, said) // the yellow shapes alone have 0.058
  assert.ok(over.heads <= (await sharesAbove(3, [0, 0])), said) // yellow is what has 3 × uniform or more
  assert.ok(over.head === 0, said) // all on CLS
  await finish(page)
})

test('a first visit asks for the weights once, before the scripts that use them', async () => {
  // From a file without requests of its own: none of another visit is among those that are counted.
  const page = await browser.open('icon.svg', { ready: false }),
    asked = /** @type {string[]} */ ([])
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto(browser.address)
  await page.waitForSelector('html[data-ready]')
  const weights = asked.filter((path) => path.includes('model.safetensors'))
  assert.deepEqual(weights, ['/heed/demo/model.safetensors.deflate'])
  assert.ok(asked.indexOf(weights[0]) < asked.indexOf('/heed/worker.js'), asked.join())
  await finish(page)
})

test('another patch under the mouse is drawn before the frame that its move waits for, numbers when it rests', async () => {
  const page = await browser.open(),
    facts = await page.textContent('#facts')
  /** Both events, as a mouse over a patch sends them. */
  const seen = await page.evaluate(async () => {
    const cells = document.querySelectorAll('#patches button'),
      title = document.getElementById('stage-title'),
      send = (/** @type {number} */ cell, buttons = 0) =>
        cells[cell].dispatchEvent(
          new PointerEvent('pointerrawupdate', { bubbles: true, pointerType: 'mouse', buttons })
        ),
      settle = () => new Promise((done) => setTimeout(done, 5)),
      frame = () => new Promise((done) => requestAnimationFrame(done)),
      titles = []
    await frame()
    send(0, 1) // pressed: the drag's own matter
    await settle()
    titles.push(title.textContent)
    await frame()
    let frames = 0
    requestAnimationFrame(() => frames++)
    const drawn = new Promise((done) => {
      new MutationObserver(() => done(frames)).observe(title, {
        characterData: true,
        childList: true,
        subtree: true
      })
      setTimeout(() => done('never drawn'), 2000)
    })
    send(0)
    const before = await drawn
    titles.push(title.textContent)
    return { titles, before, early: document.getElementById('facts').textContent }
  })
  assert.doesNotMatch(seen.titles[0], /\(0, 0\)/)
  assert.match(seen.titles[1], /\(0, 0\)/)
  assert.equal(seen.before, 0, 'frames until it was drawn')
  assert.equal(seen.early, facts)
  await page.waitForFunction(
    (facts) => document.getElementById('facts').textContent !== facts,
    facts
  )
  await finish(page)
})

/**
 * The second step of the tour shows the head that its text names, by its own numbers: it gives most
 * to its own star, on a scale that shows it.
 * @param {TestPage} page
 */
async function checkOtherHead(page) {
  const [, layer, head, share] = /** @type {RegExpMatchArray} */ (
      (await text(page, '#tour-text')).match(
        /Head (\d)\.(\d), shown here, gives ([\d.]+) % to its own star/
      )
    ),
    title = await text(page, '#stage-title')
  assert.ok(title.startsWith(`Layer ${layer}, head ${head}: from patch (2, 10)`), title)
  assert.equal(await text(page, '#bar-label'), 'share of each map’s largest')
  const runtime = await createRuntime({ worker: false }),
    session = (await runtime.loadModel(demoModel)).createSession({ taps: 'rows' }),
    { image, owner } = await runtime.scene(159)
  await session.run(image)
  const row = await session.attention({ layer: Number(layer), head: Number(head), query: [2, 10] }),
    own = owner.reduce((sum, one, i) => (one === owner[2 * 14 + 10] ? sum + row[1 + i] : sum), 0)
  runtime.close()
  assert.ok(Math.abs(own * 100 - Number(share)) < 0.06, `${own} beside ${share} %`)
}

test('the tour: by keyboard, in the address, a head taken out changes the answer; skipped, it is not offered again', async () => {
  const page = await browser.open()
  assert.ok(await page.isVisible('#invite'))
  await page.focus('#tour-start')
  await page.keyboard.press('Enter')
  await until(page, '#tour-title', /^Drag the star\.$/)
  await page.waitForFunction(() => location.hash.includes('tour=1'))
  assert.equal(await page.isVisible('#invite'), false)
  await page.keyboard.press('Tab') // Back is off on the first step
  await page.keyboard.press('Enter')
  await until(page, '#tour-text', /^Head 3\.0 gives 99\.5 % of its attention to the other star/)
  await checkOtherHead(page)
  await page.keyboard.press('Enter')
  await until(page, '#stage-title', /^Layer 0, head 0/)
  await until(
    page,
    '#tour-text',
    /^Head 0\.0 gives 97\.7 % of its attention to patches at most 2 away/
  )
  await page.keyboard.press('Enter')
  await until(page, '#tour-text', /was star 100\.0 %; it is now cross 79\.1 %/)
  await until(page, '#answer', /^cross/)
  await page.waitForFunction(() => location.hash.includes('tour=4'))
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => !location.hash.includes('tour') && !location.hash.includes('x='))
  await until(page, '#answer', /^star/)
  await page.goto(`${browser.address}?again#v=heads`)
  await page.waitForSelector('html[data-ready]')
  assert.equal(await page.isVisible('#invite'), false)
  await finish(page)
  const linked = await browser.open('#tour=3', { reducedMotion: 'reduce' })
  await until(linked, '#tour-title', /^Another layer\.$/)
  await finish(linked)
})

test('the invitation speaks of the first picture alone: another takes it away for good', async () => {
  for (const other of ['#samples button:nth-child(2)', 'photograph']) {
    const page = await browser.open()
    assert.ok(await page.isVisible('#invite'))
    if (other === 'photograph')
      await page.setInputFiles('#picture-file', {
        name: 'chelsea.png',
        mimeType: 'image/png',
        buffer: await page.screenshot()
      })
    else await page.click(other)
    await until(page, '#status', /^(?!.*159).*: [\d.]+ ms$/)
    assert.equal(await page.isVisible('#invite'), false, other)
    await page.click('#samples button:nth-child(1)')
    await until(page, '#status', /159/)
    assert.equal(await page.isVisible('#invite'), false)
    await finish(page)
  }
})

test('the invitation and the tour are of the demo model alone', async () => {
  const page = await browser.open()
  assert.ok(await page.isVisible('#invite'))
  await page.setInputFiles('#model-files', await bigModel({ layers: 2, side: 16 }))
  await until(page, '#model-facts', /^2 layers/)
  await page.waitForSelector('#invite', { state: 'hidden' })
  await page.click('#help')
  await page.click('#tour-again')
  await until(page, '#tour-title', /^Drag the star/)
  assert.match(await text(page, '#model-name'), /^Demo model/)
  await page.click('#tour-next')
  await until(page, '#tour-text', /its own star/)
  await page.setInputFiles('#model-files', await bigModel({ layers: 2, side: 16 }))
  await page.waitForSelector('#tour', { state: 'hidden' })
  await page.waitForFunction(() => !location.hash.includes('tour'))
  await finish(page)
})

test('a drag that begins on a shape takes it along in each view, and the query with it; a press alone chooses a patch', async () => {
  for (const view of ['heads', 'rollout', 'statistics']) {
    const page = await browser.open(`#v=${view}`),
      box = /** @type {Box} */ (await page.locator('#patches').boundingBox()),
      at = /** @returns {[x: number, y: number]} */ (
        /** @type {number} */ x,
        /** @type {number} */ y
      ) => [box.x + (box.width * x) / 224, box.y + (box.height * y) / 224]
    await page.mouse.move(...at(173, 60))
    await page.waitForSelector('#arcs', { state: 'attached' }) // what the first touch fetches is there
    await page.mouse.click(...at(173, 60))
    await until(page, '#stage-title', /from patch \(3, 10\)/)
    assert.doesNotMatch(page.url(), /objects/)
    await page.mouse.move(...at(173, 46))
    await page.mouse.down()
    for (let step = 1; step <= 6; step++)
      await page.mouse.move(...at(173 + step * 2, 46 + step * 8), { steps: 2 })
    await page.mouse.up()
    await until(page, '#status', /^Your scene/)
    await until(page, '#stage-title', /from patch \(5, 11\)/)
    if (view === 'heads') await until(page, '#caption', /most to patch \((9|10|11), [0-3]\)/)
    await page.waitForFunction(() => location.hash.includes('objects='))
    await finish(page)
  }
})

test('the first drag takes its shape along, also where what drags comes late', async () => {
  for (const late of [0, 700]) {
    const page = await browser.open()
    await page.route('**/shape_drag-*.js', async (route) => {
      await new Promise((done) => setTimeout(done, late))
      await route.continue()
    })
    const box = /** @type {Box} */ (await page.locator('#patches').boundingBox()),
      at = (/** @type {number} */ x, /** @type {number} */ y) =>
        /** @type {const} */ ([box.x + (x / 224) * box.width, box.y + (y / 224) * box.height])
    await page.mouse.move(...at(173, 46))
    await page.mouse.down()
    await page.mouse.move(...at(180, 120), { steps: 3 })
    await page.mouse.up()
    await page.waitForFunction(() => location.hash.includes('objects='))
    await until(page, '#stage-title', /from patch \(7, 11\)/)
    await finish(page)
  }
})

test('a press that waits for what drags is a press', async () => {
  const page = await browser.open()
  await page.route('**/shape_drag-*.js', async (route) => {
    await new Promise((done) => setTimeout(done, 300))
    await route.continue()
  })
  await page.locator('#patches [role=gridcell] >> nth=49').click()
  await until(page, '#stage-title', /from patch \(3, 7\)/)
  await page.waitForFunction(() => location.hash === '#q=3.7')
  await finish(page)
})

test('arcs lead from a chosen patch to its keys, both twins are outlined; none while the pointer moves', async () => {
  const page = await browser.open()
  await page.focus('#patches [tabindex="0"]')
  await page.waitForSelector('#arcs .arc', { state: 'attached' })
  assert.equal(await page.locator('#arcs .arc').count(), 5)
  assert.equal(
    await page
      .locator('#arcs .arc >> nth=0')
      .evaluate((arc) => getComputedStyle(arc).animationDuration),
    '0.18s, 0.18s' // as docs/web.md has it
  )
  assert.match(/** @type {string} */ (await page.getAttribute('#arcs .twins', 'd')), /^M/)
  const box = /** @type {Box} */ (await page.locator('#patches').boundingBox())
  await page.mouse.move(box.x + (box.width * 4.5) / 14, box.y + (box.height * 6.5) / 14)
  await page.waitForFunction(() => !document.querySelector('#arcs .arc'))
  await finish(page)
})

test('terms explain themselves on hover, focus and press; Escape hides what they say', async () => {
  const page = await browser.open()
  for (const [term, said] of /** @type {[string, RegExp][]} */ ([
    ['#bar-label', /1 = what equal attention would give/],
    ['#facts .term >> nth=0', /0 = one token has all/],
    ['#stage-title .term:text-is("Layer")', /^One of the model’s steps/],
    ['#stage-title .term:text-is("head")', /^One of several independent attentions/],
    ['#stage-title .term:text-is("patch (2, 10)")', /^The query: the token whose attention/],
    ['#cls', /^CLS and registers are tokens without a place/],
    ['#machine', /thread/]
  ])) {
    for (const reach of /** @type {const} */ (['focus', 'hover'])) {
      await page[reach](term)
      await page.waitForSelector('#term-said') // hidden, it still has the text of before
      await until(page, '#term-said', said)
      assert.equal(await page.getAttribute(term, 'aria-describedby'), 'term-said')
      await page.keyboard.press('Escape')
      assert.equal(await page.isVisible('#term-said'), false)
    }
  }
  await page.click('[popovertarget=display]')
  await until(page, '#display-said', /1 × uniform is what every token would get[^]*Softmax/)
  await finish(page)
})

test('a word of the title keeps the focus while keys change what the title says', async () => {
  const page = await browser.open()
  await page.focus('#stage-title .term:text-is("head")')
  for (const [key, title] of /** @type {[string, RegExp][]} */ ([
    [']', /^Layer 4, head 0: from patch/],
    ['c', /^Layer 4, head 0: from CLS$/],
    ['c', /^Layer 4, head 0: from patch/]
  ])) {
    await page.keyboard.press(key)
    await until(page, '#stage-title', title)
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'head')
  }
  await finish(page)
})
