// The demo model in Node: npm install heed, then node main.js
import { createRuntime } from 'heed'
import { demoModel } from 'heed/demo'

const runtime = await createRuntime()
console.log(runtime.info.device, '-', runtime.info.why)

const model = await runtime.loadModel(demoModel)
const session = model.createSession({ taps: 'rows' })
const { image, scene, twins } = await runtime.scene(159)

const { logits } = await session.run(image)
if (!logits || !twins) throw new Error('no classifier, or no twins in this scene')
console.log('prediction:', model.info.labels[logits.indexOf(Math.max(...logits))])

// Where the middle of one twin looks: the strongest patches.
const { x, y } = scene.objects[twins[0]],
  { prefixTokens, columns } = await session.ready
const row = await session.attention({
  layer: 3,
  head: 0,
  query: [Math.floor(y / 16), Math.floor(x / 16)]
})
const strongest = [...row.subarray(prefixTokens)].map((weight, i) => ({
  weight,
  at: [Math.floor(i / columns), i % columns]
}))
strongest.sort((a, b) => b.weight - a.weight)
for (const { weight, at } of strongest.slice(0, 5))
  console.log(`patch ${at.join(',')}: ${(weight * row.length).toFixed(1)} x uniform`)
runtime.close()
