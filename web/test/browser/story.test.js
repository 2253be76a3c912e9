/* The story of Learn: its arithmetic in Node, and its ten steps in Chromium, their numbers beside
 * those of the runtime in Node. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser } from '../browser.js'
import { createRuntime, demoModel, explain, loadPage, packageFolder } from '../package.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {typeof import('../../pages/shared/array_files.js')} */
const { readSafetensorsHeader, readTensor } = await loadPage('shared/array_files.js')

const { largestKeys, layerNorm, mixed, project, shares } = await loadPage('learn/story_numbers.js')

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

/**
 * @param {number} found
 * @param {number} expected
 * @param {number} by
 */
const near = (found, expected, by) =>
  assert.ok(Math.abs(found - expected) <= by, `${found}, expected ${expected}`)

test('the arithmetic of the story', () => {
  const normed = layerNorm([1, 2, 3, 6], [1, 1, 1, 2], [0, 0, 0, 1])
  near(normed[0], -2 / Math.sqrt(3.5), 1e-12)
  near(normed[3], (2 * 3) / Math.sqrt(3.5) + 1, 1e-12)
  assert.equal(project([1, 2], [0, 0, 3, 4], [0, 0.5], 1), 11.5)
  near(shares([0, Math.log(3)], 1)[1], 0.75, 1e-12)
  near(shares([0, Math.log(3)], 0.5)[1], 0.9, 1e-12)
  assert.deepEqual(
    shares([1000, 5, 1000], 1, (/** @type {number} */ key) => key === 0),
    [0, 0, 1]
  )
  assert.equal(mixed([0.25, 0.75], [1, 2, 3, 4], 2, 1), 3.5)
  assert.deepEqual(largestKeys([3, 5, 1, 5], 3), [1, 3, 0])
})

/**
 * The step's text, once it is the step that is shown.
 * @param {TestPage} page
 * @param {number} step
 */
async function shown(page, step) {
  await page.waitForSelector(`#story[data-shown="${step}"]`, { timeout: 60000 })
  const text = async (/** @type {string} */ of) =>
    /** @type {string} */ (await page.locator(of).innerText()).replaceAll('−', '-')
  return {
    said: await text('#story-said'),
    numbers: await text('#story-numbers'),
    answer: /** @type {string} */ (
      await page
        .locator('.chapter [data-look]')
        .nth(step - 1)
        .textContent()
    ).replaceAll('−', '-')
  }
}

/** What the steps tell, from the runtime in Node. */
async function expected() {
  const runtime = await createRuntime(),
    { image, twins, owner } = await runtime.scene(159),
    model = await runtime.loadModel(demoModel),
    at = 'layer.3.',
    names = [...['query', 'key', 'value'].map((name) => at + name), 'layer.2.output'],
    session = model.createSession({ taps: names }),
    { heads, tokens, prefixTokens, columns } = await session.ready,
    { values } = await session.run(image),
    [query, key, value, states] = names.map((name) => values[name].data),
    all = model.createSession({ taps: 'all' }),
    token = prefixTokens + 2 * columns + 10,
    depth = query.length / heads / tokens,
    mine = owner[token - prefixTokens],
    onTwin = (/** @type {Float32Array} */ row) =>
      owner.reduce(
        (sum, one, patch) =>
          sum + (twins?.includes(one) && one !== mine ? row[prefixTokens + patch] : 0),
        0
      ),
    answers = []
  await all.run(image)
  const rows = await Promise.all(
      [0, 1, 2, 3].map((head) => all.attention({ layer: 3, head, query: token }))
    ),
    scores = Array.from({ length: tokens }, (_, other) => {
      let sum = 0
      for (let i = 0; i < depth; i++) sum += query[token * depth + i] * key[other * depth + i]
      return sum
    }),
    rollout = await all.rollout({ query: token })
  for (const off of [null, [3, 0], [2, 3]]) {
    const changed = model.createSession({ intervene: {} })
    if (off) {
      const gain = new Float32Array(heads).fill(1)
      gain[off[1]] = 0
      await changed.write(`layer.${off[0]}.attention.gain`, gain)
    }
    const logits = /** @type {Float32Array} */ ((await changed.run(image)).logits),
      found = explain.softmax(logits),
      best = found.indexOf(Math.max(...found))
    answers.push(`${model.info.labels[best]} ${(100 * found[best]).toFixed(1)}`)
  }
  runtime.close()
  const width = states.length / tokens,
    projected = [query, key, value].map((all) => all.slice(token * depth, (token + 1) * depth))
  return {
    scores,
    rows,
    onTwin,
    rollout,
    depth,
    answers,
    tokens,
    state: states.slice(token * width, (token + 1) * width),
    projected
  }
}

