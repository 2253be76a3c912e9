// Classes and one map of a picture, in a page without a bundler.
import { look } from './heed/index.js'
import { demoModel } from './heed/demo.js'

const { top, map } = await look('picture.png', { model: demoModel })
const canvas = document.getElementById('map')
const { caption } = await map({ layer: 3, head: 0, query: [2, 10] }).draw(canvas)
canvas.ariaLabel = caption
document.getElementById('answer').textContent = top(3)
  .map(({ label, probability }) => `${label} ${(100 * probability).toFixed(1)} %`)
  .join(', ')
