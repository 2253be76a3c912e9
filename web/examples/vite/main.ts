// The demo model in a page that Vite bundles, in TypeScript: npm install, then npx vite build.
import { createRuntime } from 'heed'
import { demoModel } from 'heed/demo'
import { look } from 'heed/look'

const runtime = await createRuntime()
const model = await runtime.loadModel(demoModel)
const { image } = await runtime.scene(159)

const { top, map } = await look(image, { model })
const canvas = document.querySelector('canvas') as HTMLCanvasElement
const { caption } = await map({ layer: 3, head: 0, query: [2, 10] }).draw(canvas)
canvas.ariaLabel = caption

const say = (id: string, text: string): void => {
  const place = document.getElementById(id)
  if (place) place.textContent = text
}
say('runtime', `${runtime.info.device} - ${runtime.info.why}`)
say('answer', top(1)[0]?.label ?? 'no class')
