/* The page that shows how to put maps into other pages: a live element, and its attributes to play
 * with. */
import { words } from '../attention-map.js'
import { captions } from '../languages/captions.js'
import { say } from '../languages/say.js'
import { fixed } from '../plot/parts/numbers.js'
import { connectTheme } from '../shared/page_settings.js'
/** @import {Field} from '../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)
/** @type {(id: string) => Field} */
const field = (id) => /** @type {any} */ (element(id))
const map = document.querySelector('attention-map')

const names = ['image', 'scene', 'layer', 'head', 'query', 'view']

const examples = {
  [say('embed.examplePlain')]: ['script/main.js'],
  Node: ['node/main.js'],
  [say('embed.exampleVite')]: ['vite/main.ts', 'vite/vite.config.js'],
  [say('embed.exampleWorker')]: ['worker/main.js', 'worker/work.js'],
  [say('embed.exampleElement')]: ['element/index.html']
}

async function showExample() {
  const chosen = element('example').value,
    files = /** @type {Record<string, string[]>} */ (examples)[chosen],
    texts = await Promise.all(
      files.map(
        async (/** @type {string} */ file) =>
          `${files.length > 1 ? `// ${file}\n` : ''}${(await (await fetch(`examples/${file}`)).text()).trim()}`
      )
    )
  if (chosen !== element('example').value) return // another one was chosen meanwhile
  element('example-code').textContent = texts.join('\n\n')
}

function follow() {
  for (const name of names) map.setAttribute(name, field(name).value)
  const usual = {
      view: 'overlay',
      image: '',
      scene: element('image').value ? element('scene').value : null
    },
    shown = names.filter(
      (name) => field(name).value !== /** @type {Record<string, string | null>} */ (usual)[name]
    )
  element('code').textContent =
    `<script type="module" src="attention-map.js"></script>\n<attention-map ${shown.map((name) => `${name}="${field(name).value}"`).join(' ')}></attention-map>`
}

/** @typedef {{name: string, bytes: number, gzip: number, brotli: number}} Size */

/** What a file of sizes.json is. @type {Record<string, string>} */
const files = {
  'heed/heed-scene.wasm': say('sizes.scene'),
  'heed/heed-explain.wasm': say('sizes.explain'),
  'heed/heed-picture.wasm': say('sizes.picture'),
  'heed/heed-tokenizer.wasm': say('sizes.tokenizer'),
  'heed/heed-pickle.wasm': say('sizes.pickle'),
  'heed/heed-onnx.wasm': say('sizes.onnx'),
  'heed/heed-import.wasm': say('sizes.import'),
  'heed/heed-import-more.wasm': say('sizes.importMore'),
  'heed/heed-check.wasm': say('sizes.check'),
  'heed/*.js': say('sizes.library'),
  'attention-map.js': say('sizes.element'),
  'heed/demo/model.safetensors': say('sizes.weights'),
  'index.html, styles, explorer.js …': say('sizes.explorer')
}
/** Modules that run models, by the end of their names. @type {Record<string, string>} */
const modules = {
  '-relaxed': say('sizes.relaxed'),
  '-relaxed-threads': say('sizes.relaxedThreads'),
  '': say('sizes.simd'),
  '-threads': say('sizes.threads'),
  '-scalar': say('sizes.scalar')
}

/** @param {string} name */
function whatIs(name) {
  const [, of = '', kind = ''] =
      /^heed\/heed(-text|-int8|-graph)?((?:-relaxed|-scalar)?(?:-threads)?)\.wasm$/.exec(name) ??
      [],
    module = modules[kind],
    special = /** @type {Record<string, string>} */ ({
      '-text': say('sizes.text', { module }),
      '-int8': say('sizes.int8', { module }),
      '-graph': say('sizes.graph', { module })
    })
  return files[name] ?? special[of] ?? module
}

async function showSizes() {
  const cell = (/** @type {string} */ textContent) =>
      Object.assign(document.createElement('td'), { textContent }),
    count = (/** @type {number} */ bytes) => cell(fixed(bytes, 0))
  element('sizes').replaceChildren(
    ...(await (await fetch('sizes.json')).json()).map(
      (/** @type {Size} */ { name, bytes, gzip, brotli }) => {
        const row = document.createElement('tr'),
          file = cell('')
        for (const part of name.split(/(?<=\/)/)) file.append(part, document.createElement('wbr'))
        row.append(file, cell(whatIs(name)), count(bytes), count(gzip), count(brotli))
        return row
      }
    )
  )
}

Object.assign(words, captions, {
  rolloutAll: say('caption.rolloutAll'),
  layerHead: (/** @type {number} */ layer, /** @type {string} */ head) =>
    say('caption.layerHead', { layer, head }),
  layerMean: (/** @type {number} */ layer) => say('caption.layerMean', { layer })
})
connectTheme(element('theme'))
for (const name of names) element(name).addEventListener('change', follow)
map.addEventListener('drawn', () => {
  element('said').textContent = map.title
})
map.addEventListener('pick', (event) => {
  const { row, column } = /** @type {CustomEvent} */ (event).detail
  field('query').value = `${row},${column}`
  follow()
})
map.addEventListener('error', (event) => {
  element('said').textContent = /** @type {any} */ (event).detail.message
})
for (const button of /** @type {NodeListOf<HTMLElement>} */ (
  document.querySelectorAll('[data-copy]')
))
  button.addEventListener('click', async () => {
    const { textContent } = element(/** @type {'code'} */ (button.dataset.copy))
    element('copied').textContent = await navigator.clipboard.writeText(textContent).then(
      () => say('embed.copied'),
      () => say('copying.browserDoesNotAllow')
    )
  })
follow()
element('example').replaceChildren(...Object.keys(examples).map((name) => new Option(name)))
element('example').addEventListener('change', showExample)
await Promise.all([showSizes(), showExample()])
document.documentElement.dataset.ready = 'true'
