// A worker of the page's own: the runtime lives in it, without a second worker between.
import { createRuntime } from './heed/index.js'
import { demoModel } from './heed/demo.js'

const runtime = await createRuntime({ worker: false })
const model = await runtime.loadModel(demoModel)
const session = model.createSession()
const { logits } = await session.run((await runtime.scene(159)).image)
if (!logits) throw new Error('the model has no classifier')
postMessage({
  answer: model.info.labels[logits.indexOf(Math.max(...logits))],
  device: runtime.info.device,
  why: runtime.info.why
})