/** @param {string} text */
const percentIn = (text) => Number(/([\d.]+)\s?%/.exec(text)?.[1])

/**
 * The four numbers that a table has beside a name.
 * @param {string} table
 * @param {string} name
 */
function numbersAfter(table, name) {
  const line = table.split('\n').find((line) => line.startsWith(name)) ?? '',
    found = line.slice(name.length).match(/-?\d+\.\d+/g) ?? []
  assert.equal(found.length, 4, table)
  return found.map(Number)
}

/**
 * x is the state after layer norm, and the sum that is written out has its numbers.
 * @param {{said: string, numbers: string}} step
 * @param {ArrayLike<number>} state
 * @param {ArrayLike<number>[]} projected the runtime's query, key and value
 */
async function checkProjections({ said, numbers }, state, projected) {
  const file = new File([await readFile(join(packageFolder, 'demo/model.safetensors'))], 'model'),
    read = await readSafetensorsHeader(file),
    of = async (/** @type {string} */ name) =>
      (await readTensor(file, read, `vit.encoder.layer.3.${name}`)).data,
    weight = await of('attention.attention.query.weight'),
    bias = await of('attention.attention.query.bias'),
    x = layerNorm(state, await of('layernorm_before.weight'), await of('layernorm_before.bias'))
  numbersAfter(numbers, 'x').forEach((value, i) => near(value, x[i], 6e-4))
  ;['query', 'key', 'value'].forEach((name, row) =>
    numbersAfter(numbers, name).forEach((value, i) => near(value, projected[row][i], 6e-4))
  )
  const written = said.match(/-?\d+\.\d+/g) ?? []
  assert.equal(written.length, 6, said)
  ;[x[0], weight[0], x[1], weight[1], bias[0], projected[0][0]].forEach((value, i) =>
    near(Number(written[i]), value, 6e-4)
  )
}

test('without scripts each step has its figure, numbers and answer, those of the page', async () => {
  const still = await browser.open('learn.html', { javaScriptEnabled: false, ready: false }),
    page = await browser.open('learn.html#step=4'),
    { said, answer } = await shown(page, 4),
    chapters = still.locator('.chapter')
  assert.equal(await chapters.count(), 10)
  for (let i = 0; i < 10; i++) {
    const picture = chapters.nth(i).locator('img')
    await picture.scrollIntoViewIfNeeded()
    assert.equal(await picture.evaluate((img) => /** @type {any} */ (img).naturalWidth > 0), true)
    assert.ok((await chapters.nth(i).locator('td').count()) >= (i ? 2 : 0))
  }
  const fourth = (await chapters.nth(3).innerText()).replaceAll('−', '-')
  assert.ok(fourth.includes(said) && fourth.includes(answer), fourth)
  assert.equal(await still.isVisible('#story-figure'), false)
  await finish(page)
  still.faults = still.faults.filter((fault) => !fault.endsWith('.js: csp')) // no script is preloaded
  await finish(still, 'learn-still')
})

test('each step by the arrow keys; its numbers are the runtime’s', async () => {
  const page = await browser.open('learn.html'),
    { scores, rows, onTwin, rollout, answers, tokens, state, projected } = await expected(),
    [row] = rows,
    largest = Math.max(...row)
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'BODY') // keys count wherever the focus is
  const steps = /** @type {Awaited<ReturnType<typeof shown>>[]} */ ([])
  for (let step = 2; step <= 10; step++) {
    await page.keyboard.press(step % 2 ? 'ArrowDown' : 'ArrowRight')
    steps[step] = await shown(page, step)
    await page.waitForFunction((step) => location.hash.includes(`step=${step}`), step)
    assert.ok(
      await page.evaluate(
        (step) => document.activeElement?.getAttribute('aria-label') === `Step ${step}`,
        step
      ),
      `step ${step} has the focus`
    )
  }
  for (const step of [3, 5, 6])
    near(Number(/ to (\de-\d+)\./.exec(steps[step].said)?.[1]), 0, 2e-6 * (step === 3 ? 5 : 1))
  await checkProjections(steps[3], state, projected)
  numbersAfter(steps[2].numbers, 'patch (2, 10)').forEach((value, i) => near(value, state[i], 6e-4))
  near(Number(/: (-?[\d.]+)\.$/.exec(steps[4].answer)?.[1]), Math.max(...scores), 6e-4)
  near(Number(/smallest is (-?[\d.]+),/.exec(steps[4].said)?.[1]), Math.min(...scores), 6e-4)
  assert.ok(steps[4].said.startsWith(`${tokens} products`))
  near(percentIn(steps[5].answer.split('0.5, ')[1]), 100 * largest, 0.06)
  near(percentIn(steps[6].answer), 100 * largest, 0.06)
  near(percentIn(steps[6].answer.split('together')[1]), 100 * onTwin(row), 0.06)
  rows.forEach((row, head) => {
    near(percentIn(steps[7].numbers.split(`3.${head}`)[1]), 100 * onTwin(row), 0.06)
  })
  near(percentIn(steps[9].numbers.split('rollout')[1]), 100 * onTwin(rollout), 0.06)
  for (const answer of answers) assert.ok(steps[10].numbers.includes(answer), answer)
  await finish(page, 'learn-story')
})

