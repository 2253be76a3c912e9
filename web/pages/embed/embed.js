/* The page that shows how to put maps into other pages: a live element, and its attributes to play
 * with. */
import '../attention-map.js'
import { connectTheme } from '../shared/page_settings.js'
/** @import {Field} from '../../types/pages.js' */

/** @type {<Id extends string>(id: Id) => ElementOf<Id>} */
const element = (id) => document.getElementById(id)
/** @type {(id: string) => Field} */
const field = (id) => /** @type {any} */ (element(id))
const map = document.querySelector('attention-map')

const names = ['image', 'scene', 'layer', 'head', 'query', 'view']

const examples = {
  'a plain script': ['script/main.js'],
  Node: ['node/main.js'],
  'a bundler (Vite)': ['vite/main.ts', 'vite/vite.config.js'],
  'a worker of your own': ['worker/main.js', 'worker/work.js'],
  'a whole page with the element': ['element/index.html']
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

/** @typedef {{name: string, what: string, bytes: number, gzip: number, brotli: number}} Size */

async function showSizes() {
  const cell = (/** @type {string} */ textContent) =>
      Object.assign(document.createElement('td'), { textContent }),
    count = (/** @type {number} */ bytes) => cell(bytes.toLocaleString('en'))
  element('sizes').replaceChildren(
    ...(await (await fetch('sizes.json')).json()).map(
      (/** @type {Size} */ { name, what, bytes, gzip, brotli }) => {
        const row = document.createElement('tr')
        row.append(cell(name), cell(what), count(bytes), count(gzip), count(brotli))
        return row
      }
    )
  )
}

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
      () => 'Copied.',
      () => 'This browser does not allow the page to copy.'
    )
  })
follow()
element('example').replaceChildren(...Object.keys(examples).map((name) => new Option(name)))
element('example').addEventListener('change', showExample)
await Promise.all([showSizes(), showExample()])
document.documentElement.dataset.ready = 'true'
