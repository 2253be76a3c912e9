/* The languages: what their files hold, and the pages that are in them, in a browser. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { finish, startBrowser, violations } from '../browser.js'
import { loadPage, plot, repository } from '../package.js'
import { languages } from '../../build/languages.js'
import { fill } from '../../build/pages.js'
/** @import {TestBrowser, TestPage} from '../browser.js' */

/** @type {typeof import('../../pages/shared/array_files.js')} */
const { npyParts } = await loadPage('shared/array_files.js')
/** @type {typeof import('../../pages/explorer/views/view_list.js')} */
const { views } = await loadPage('explorer/views/view_list.js')

/** @type {typeof import('../../pages/explorer/controls/machine_reason.js')} */
const { reasons } = await loadPage('explorer/controls/machine_reason.js')

/** @type {TestBrowser} */
let browser
before(async () => (browser = await startBrowser()))
after(() => browser.close())

/** The names in braces of a text. @param {string} text */
const namesIn = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

/** A key without its plural rule. @param {string} key */
const baseOf = (key) => key.replace(/_(zero|one|two|few|many|other)$/, '')

test('each language has the keys of English, once for each of its plural rules, with the same names in braces', () => {
  const english = Object.keys(languages.en)
  for (const [language, words] of Object.entries(languages)) {
    const rules = new Intl.PluralRules(language).resolvedOptions().pluralCategories,
      expected = [...new Set(english.map(baseOf))].flatMap((key) =>
        english.includes(key) ? [key] : rules.map((rule) => `${key}_${rule}`)
      )
    assert.deepEqual(Object.keys(words).sort(), expected.sort(), language)
    for (const [key, text] of Object.entries(words))
      assert.deepEqual(
        namesIn(text),
        namesIn(languages.en[key] ?? languages.en[`${baseOf(key)}_other`]),
        `${language} ${key}`
      )
  }
})

