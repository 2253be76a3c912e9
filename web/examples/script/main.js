// The demo model in a page without a bundler.
import { createRuntime } from './heed/index.js'
import { demoModel } from './heed/demo.js'

const runtime = await createRuntime()
const model = await runtime.loadModel(demoModel)
const session = model.createSession()
const { image } = await runtime.scene(159)

const canvas = document.getElementById('picture')
canvas.getContext('2d')?.putImageData(new ImageData(image.data, image.width), 0, 0)
const { logits } = await session.run(canvas)
if (!logits) throw new Error('the model has no classifier')
const { device, why } = runtime.info
document.getElementById('runtime').textContent = `${device} - ${why}`
document.getElementById('answer').textContent =
  model.info.labels[logits.indexOf(Math.max(...logits))]
