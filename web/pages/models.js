/* Models of one's own: files of a Hugging Face folder, or one timm file. They are read in place and go nowhere. */
import { demoModel } from './heed/demo.js'

const element = (id) => document.getElementById(id)

export async function modelFiles(page, files) {
  const weights = files.find(({ name }) => name.endsWith('.safetensors'))
  if (!weights) return page.showError(new Error(`${files[0].name}: neither a picture nor a model. Take a picture, or a .safetensors file with its config.json.`))
  if (await page.openModel(files, weights.name)) element('demo-model').hidden = false
}

export function connectModels(page) {
  element('open-model').addEventListener('click', () => element('model-files').click())
  element('model-files').addEventListener('change', ({ target }) => {
    if (target.files.length) modelFiles(page, [...target.files])
    target.value = ''
  })
  element('demo-model').addEventListener('click', async () => {
    if (await page.openModel(demoModel, 'Demo model: which shape occurs twice?')) element('demo-model').hidden = true
  })
}
