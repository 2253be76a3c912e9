/* Lists the models and pictures that a server offers beside the pages, as models.json has them (docs/web.md):
 * node list_models.js FOLDER [ADDRESS] prints the list. Each folder in FOLDER that has weights is a
 * model; pictures lie in FOLDER/pictures, whose README.md names their licence. ADDRESS (default models/) is where FOLDER lies, seen from the pages. What cannot be offered
 * is named on stderr. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'
/** @import {ModelList, OfferedPicture} from './pages/shared/types.js' */

/* How pages name licences and choose files; Node reads no TypeScript, so esbuild makes a script of it. */
const { outputFiles } = await esbuild.build({
  stdin: {
    contents: `
      export * from './pages/explorer/model/licence_words.js'
      export * from './src/weight_files.js'
      export * from './src/weights.js'`,
    loader: 'ts',
    resolveDir: fileURLToPath(new URL('.', import.meta.url))
  },
  bundle: true,
  format: 'esm',
  write: false
})
/** @type {typeof import('./pages/explorer/model/licence_words.js') & typeof import('./src/weight_files.js') & typeof import('./src/weights.js')} */
const { isWeights, licenceOf, modelFiles, ofCard } = await import(
  `data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`
)

/* What the runtime reads beside weights, and the card with the licence. */
const beside =
  /^(config|open_clip_config|preprocessor_config|processor_config)\.json$|^README\.md$|\.safetensors\.index\.json$|\.onnx_data(_\d+)?$/

/** @param {string} file */
async function sha256(file) {
  const hash = createHash('sha256')
  for await (const part of createReadStream(file)) hash.update(part)
  return hash.digest('hex')
}

/**
 * The files of a folder that are within `root`, where links lead too: [path from the folder, size].
 * @param {string} folder
 * @param {string} root
 * @param {(text: string) => void} report
 */
async function filesIn(folder, root, report) {
  const files = /** @type {[string, number][]} */ ([])
  for (const part of ['', 'onnx/'])
    for (const name of (await readdir(join(folder, part)).catch(() => [])).sort()) {
      const file = await realpath(join(folder, part, name)).catch(() => ''),
        found = file && (await stat(file))
      if (!found || !found.isFile()) continue
      if (file.startsWith(root + sep)) files.push([part + name, found.size])
      else report(`${join(folder, part, name)}: left out, as its link leads out of ${root}`)
    }
  return files
}

/**
 * One model; null for a folder without weights.
 * @param {string} folder
 * @param {string} root
 * @param {string} address
 * @param {(text: string) => void} report
 */
async function describe(folder, root, address, report) {
  const found = await filesIn(folder, root, report),
    { weights, files } = modelFiles(
      found.map(([path, size]) => ({ name: basename(path), path, size }))
    )
  if (!weights || !isWeights(weights.name)) return null
  const text = (/** @type {string} */ name) => readFile(join(folder, name), 'utf8').catch(() => ''),
    wanted = files.filter(({ name }) => isWeights(name) || beside.test(name)),
    trained = ofCard(await text('README.md'), 'datasets')
  return {
    name: basename(folder),
    address,
    licence: await licenceOf(
      found.map(([path]) => path),
      text
    ),
    ...(trained && { trained }),
    files: await Promise.all(
      wanted.map(async ({ path, size }) => ({
        path,
        size,
        sha256: await sha256(join(folder, path))
      }))
    )
  }
}

/**
 * @param {string} folder
 * @param {string} root
 * @param {string} address
 * @param {(text: string) => void} report
 * @returns {Promise<OfferedPicture[]>}
 */
async function listPictures(folder, root, address, report) {
  const found = await filesIn(folder, root, report),
    licence = await licenceOf(
      found.map(([path]) => path),
      (name) => readFile(join(folder, name), 'utf8').catch(() => '')
    )
  return Promise.all(
    found
      .filter(([path]) => /^[^/]+\.(png|jpe?g|webp|gif|avif)$/i.test(path))
      .map(async ([path, size]) => ({
        name: path,
        address: address + encodeURIComponent(path),
        licence,
        size,
        sha256: await sha256(join(folder, path))
      }))
  )
}

/**
 * @param {string} folder
 * @param {string} [address] where it lies, seen from the pages
 * @param {(text: string) => void} [report] gets a line for each file that is left out
 * @returns {Promise<ModelList>}
 */
export async function listModels(folder, address = 'models/', report = console.error) {
  const root = await realpath(folder),
    models = []
  for (const entry of (await readdir(root)).sort()) {
    if (!(await stat(join(root, entry)).catch(() => null))?.isDirectory()) continue
    const where = `${address}${encodeURIComponent(entry)}/`,
      model = await describe(join(root, entry), root, where, report)
    if (model) models.push(model)
  }
  return {
    models,
    pictures: await listPictures(join(root, 'pictures'), root, `${address}pictures/`, report)
  }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [folder, address] = process.argv.slice(2)
  console.log(JSON.stringify(await listModels(folder, address), null, 2))
}
