/* The demo model's files; see demo.d.ts. */
export const demoModel = {
  weights: new URL('./demo/model.safetensors', import.meta.url),
  config: new URL('./demo/config.json', import.meta.url),
  preprocessor: new URL('./demo/preprocessor_config.json', import.meta.url)
}
