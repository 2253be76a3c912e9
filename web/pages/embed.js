/* The page that shows how to put maps into other pages: a live element, and its attributes to play with. */
import './attention-map.js'
import { connectTheme } from './site.js'

const element = (id) => document.getElementById(id), map = document.querySelector('attention-map')

function follow() {
  for (const name of ['scene', 'layer', 'head', 'query']) map.setAttribute(name, element(name).value)
  element('code').textContent = `<script type="module" src="attention-map.js"></script>\n<attention-map ${['scene', 'layer', 'head', 'query'].map((name) => `${name}="${element(name).value}"`).join(' ')}></attention-map>`
}

connectTheme(element('theme'))
for (const name of ['scene', 'layer', 'head', 'query']) element(name).addEventListener('change', follow)
map.addEventListener('drawn', () => { element('said').textContent = map.title })
follow()
document.documentElement.dataset.ready = 'true'
