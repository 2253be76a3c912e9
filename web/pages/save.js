/* What can be taken along: PNG and SVG of the view, CSV and JSON of its numbers (the JSON as `heed run --json` writes it), a link. */
import { figure } from './plot/figure.js'
import { tokenName } from './plot/caption.js'
import { toHash } from './address.js'
import { entropy, softmax } from './maps.js'
import { showStatus } from './status.js'

const element = (id) => document.getElementById(id)
const shot = (id) => { const canvas = element(id); return canvas.width ? enlarged(canvas).toDataURL() : null }

/* Enlarged without smoothing, so that viewers that smooth pictures keep the patches' edges. */
function enlarged(canvas) {
  const times = Math.max(1, Math.floor(896 / Math.max(canvas.width, canvas.height)))
  const copy = Object.assign(document.createElement('canvas'), { width: canvas.width * times, height: canvas.height * times })
  const context = copy.getContext('2d')
  context.imageSmoothingEnabled = false
  context.drawImage(canvas, 0, 0, copy.width, copy.height)
  return copy
}

function download(blob, name) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

function provenance({ engine, store }) {
  return `heed ${engine.info.version}, ${engine.model.family} ${engine.shape.layers} x ${engine.shape.heads}, ${engine.model.parameters} parameters, ${toHash(store.get()) || '#'}`
}

function currentFigure(page) {
  const { store, engine, drawn } = page, { query } = store.get()
  const heads = element('heads-canvas')
  return figure({
    pictures: { picture: element('picture').toDataURL(), map: shot('map'), bar: element('bar').toDataURL(), heads: heads ? shot('heads-canvas') : null },
    headsAspect: heads ? heads.width / heads.height : 1, rows: engine.shape.rows, columns: engine.shape.columns, path: drawn.path,
    cell: query === 'cls' ? null : query, scale: drawn.scale, caption: drawn.caption, provenance: provenance(page),
    dark: getComputedStyle(document.body).color.match(/\d+/)[0] > 128
  })
}

async function savePng(page, times) {
  const svg = currentFigure(page), image = new Image()
  image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
  await image.decode()
  const canvas = Object.assign(document.createElement('canvas'), { width: image.naturalWidth * times, height: image.naturalHeight * times })
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height)
  URL.revokeObjectURL(image.src)
  canvas.toBlob((blob) => download(blob, 'heed.png'))
}

function csv({ engine, drawn }) {
  const { prefixTokens, columns } = engine.shape
  const lines = Array.from(drawn.row, (weight, token) => `${token},"${tokenName(token, prefixTokens, columns)}",${weight},${weight * drawn.row.length}`)
  return ['token,name,weight,times_uniform', ...lines].join('\n') + '\n'
}

async function numbers(page) {
  const { engine, picture, store } = page, { result, shape, model } = engine, { query } = store.get()
  const rows = await engine.rows({ query }), statistics = await engine.statistics()
  const probabilities = result.logits ? softmax(result.logits) : []
  const top = probabilities.map((probability, index) => ({ class: index, label: model.labels[index], probability, logit: result.logits[index] }))
    .sort((a, b) => b.probability - a.probability).slice(0, 5)
  const heads = rows.flatMap((layer, l) => layer.map((row, h) => {
    const s = statistics[l][h]
    return {
      layer: l, head: h, entropy: entropy(row), entropy_cls: s.entropyCls, entropy_patches: s.entropyPatches, distance: s.distance,
      distance_renormalised: s.distanceRenormalised, prefix_mass: s.prefixMass, self_mass: s.selfMass, row: Array.from(row)
    }
  }))
  const token = engine.token(query)
  return {
    heed: engine.info.version, family: model.family, layers: shape.layers, heads: shape.heads, backend: 'cpu', device: engine.info.device,
    results: [{
      image: { path: picture.name, width: picture.width, height: picture.height, seen: result.region }, milliseconds: result.milliseconds, top,
      logits: result.logits && Array.from(result.logits), grid: [shape.rows, shape.columns], prefix_tokens: shape.prefixTokens, tokens: shape.tokens,
      query: tokenName(token, shape.prefixTokens, shape.columns), query_token: token, heads,
      rollout: result.kept ? Array.from(await engine.rollout({ query, fusion: 'mean', residual: 0.5, first: 0, last: -1 })) : null
    }]
  }
}

function keptMaps({ engine }) {
  if (!engine.result.kept) throw new Error('This model is too large to keep all maps. Save the row as CSV, or run `heed run --save`.')
  return engine.result.attention
}

/* As `heed run --save`. */
async function tensors(page) {
  const { shape: { heads, tokens }, result } = page.engine
  const maps = keptMaps(page).map((data, layer) => [`attention.${layer}`, { shape: [1, heads, tokens, tokens], data }])
  return { ...Object.fromEntries(maps), ...(result.logits ? { logits: { shape: [1, result.logits.length], data: result.logits } } : {}) }
}

export function code({ store, picture }) {
  const { layer, head, query, scene } = store.get(), token = query === 'cls' ? 'cls' : query.join(',')
  const what = scene === null || scene === undefined ? picture.name : `--scene ${scene}`
  return `heed run ${what} --layer ${layer} --head ${head} --query ${token} --json heed.json --save heed.safetensors

import { createRuntime } from 'heed'
import { demoModel } from 'heed/demo'
const runtime = await createRuntime()
const session = (await runtime.loadModel(demoModel)).createSession({ taps: 'rows' })
await session.run(${scene === null || scene === undefined ? 'picture' : `(await runtime.scene(${scene})).image`})
const row = await session.attention(${JSON.stringify({ layer, head, query })})
`
}

export function connectSave(page) {
  const on = (id, action) => element(id).addEventListener('click', () => Promise.resolve(action()).catch(page.showError))
  const text = (type, name, make) => async () => download(new Blob([await make()], { type }), name)
  on('save-png', () => savePng(page, Number(element('png-times').value)))
  on('save-svg', text('image/svg+xml', 'heed.svg', () => currentFigure(page)))
  on('save-csv', text('text/csv', 'heed.csv', () => csv(page)))
  on('save-json', text('application/json', 'heed.json', async () => JSON.stringify(await numbers(page))))
  on('save-npy', async () => download(new Blob((await import('./arrays.js')).npyParts([page.engine.shape.layers, page.engine.shape.heads, page.engine.shape.tokens, page.engine.shape.tokens], keptMaps(page))), 'heed.npy'))
  on('save-safetensors', async () => download(new Blob((await import('./arrays.js')).safetensorsParts(await tensors(page), { heed: page.engine.info.version })), 'heed.safetensors'))
  on('save-session', text('application/json', 'heed-session.json', async () => (await import('./session.js')).writeSession(page)))
  on('code', async () => {
    await navigator.clipboard.writeText(code(page))
    showStatus('Code copied: the same numbers from the command line and from JavaScript.')
  })
  on('link', async () => {
    await navigator.clipboard.writeText(location.href)
    showStatus(page.store.get().scene === null ? 'Link copied. Your own picture is not in it: it stays on this machine.' : 'Link copied.')
  })
}
