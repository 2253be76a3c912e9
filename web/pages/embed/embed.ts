/* The page that shows how to put maps into other pages: a live element, and its attributes to play
 * with. */
import { html } from 'lit-html'
import { element } from '../shared/elements.js'
import { fill } from '../shared/fill.js'
import { words } from '../attention-map.js'
import { captions } from '../languages/captions.js'
import { say } from '../languages/say.js'
import { fixed } from '../plot/parts/numbers.js'
import { connectTheme } from '../shared/page_settings.js'
import type { Field } from '../shared/types.js'

const field: (id: string) => Field = (id) => element(id) as any
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
    files = (examples as Record<string, string[]>)[chosen],
    texts = await Promise.all(
      files.map(
        async (file: string) =>
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
      (name) => field(name).value !== (usual as Record<string, string | null>)[name]
    )
  element('code').textContent =
    `<script type="module" src="attention-map.js"></script>\n<attention-map ${shown.map((name) => `${name}="${field(name).value}"`).join(' ')}></attention-map>`
}

export type Size = { name: string; bytes: number; gzip: number; brotli: number }

/** What a file of sizes.json is. */
const files: Record<string, string> = {
  'heed/*.js': say('sizes.library'),
  'attention-map.js': say('sizes.element'),
  'heed/demo/model.safetensors': say('sizes.weights'),
  'index.html, styles, explorer.js …': say('sizes.explorer')
}
/** Modules, by the end of their names. */
const modules: Record<string, string> = {
  '-relaxed': say('sizes.relaxed'),
  '-relaxed-threads': say('sizes.relaxedThreads'),
  '': say('sizes.simd'),
  '-threads': say('sizes.threads')
}

function whatIs(name: string) {
  const [, all, kind = ''] =
      /^heed\/heed(-all)?((?:-relaxed)?(?:-threads)?)\.wasm$/.exec(name) ?? [],
    module = modules[kind]
  if (name === 'heed/heed-gpu.wasm') return say('sizes.gpu')
  return files[name] ?? (all ? say('sizes.all', { module }) : module)
}

async function showSizes() {
  const sizes: Size[] = await (await fetch('sizes.json')).json()
  fill(
    element('sizes'),
    sizes.map(
      ({ name, bytes, gzip, brotli }) =>
        html`<tr><td>${name.split(/(?<=\/)/).map((part) => html`${part}<wbr>`)}</td><td>${whatIs(name)}</td>${[bytes, gzip, brotli].map((count) => html`<td>${fixed(count, 0)}</td>`)}</tr>`
    )
  )
}

Object.assign(words, captions, {
  rolloutAll: say('caption.rolloutAll'),
  layerHead: (layer: number, head: string) => say('caption.layerHead', { layer, head }),
  layerMean: (layer: number) => say('caption.layerMean', { layer })
})
connectTheme(element('theme'))
for (const name of names) element(name).addEventListener('change', follow)
map.addEventListener('drawn', () => {
  element('said').textContent = map.title
})
map.addEventListener('pick', (event) => {
  const { row, column } = (event as CustomEvent).detail
  field('query').value = `${row},${column}`
  follow()
})
map.addEventListener('error', (event) => {
  element('said').textContent = (event as CustomEvent<Error>).detail.message
})
for (const button of document.querySelectorAll('[data-copy]') as NodeListOf<HTMLElement>)
  button.addEventListener('click', async () => {
    const { textContent } = element(button.dataset.copy as 'code')
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
