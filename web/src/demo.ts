/* The demo model's files; see demo.d.ts. Getters, so that setBase() may come later. JSON goes by another name:
 * a bundler that makes scripts of .json files leaves it alone. */
import { baseOf, placeOf } from './place.js'

const at = (name: string, own: () => URL) => placeOf(`demo/${name}`, baseOf('demoModel'), own)

export const demoModel = {
  get weights() {
    return at('model.safetensors', () => new URL('./demo/model.safetensors', import.meta.url))
  },
  get config() {
    return at('config.data', () => new URL('./demo/config.data', import.meta.url))
  },
  get preprocessor() {
    return at(
      'preprocessor_config.data',
      () => new URL('./demo/preprocessor_config.data', import.meta.url)
    )
  }
}
