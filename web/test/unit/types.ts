/* What users write, for tsc to check against index.d.ts. */
import {
  createRuntime,
  HeedError,
  setBase,
  tapName,
  type Runtime,
  type RunResult,
  type Session,
  type Status
} from 'heed'
import { demoModel } from 'heed/demo'
import { loadExplain, type AttentionChanges } from 'heed/explain'
import 'heed/element'
import { look, release, type Classified, type LookResult } from 'heed/look'
import type { JSX } from 'react'
import { AttentionMap, useLook } from 'heed/react'
import { attentionMap } from 'heed/svelte'
import { vAttentionMap } from 'heed/vue'
import { look as lookHere } from 'heed'
import module from 'heed/heed.wasm'
import { heat, makeScale, massShare, overlay } from 'heed/plot'
import { loadTexts, type ComparedTexts, type Texts } from 'heed/text'
import { createTokenizer, type Tokenizer } from 'heed/tokenizer'

setBase('/assets/heed/')
setBase(new URL('https://example.org/heed/'))
setBase(undefined)
// @ts-expect-error an address
setBase(1)

export async function tokenize(file: Uint8Array): Promise<Int32Array> {
  const tokenizer: Tokenizer = await createTokenizer({ 'tokenizer.json': file })
  const { ids, tokens, whole } = tokenizer.encode('a cat', { length: tokenizer.info.vocabulary })
  // @ts-expect-error a text is a string
  tokenizer.encode(1)
  return whole > tokens.length ? new Int32Array() : ids
}

export async function sayWhatItIs(canvas: HTMLCanvasElement, files: File[]): Promise<number> {
  const runtime = await createRuntime()
  const model = await runtime.loadModel(files)
  const texts: Texts = await loadTexts(files, { threads: 1, signal: AbortSignal.timeout(1000) })
  const image = await texts.embedImage(model, canvas, { fit: 'whole' })
  const found: ComparedTexts = await texts.compare(image, ['a cat', Int32Array.of(1, 2)])
  // @ts-expect-error patches of some models have no similarity
  found.similarity[0].length
  // @ts-expect-error a text is a string or ids
  await texts.run([1, 2])
  return found.probabilities[0] + found.texts[0].attention[0][0] + texts.info.maxLength
}

export async function whole(canvas: HTMLCanvasElement, file: File): Promise<Float32Array> {
  const runtime: Runtime = await createRuntime({
    threads: 'auto',
    worker: true,
    base: new URL('https://example.org/')
  })
  const model = await runtime.loadModel(demoModel, {
    onProgress: ({ phase, done, total }) => console.log(phase, done / total)
  })
  console.log(model.info.runHeight * model.info.runWidth, model.info.imageSize)
  await runtime.loadModel([file])
  await runtime.loadModel(new Map([['model.safetensors', new Uint8Array()]]))
  await runtime.loadModel({ weights: await fetch('model.safetensors'), config: 'config.json' })
  const { image } = await runtime.scene({
    objects: [{ shape: 'star', colour: 'red', x: 50, y: 50, radius: 20 }]
  })
  console.log(new ImageData(image.data, image.width))
  const lines: string = await model.describe()
  const query: `layer.${number}.query` = tapName('query', lines.length)
  // @ts-expect-error a layer's value has a layer
  tapName('query')
  // @ts-expect-error an unknown value
  tapName('logits', 0)
  console.log(query, tapName('poolWeights'))
  const session: Session = model.createSession({ taps: [tapName('output', 0)] })
  const { logits, attention, values }: RunResult = await session.run(canvas, {
    signal: AbortSignal.timeout(1000)
  })
  const shape: number[] | undefined = values['layer.0.output']?.shape
  console.log(
    logits?.length,
    attention?.[0]?.length,
    shape,
    (await session.statistics())[0]?.[0]?.entropyCls
  )
  return session.attention({ layer: 0, head: 'mean', query: [1, 2] })
}