test('a step opens by its link, its question shows the answer, the temperature redraws', async () => {
  const page = await browser.open('learn.html#step=5'),
    before = await shown(page, 5)
  await page.click('.chapter >> nth=4 >> summary')
  await page.waitForSelector('.chapter:nth-child(5) details[open]')
  await page.fill('#story-temperature', '2')
  await page.waitForFunction(() =>
    document.querySelector('#story-said')?.textContent?.startsWith('Temperature 2.')
  )
  const { numbers, answer } = await shown(page, 5)
  assert.notEqual(numbers, before.numbers)
  const found = numbers.match(/[\d.]+(?=\s?%)/g) ?? [],
    most = Math.max(...found.slice(0, -1).map(Number))
  near(percentIn(answer.split('1, and ')[1]), most, 0.06)
  await page.click('.chapter >> nth=7 >> [data-bench]')
  await page.waitForFunction(() => document.activeElement?.id === 'mask-title')
  await finish(page, 'learn-step')
})

test('each step leads to what goes on with it, or to nothing', async () => {
  const page = await browser.open('learn.html#step=10')
  assert.deepEqual(
    await page.locator('.chapter').evaluateAll((chapters) =>
      chapters.map((chapter) => {
        const button = /** @type {HTMLElement | null} */ (chapter.querySelector('[data-bench]')),
          link = chapter.querySelector('a:not([href*=zoom])')
        return button?.dataset.bench ?? link?.getAttribute('href') ?? ''
      })
    ),
    [
      'given',
      '',
      'given',
      'scores-title',
      'weights-title',
      'output-title',
      'heads-title',
      'mask-title',
      'real-title',
      './#v=intervene&x=3.0'
    ]
  )
  await shown(page, 10)
  await page.waitForLoadState('networkidle') // what is left while it loads counts as an error
  await page.click('.chapter >> nth=9 >> a')
  await page.waitForFunction(
    () =>
      document.getElementById('stage-title')?.textContent?.includes('without 3.0') &&
      document.querySelector('#view [data-key="3.0"]')
  )
  await finish(page)
})

test('scrolling leads through the steps, and the figure stays in sight', async () => {
  for (const [width, height] of [
    [1366, 768],
    [360, 740]
  ]) {
    const page = await browser.open('learn.html', { viewport: { width, height } })
    await page.locator('.chapter').nth(3).scrollIntoViewIfNeeded()
    await page.evaluate(() =>
      document.querySelectorAll('.chapter')[3].scrollIntoView({ block: 'center' })
    )
    await shown(page, 4)
    const box = /** @type {{y: number, height: number}} */ (
      await page.locator('#story-picture').boundingBox()
    )
    assert.ok(box.y >= 0 && box.y + box.height <= height, JSON.stringify(box))
    await page.goto(`${browser.address}learn.html#step=7`)
    await page.reload()
    await shown(page, 7)
    const [title, figure] = await Promise.all(
      ['.chapter.current h2', '#story-figure'].map((part) => page.locator(part).boundingBox())
    )
    assert.ok(
      title &&
        figure &&
        (title.x >= figure.x + figure.width ||
          title.x + title.width <= figure.x ||
          title.y >= figure.y + figure.height),
      JSON.stringify([title, figure])
    ) // what is read is not below the figure
    const cut = await page.locator('#story-picture > *').evaluateAll(
      (parts) =>
        parts.filter((part) => {
          const { x, y, width, height } = /** @type {SVGGraphicsElement} */ (part).getBBox()
          return x < -1 || y < -1 || x + width > 101 || y + height > 101
        }).length
    )
    assert.equal(cut, 0, 'parts of the figure that stick out')
    await page.screenshot({
      path: new URL(`../../../build/web/screenshots/learn-scroll-${width}.png`, import.meta.url)
        .pathname
    })
    await finish(page)
  }
})
