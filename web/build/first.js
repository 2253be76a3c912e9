/* What stands in the pages before any script has run, drawn by pages/first/first.ts. drawFirst(plain)
 * starts a thread for each language, since modules know one language each. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import sharp from 'sharp'
import { languages } from './languages.js'
/** @typedef {Awaited<ReturnType<typeof import('../pages/first/first.js').drawFirst>>} First */

/** @param {string} plain @returns {Promise<[language: string, drawn: First][]>} */
export const drawFirst = (plain) =>
  Promise.all(
    Object.keys(languages).map(async (language) => {
      const thread = new Worker(fileURLToPath(import.meta.url), { workerData: { plain, language } })
      return [language, (await once(thread, 'message'))[0]]
    })
  )

if (!isMainThread) {
  const { plain, language } = workerData,
    read = (/** @type {string} */ name) => readFile(join(plain, name)),
    file = async (/** @type {string} */ name) =>
      Object.assign(new Blob([await read(`heed/demo/${name}`)]), { name }),
    few = { palette: true, quality: 10, effort: 10, dither: 0 }
  /* What the modules ask of a browser. */
  Object.assign(globalThis, {
    document: { documentElement: { lang: language } },
    ImageData: class {
      /** @param {Uint8ClampedArray} data @param {number} width @param {number} height */
      constructor(data, width, height) {
        Object.assign(this, { data, width, height })
      }
    }
  })
  const first = await import(pathToFileURL(join(plain, 'first/first.js')).href),
    source = {
      weights: await file('model.safetensors'),
      config: await file('config.json'),
      preprocessor: await file('preprocessor_config.json')
    },
    png = async (/** @type {ImageData} */ { data, width, height }, fewColours = false) =>
      (
        await sharp(Buffer.from(data), { raw: { width, height, channels: 4 } })
          .png({ compressionLevel: 9, ...(fewColours && few) })
          .toBuffer()
      ).toString('base64')
  parentPort?.postMessage(
    await first.drawFirst(source, String(await read('shared/lessons.css')), png)
  )
  process.exit()
}