/** @typedef {{ concept: string, en: string, ja: string, zh: string, other?: string[], not?: Record<string, string> }} Term */
test('a concept has one term in each language, as the glossary says', () => {
  /** @type {{ terms: Term[] }} */
  const { terms } = JSON.parse(
      readFileSync(join(repository, 'web/pages/languages/glossary.json'), 'utf8')
    ),
    wrong = /** @type {string[]} */ ([]),
    used = new Set()
  for (const { concept, en, other = [], not = {}, ...term } of terms) {
    for (const key of other) assert.ok(key in languages.en, `${concept}: ${key}`)
    for (const [key, english] of Object.entries(languages.en)) {
      // names and code are the same in all
      const text = english.replace(/<code>.*?<\/code>/g, '').replace(/\{\w+\}/g, '{}')
      if (!new RegExp(en, 'i').test(text) || other.includes(key)) continue
      used.add(concept)
      for (const language of /** @type {const} */ (['ja', 'zh'])) {
        const said = languages[language][key] ?? languages[language][`${baseOf(key)}_other`]
        if (!new RegExp(term[language]).test(said))
          wrong.push(`${language} ${key} has no ${term[language]} for ${concept}: ${said}`)
      }
    }
    for (const [language, pattern] of Object.entries(not))
      for (const [key, said] of Object.entries(languages[language]))
        if (new RegExp(pattern).test(said))
          wrong.push(`${language} ${key} has ${pattern} for ${concept}: ${said}`)
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual(
    terms.map(({ concept }) => concept).filter((concept) => !used.has(concept)),
    []
  )
})

test('every text is asked for, by a script or a page', () => {
  const asked = new Set(
    ['web/pages', 'web/parts'].flatMap((folder) =>
      readdirSync(join(repository, folder), { recursive: true })
        .map(String)
        .filter((file) => /\.(ts|html)$/.test(file))
        .flatMap((file) =>
          [
            ...readFileSync(join(repository, folder, file), 'utf8').matchAll(
              /'([\w.]+)'|\{\{([\w.]+)\}\}|\bsay\(`([\w.]+)\$/g
            )
          ].map(([, script, page, start]) => script ?? page ?? start)
        )
    )
  )
  assert.deepEqual(
    Object.keys(languages.en).filter(
      (key) => !asked.has(baseOf(key)) && !asked.has(key.replace(/[\w-]+$/, '')) // say(`scene.${name}`)
    ),
    []
  )
})

test('a text that depends on a number has the form of its rule', async () => {
  const { say } = await loadPage('languages/say.js') // English, where there is no page
  assert.deepEqual(
    [0, 1, 2].map((count) => say('changes.dropped', { count })),
    ['0 patches dropped', '1 patch dropped', '2 patches dropped']
  )
})

/* Each was once on a page: not wrong, but as a translator would say it. */
const translated =
  /\b(?:press on (?:the|a)|length of the state|likeness|tak(?:e|en|es|ing) out|best \d|of the largest, ln|is for the \w+ to say|not told|in the place of)\b/i

test('English has no words that read as translated', () => {
  for (const [key, text] of Object.entries(languages.en))
    assert.doesNotMatch(text.replace(/\{\w+\}/g, ''), translated, key)
})

test('what the runtime says of its threads and instructions is in each language', () => {
  const source = readFileSync(join(repository, 'web/src/module.ts'), 'utf8'),
    found = [
      ...[...source.matchAll(/one\('([^']+)'\)/g)].map(([, why]) => `one thread: ${why}`),
      '2 threads: one per core',
      'one thread: the others could not start (out of memory)',
      `no relaxed SIMD: ${/&& '(this engine [^']+)'/.exec(source)?.[1]}`,
      `no relaxed SIMD: ${/\? '(this package [^']+)'/.exec(source)?.[1]}`
    ].filter((why) => !/asked for|a window may not wait/.test(why)) // pages ask for nothing, from a worker
  assert.equal(found.length, 6)
  const [gpu, side] = ['gpu', 'gpu_side'].map((name) =>
      readFileSync(join(repository, `web/src/${name}.ts`), 'utf8')
    ),
    notOnGpu = [
      ...[...gpu.matchAll(/new NoGpu\(\s*['`]([^'`]+)['`]/g)].map(([, why]) => why),
      ...[...side.matchAll(/(?:return |this\.why = )['`]([^'`]{9,})['`]/g)].map(([, why]) => why)
    ]
      .map((why) => why.replace(/\$\{[^}]*\}/g, '20'))
      .filter((why) => !/^Node |is closed$/.test(why)) // no page says these
  assert.ok(notOnGpu.length >= 13, notOnGpu.join('\n'))
  for (const why of [...found, ...notOnGpu])
    assert.ok(
      reasons.some(([pattern]) => pattern.test(why)),
      why
    )
})

test('a page whose text no language has is an error', () => {
  assert.equal(fill('<p>{{a}}</p>', { a: '{{b}}', b: 'one' }), '<p>one</p>')
  assert.throws(() => fill('<p>{{c}}</p>', {}), /\{\{c\}\}: no such text/)
})

for (const name of ['index', 'masks', 'learn', 'bench', 'embed'])
  test(`${name} has no text outside of the table`, () => {
    const text = readFileSync(join(repository, `web/pages/${name}.html`), 'utf8').replace(
      /<(code|option)>[^<]*/g,
      '' // values, which are the same in all
    )
    const said = [
      ...text.matchAll(/>([^<>]*)<|(?:aria-label|title|alt|content|placeholder)="([^"]*)"/g)
    ]
      .map(([, between, attribute]) => (between ?? attribute).replace(/\{\{[\w.]+\}\}/g, ''))
      .map((rest) =>
        rest.replace(/\b(CLS|SHA-256|uniform|star|heed|Apache|GFLOP\/s|gzip|brotli)\b/g, '')
      ) // the same in all
      .filter((rest) => /[A-Za-z]{2}/.test(rest))
    assert.deepEqual(said, [])
  })

/**
 * A page in a language that the browser asks for: it is chosen, its script alone is fetched, nothing
 * sticks out at 360 pixels.
 * @param {string} path
 * @param {string} language
 * @param {string} title
 */
async function openIn(path, language, title) {
  const page = await browser.open(path, {
      locale: language,
      ready: false,
      viewport: { width: 360, height: 800 }
    }),
    scripts = /** @type {string[]} */ ([]),
    name = path.split('.')[0]
  page.on('request', (request) => {
    if (request.url().includes(`/${name}-`)) scripts.push(request.url())
  })
  await page.waitForSelector(`h1:text-is("${title}")`)
  await page.waitForSelector('html[data-ready]')
  assert.equal(new URL(page.url()).hash, `#${path.split('#')[1]}`)
  assert.ok(new Set(scripts).size <= 1, scripts.join())
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
  return page
}

test('Masks in each language: chosen by the browser, switched, kept; only its script is fetched; no scroll at 360', async () => {
  for (const [language, title] of [
    ['ja-JP', 'マスクとその組み合わせ'],
    ['zh-CN', '掩码及其组合'],
    ['zh-TW', 'Masks and how they combine']
  ]) {
    const page = await openIn('masks.html#q=4', language, title)
    await page.selectOption('#language', 'en')
    await page.waitForURL(/masks\.en\.html#q=4$/)
    await page.reload()
    await page.waitForSelector('html[lang=en][data-ready]')
    page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // what the change of pages ended
    await finish(page, `masks-${language}`)
  }
})

test('English has an address on every page: another browser’s language and choice leave it, and its links keep it', async () => {
  for (const name of ['index', 'masks', 'learn', 'bench', 'embed']) {
    const page = await browser.open(`${name}.en.html`, { locale: 'ja-JP' })
    assert.match(page.url(), new RegExp(`/${name}\\.en\\.html`))
    assert.equal(await page.getAttribute('html', 'lang'), 'en')
    assert.equal(await page.inputValue('#language'), 'en')
    for (const link of await page.locator('header a').all())
      assert.match(/** @type {string} */ (await link.getAttribute('href')), /^\w+\.en\.html$/)
    page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
    await finish(page)
  }
  const page = await browser.open('masks.ja.html')
  await page.selectOption('#language', 'zh')
  await page.waitForURL(/masks\.zh\.html$/)
  await page.goto(`${browser.address}masks.en.html`)
  await page.waitForSelector('html[lang=en][data-ready]')
  await page.click('.pages a >> nth=1')
  await page.waitForURL(/learn\.en\.html$/)
  await page.waitForSelector('html[lang=en][data-ready]')
  await page.goto(`${browser.address}masks.html`) // the address without a language has the one that was chosen
  await page.waitForURL(/masks\.zh\.html$/)
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
  await finish(page)
})

test('Learn in Japanese and Chinese: the story’s sentences and numbers, the workbench, the sorter', async () => {
  for (const [language, title, said, star, score] of [
    [
      'ja-JP',
      'トランスフォーマーがもう一つの星を見つけるまでの十のステップ',
      '温度 1。',
      'パッチ (10, 1)',
      'スコア'
    ],
    ['zh-CN', '十步看懂 Transformer 如何找到另一颗星', '温度 1。', '图像块 (10, 1)', '得分']
  ]) {
    const page = await openIn('learn.html#step=5', language, title)
    await page.waitForSelector('#story[data-shown="5"]', { timeout: 60000 })
    assert.ok((await page.locator('#story-said').innerText()).startsWith(said))
    assert.match(
      await page.locator('#story-numbers').innerText(),
      new RegExp(star.replace(/[()]/g, '\\$&'))
    )
    assert.match(await page.locator('#scores').innerText(), new RegExp(score))
    await page.click('#run-sort')
    await page.waitForSelector('#sort-result:not([hidden])', { timeout: 60000 })
    const english = (await page.locator('main').innerText()).match(
      /\b(the|patch|layer|head|of|is|query|weights|scores|row|column)\b/g
    )
    assert.deepEqual(english, null)
    page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
    await finish(page, `learn-${language}`)
  }
})

/* It measures as long as the English page, which lessons_pages.test.js has. */
if (process.env.HEED_SOAK)
  test('Bench in Japanese, and in Chinese until it is stopped: names of modules and ops, dates and numbers, no English', async () => {
    for (const [language, title, kept, kind, op, date, done] of [
      [
        'ja-JP',
        'ここではどれくらい速いか',
        /^このブラウザー、\d{4}\/\d\d\/\d\d$/,
        'スカラー',
        '線形、512 × 512 × 512',
        '2026/11/21',
        /モデルを 3 回/
      ],
      [
        'zh-CN',
        '在这里有多快？',
        /^此浏览器，\d{4}年\d+月\d+日$/,
        '标量',
        '线性，512 × 512 × 512',
        '2026年11月21日',
        /已停止/
      ]
    ]) {
      const page = await openIn(
        'bench.html#threads-title',
        /** @type {string} */ (language),
        /** @type {string} */ (title)
      )
      assert.ok((await page.innerText('#baseline-said')).includes(/** @type {string} */ (date)))
      const english = (await page.locator('main').innerText()).match(
        /\b(the|ops?|median|cores|threads?|runs?|scalar|quartiles|baseline|modules|yes|off)\b/g
      )
      assert.deepEqual(english, null)
      const measures = language === 'ja-JP' // one is enough; the other is stopped
      await page.fill('#runs', '3')
      await page.click('#start')
      if (measures) await page.waitForSelector('html[data-measured]', { timeout: 120000 })
      else await page.click('#start')
      await page.locator('#said', { hasText: /** @type {RegExp} */ (done) }).waitFor()
      assert.equal(await page.innerText('#times td >> nth=0'), kind)
      assert.equal(await page.innerText('#op-times td >> nth=0'), op)
      for (const table of await page.locator('.tables').all()) // a phone's width holds what was measured
        assert.ok(
          await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)
        )
      if (measures) {
        await page.click('#keep')
        assert.match(
          /** @type {string} */ (await page.textContent('#baseline option:last-child')),
          /** @type {RegExp} */ (kept)
        )
      }
      page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
      await finish(page, `bench-${language}`)
    }
  })

test('Embed in Japanese and Chinese: the caption, the examples, the sizes of files; copied code is the same', async () => {
  for (const [language, title, mean, rollout, size] of [
    [
      'ja-JP',
      '要素は一つ',
      '層 3、全ヘッドの平均：パッチ (2, 10)',
      '全層のロールアウト：パッチ (2, 10)',
      'モジュール：SIMD、スレッド、ONNX と PyTorch のファイル、テキスト、テストケース用'
    ],
    [
      'zh-CN',
      '一个元素',
      '第 3 层，各头的均值：图像块 (2, 10)',
      '所有层的 rollout：图像块 (2, 10)',
      '模块：SIMD，多线程，用于 ONNX 和 PyTorch 文件、文本和用例文件'
    ]
  ]) {
    const page = await openIn('embed.html#live-title', language, title)
    await page.waitForFunction(() =>
      /38\.3 × uniform/.test(document.getElementById('said').textContent)
    )
    for (const [control, value, said] of [
      ['#head', 'mean', mean],
      ['#view', 'rollout', rollout]
    ]) {
      await page.selectOption(control, value)
      await page.waitForFunction(
        (said) => document.getElementById('said').textContent.startsWith(said),
        said
      )
    }
    assert.equal(
      await page.textContent('#code'),
      '<script type="module" src="attention-map.js"></script>\n<attention-map scene="159" layer="3" head="mean" query="2,10" view="rollout"></attention-map>'
    )
    const line = page.locator('#sizes tr', { hasText: /^heed\/heed-all-threads\.wasm/ })
    assert.equal(await line.locator('td >> nth=1').innerText(), size)
    assert.match(await line.locator('td >> nth=2').innerText(), /^\d{2,3},\d{3}$/)
    for (const what of await page.locator('#sizes td:nth-child(2)').allInnerTexts())
      assert.doesNotMatch(what, /undefined|\b(the|module|loaded|reads|of)\b/)
    const english = (
      await page.locator('main :is(p, h1, h2, label, th, td:nth-child(n + 2))').allInnerTexts()
    )
      .join('\n')
      .match(/\b(the|patch|with|of|query|image|values|without|colour|folder|rows?)\b/g)
    assert.deepEqual(english?.filter((word) => !['query', 'row', 'image'].includes(word)) ?? [], [])
    page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED'))
    await finish(page, `embed-${language}`)
  }
})

test('captions by the table are those of the plots', async () => {
  const { caption, elsewhere, scoreCaption, captionWords } = plot, // in English
    row = Float32Array.of(0.1, 0.6, 0.2, 0.1, 0),
    place = { row, where: 'Layer 3, head 0', prefix: 2, columns: 2 },
    all = () =>
      [-1, 0, 1, 3].flatMap((token) => [
        caption({ ...place, token }),
        caption({ ...place, token, reverse: true }),
        caption({ ...place, token, rollout: true }),
        caption({ ...place, token, row: new Float32Array(5) }),
        caption({ ...place, token, row: new Float32Array(5), reverse: true }),
        elsewhere({ ...place, token, row: Float32Array.of(0.5, 0.45, 0.05, 0, 0) }),
        elsewhere({ ...place, token, row: Float32Array.of(0.95, 0, 0, 0, 0.05), rollout: true }),
        scoreCaption({ ...place, token, stage: 'q·k' }),
        scoreCaption({ ...place, token, stage: 'q·k', reverse: true }),
        scoreCaption({
          ...place,
          token,
          stage: 'q·k',
          row: Float32Array.of(1, -Infinity, 2, 3, 4)
        }),
        scoreCaption({ ...place, token, stage: 'q·k', row: new Float32Array(5).fill(-Infinity) })
      ]),
    before = all(),
    own = { ...captionWords }
  await loadPage('languages/captions.js') // of the page's own plots
  const { captionWords: table } = await loadPage('plot/caption_words.js')
  Object.assign(captionWords, table)
  assert.deepEqual(all(), before)
  Object.assign(captionWords, own)
})

/**
 * The box that says what the first term, a token's share and the machine's threads mean, and the
 * dialog of help, in the language of the page.
 * @param {TestPage} page
 * @param {string[]} terms what is said of the first; the other, and a word of what is said of it
 */
async function expectTerms(page, [first, term, said]) {
  const about = new Set(),
    words = [...(await page.locator('#stage-title .term').all()), page.locator('#cls')]
  for (const word of words) {
    await word.hover()
    await page.waitForFunction(
      (word) => word?.hasAttribute('aria-describedby'),
      await word.elementHandle()
    )
    about.add(await page.textContent('#term-said'))
    await page.keyboard.press('Escape')
  }
  assert.equal(about.size, 4)
  await page.hover('#facts .term >> nth=0')
  await page.waitForSelector(`#term-said:has-text("${first}")`)
  await page.keyboard.press('Escape') // it lies over the next
  await page.hover(`#facts .term:text-is("${term}")`)
  await page.waitForSelector(`#term-said:has-text("${said}")`)
  await page.hover('#machine')
  await page.waitForSelector(`#term-said:not(:has-text("${said}"))`)
  await page.keyboard.press('?')
  await page.waitForSelector('#keys[open]')
  const all = `${await page.textContent('#term-said')}\n${await page.innerText('#keys')}`
  assert.equal(all.match(/\b(threads?|cores?|engine|arrows|layer|head|views)\b/g), null)
  await page.keyboard.press('Escape')
}

test('the explorer in Japanese and Chinese: its script alone, captions, views, terms, the tour; it is switched', async () => {
  for (const [
    language,
    title,
    caption,
    terms,
    tour,
    device,
    twins
  ] of /** @type {[string, string, string, string[], string, RegExp, string][]} */ ([
    [
      'ja-JP',
      '層 3、ヘッド 0：パッチ (2, 10) から',
      'パッチ (10, 1)',
      ['行の広がり', 'CLS へのアテンション', 'レジスター'],
      '星を動かしてください',
      /SIMD(、バイト内積)?、\d+ スレッド$/,
      'シーン 159：星が二つ'
    ],
    [
      'zh-CN',
      '第 3 层，头 0：从图像块 (2, 10)',
      '图像块 (10, 1)',
      ['该行的分散程度', '对 CLS 的注意力', '寄存器'],
      '拖动星。',
      /SIMD(，字节点积)?，\d+ 个线程$/,
      '场景 159：星出现两次'
    ]
  ])) {
    const page = await browser.open('#v=heads', { locale: language, ready: false }),
      short = language.slice(0, 2)
    await page.waitForURL(new RegExp(`index\\.${short}\\.html(#v=heads)?$`))
    await page.waitForSelector('html[data-ready]')
    assert.equal(await page.textContent('#stage-title'), title)
    assert.ok((await page.textContent('#caption'))?.includes(caption))
    assert.equal(await page.textContent('#answer li span'), '星')
    assert.equal(await page.getAttribute('#samples button', 'title'), twins)
    assert.match(/** @type {string} */ (await page.textContent('#machine')), device)
    await expectTerms(page, terms)
    await page.click('#tour-start')
    await page.waitForSelector(`#tour-title:has-text("${tour}")`)
    await page.keyboard.press('Escape')
    const english = /** @type {string[]} */ ([])
    for (const view of Object.keys(views)) {
      await page.click(`#tab-${view}`)
      await page.waitForSelector(`#view[aria-labelledby=tab-${view}] > *`)
      await page.waitForTimeout(200) // its numbers
      const said = await page.locator('main').innerText()
      english.push(
        ...(said.match(
          /\b(the|patch|layer|head|of|query|weights|row|from|to|star|ring|heart|cross|arrow|red|blue|green|threads)\b/g
        ) ?? [])
      )
    }
    assert.deepEqual(english, [])
    await page.goto(`${browser.address}index.${short}.html#l=4&h=1`)
    await page.selectOption('#language', 'en')
    await page.waitForURL(/\/index\.en\.html#l=4&h=1$/)
    await page.waitForSelector('html[lang=en][data-ready]')
    page.faults = page.faults.filter((fault) => !fault.includes('ERR_ABORTED')) // what the change of pages ended
    await finish(page, `explorer-${short}`)
  }
})

test('a language has its own name once the pointer or the focus is on the choice', async () => {
  for (const ask of /** @type {const} */ (['focus', 'hover'])) {
    const page = await browser.open('masks.html'),
      names = () => page.locator('#language option').allTextContents(),
      width = async () => (await page.locator('#language').boundingBox())?.width,
      before = await width()
    assert.deepEqual(await names(), ['English', 'Japanese', 'Chinese'])
    await page[ask]('#language')
    await page.waitForFunction(() => /日/.test(document.getElementById('language').textContent))
    assert.deepEqual(await names(), ['English', '日本語', '简体中文'])
    assert.equal(await page.inputValue('#language'), 'en')
    assert.equal(await width(), before, 'nothing beside it moves')
    await finish(page)
  }
  const japanese = await browser.open('masks.ja.html', { locale: 'ja-JP' })
  assert.equal(await japanese.locator('#language option:checked').textContent(), '日本語')
  await finish(japanese)
})

test('Japanese: no word of katakana is parted in a phone’s width', async () => {
  for (const path of ['index.ja.html#v=heads', 'bench.ja.html', 'embed.ja.html', 'masks.ja.html']) {
    const page = await browser.open(path, { viewport: { width: 360, height: 800 } })
    const parted = await page.evaluate(() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT),
        range = document.createRange(),
        found = []
      for (let node; (node = walker.nextNode()); ) {
        if (node.parentElement?.closest('.quiet')) continue // for readers alone, and a pixel wide
        for (const { 0: word, index } of /** @type {string} */ (node.nodeValue).matchAll(
          /[ァ-ヴー]{2,}/g
        )) {
          range.setStart(node, index)
          range.setEnd(node, index + word.length)
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
          if (lines.size > 1) found.push(word)
        }
      }
      return found
    })
    assert.deepEqual(parted, [], path)
    await finish(page)
  }
})

test('the composer, names of scales and styles, errors of files in Japanese and Chinese', async () => {
  for (const [short, title, scale, saved] of [
    ['ja', '印刷用の図', '行に占める %', ' として保存しました。'],
    ['zh', '用于印刷的插图', '占该行的 %', '已保存为 ']
  ]) {
    const page = await browser.open(`index.${short}.html#v=heads`)
    await page.selectOption('#scale', 'share')
    await page.waitForSelector(`#bar-label:text-is("${scale}")`)
    await page.hover('#bar-label')
    await page.waitForSelector('#term-said:visible')
    await page.mouse.move(5, 5)
    await page.click('#save-figure')
    await page.waitForSelector(`#figure-heading:text-is("${title}")`)
    await page.waitForSelector('#figure img[src]')
    const said = `${await page.innerText('#figure')} ${await page.innerText('#display')}`
    assert.deepEqual(
      said.match(/(?<!-)\b(the|of|panels?|heads?|width|font|copy|save|layer|colour|largest)\b/gi) ??
        [],
      []
    )
    await page.fill('#figure [name=width]', '7')
    await page.waitForFunction(() =>
      /7[^]*40[^]*300 mm/.test(document.querySelector('#figure [role=status]').textContent)
    )
    await page.fill('#figure [name=width]', '85')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('#figure [name=svg]')
    ])
    assert.match(download.suggestedFilename(), /\.svg$/)
    await page.waitForFunction(
      (saved) => document.querySelector('#figure [role=status]').textContent.includes(saved),
      saved
    )
    await page.click('#figure [name=close]')
    await page.setInputFiles('#picture-file', {
      name: 'note.png',
      mimeType: 'image/png',
      buffer: Buffer.from('no picture')
    })
    await page.waitForSelector('#error:not([hidden])')
    assert.match(await page.innerText('#error-text'), /^note\.png：[^a-z]*PNG/)
    await finish(page, `composer-${short}`)
  }
})

/**
 * Maps as .npy: [2, 1, 5, 5], all of one weight.
 * @param {number} weight
 */
const mapsOf = async (weight) => ({
  name: 'own.npy',
  mimeType: '',
  buffer: Buffer.from(
    await new Blob(npyParts([2, 1, 5, 5], [new Float32Array(50).fill(weight)])).arrayBuffer()
  )
})

test('what is wrong with a file, a link or a model’s list is said in the language of the page', async () => {
  for (const [short, lost, cut, scores, figure, origin] of [
    [
      'ja',
      'リンクの一部は表示できません（l=77。このモデルは 5 層',
      'own.npy：形状とバイト数が合いません（2 x 1 x 5 x 5 に対して 190 バイト',
      'own.npy：層 0、ヘッド 0、行 0 の合計が 1 ではありません（2.50）。重みではなくスコア',
      'figure.json：heed_figure：読めません（2。必要なもの：1）。もう一度図を',
      'ファイルのマップです。'
    ],
    [
      'zh',
      '链接的某些部分无法显示（l=77；此模型有 5 层',
      'own.npy：形状与字节数不符（2 x 1 x 5 x 5 对应 190 字节',
      'own.npy：第 0 层，头 0，第 0 行 的和不为 1（当前为 2.50）：是得分',
      'figure.json：heed_figure：无法读取（当前为 2，应为：1）。请重新保存插图',
      '文件中的注意力图，其来源见文件。'
    ]
  ]) {
    const page = await browser.open(`index.${short}.html#l=77`),
      said = async (/** @type {string} */ expected) => {
        await page.waitForSelector('#error:not([hidden])')
        const text = await page.innerText('#error-text')
        assert.ok(text.startsWith(expected), `${text}, expected ${expected}`)
        if (/^own\.npy/.test(text))
          assert.equal(await page.locator('#error-text > [lang=en]').count(), 0)
        assert.doesNotMatch(text, /。[.。]|[^ -~。]\./, 'each sentence has its one full stop')
        await page.click('#error-close')
      }
    await said(lost)
    const whole = await mapsOf(0.2)
    await page.setInputFiles('#model-files', [
      { ...whole, buffer: whole.buffer.subarray(0, whole.buffer.length - 10) }
    ])
    await said(cut)
    await page.setInputFiles('#model-files', [await mapsOf(0.5)])
    await said(scores)
    await page.setInputFiles('#model-files', [
      { name: 'own.safetensors', mimeType: '', buffer: Buffer.alloc(64, 1) }
    ])
    await page.waitForSelector('#error-text > [lang=en]:has-text("own.safetensors")') // for who hears it
    await said('own.safetensors')
    await page.setInputFiles('#model-files', [
      { name: 'figure.json', mimeType: '', buffer: Buffer.from('{"heed_figure":2}') }
    ])
    await said(figure)
    await page.setInputFiles('#model-files', [whole])
    await page.waitForFunction(
      (origin) => document.getElementById('model-origin').textContent.startsWith(origin),
      origin
    )
    assert.doesNotMatch(await page.innerText('#cls'), /From/)
    await finish(page, `files-${short}`)
  }
})

/* Colours are those of English, whose contrast is tested elsewhere and takes a third of axe's time. */
const allButContrast = { rules: { 'color-contrast': { enabled: false } } }

test('axe finds no violation in the explorer and in its list of tensors, in Japanese and Chinese at 360', async () => {
  for (const language of ['ja', 'zh']) {
    const page = await browser.open(`index.${language}.html#v=heads`, {
      locale: language,
      viewport: { width: 360, height: 740 },
      bypassCSP: true
    })
    await page.waitForFunction(() => !document.querySelector('[role=gridcell]:not([aria-label])')) // they get their names a moment later
    const found = await violations(page, 'html', allButContrast)
    await page.click('#tensors')
    await page.waitForSelector('dialog.report[open] tbody tr')
    found.push(...(await violations(page, 'dialog.report', allButContrast)))
    assert.deepEqual(found, [], language)
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, language)
    await finish(page)
  }
})