export const status = (error: unknown): Status | undefined =>
  error instanceof HeedError ? error.status : undefined

export async function change(session: Session, width: number): Promise<Float32Array> {
  const explain = await loadExplain(),
    changes: AttentionChanges = explain.changes({ ...(await session.ready), width })
  for (const [name, data] of changes.ablate(0, 1).drop(3).inputs()) await session.write(name, data)
  changes.close()
  return explain.headMean([await session.attention({ layer: 0, head: 0, query: 'cls' })])
}

export async function picture(weights: Float32Array, table: Uint8Array): Promise<ImageData> {
  const explain = await loadExplain()
  const scale = makeScale('uniform', { tokens: 197, largest: Math.max(...weights) }),
    map = { weights, rows: 14, columns: 14, scale, table }
  const {
    raster: { data, width }
  } = overlay({ ...map, style: 'mass', mask: explain.massMask(map.weights, massShare) })
  heat(map)
  return new ImageData(data, width)
}

export async function oneCall(canvas: HTMLCanvasElement, file: File): Promise<Classified[]> {
  const { top, map }: LookResult = await look(file, { model: demoModel })
  const { caption, scale } = await map({ layer: 3, head: 0, query: [4, 7] }).draw(canvas)
  console.log(caption, scale.top, module)
  const again = await lookHere('cat.jpg', { model: 'models/vit/', signal: AbortSignal.timeout(9) })
  const weights: Float32Array = await again.map().weights()
  // @ts-expect-error a model is needed
  await look('cat.jpg', {})
  // @ts-expect-error there is no such option
  map({ querry: 'cls' })
  await release()
  return weights.length ? top(5) : again.top()
}

export function element(host: HTMLElement): unknown {
  const made = document.createElement('attention-map')
  made.addEventListener('pick', ({ detail: { row, column } }) => console.log(row, column))
  host.append(made)
  const { pending, result, error } = useLook('cat.jpg', { model: demoModel })
  // @ts-expect-error a layer is a number
  AttentionMap({ layer: 'last' })
  return pending
    ? error?.status
    : AttentionMap({
        src: 'cat.jpg',
        query: [1, 2],
        onDrawn: (row) => row.length + (result?.top().length ?? 0)
      })
}

export function inFrameworks(canvas: HTMLCanvasElement): JSX.IntrinsicElements['attention-map'] {
  const shown = attentionMap(canvas, { image: 'cat.jpg', model: demoModel, layer: 3, head: 'mean' })
  shown.update({
    image: null,
    model: demoModel,
    onDrawn: ({ caption, result }) => caption + result.top()
  })
  // @ts-expect-error a style of draw()
  shown.update({ image: null, model: demoModel, style: 'heat' })
  vAttentionMap.mounted(canvas, { value: { image: 'cat.jpg', model: demoModel } })
  // @ts-expect-error a view of the element
  const wrong: svelteHTML.IntrinsicElements['attention-map'] = { view: 'all' }
  return { src: 'cat.jpg', layer: 3, view: 'map', id: wrong.view }
}

export async function prepared(session: Session, canvas: HTMLCanvasElement): Promise<number> {
  const { pixelValues, regions } = await session.prepare([canvas, canvas], { fit: 'whole' }),
    { logits, regions: seen } = await session.run(pixelValues, { maps: false }),
    { hidden, pooler_output: pooled, session: shared } = await look(canvas, { model: demoModel })
  // @ts-expect-error pixel_values are prepared already
  await session.prepare(pixelValues)
  const states = await shared.value('last_hidden_state')
  return (
    (logits?.dims[0] ?? 0) +
    regions[0].x +
    (seen?.length ?? 0) +
    states.dims.length +
    (hidden ?? pooled ?? []).length
  )
}

// @ts-expect-error there is no such choice
void createRuntime({ simd: 'fast' })
// @ts-expect-error a layer is a number
export const wrong = (session: Session) => session.attention({ layer: 'last', head: 0 })
