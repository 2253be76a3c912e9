/* Frames of the camera or of a video file, at the speed of the model: each frame is run as soon as
 * the one before is drawn. A clip keeps some of them, each with its map of the chosen query and
 * head, on one scale; a press opens its frame. Nothing is stored and nothing is sent. */
import { fixed } from '../../plot/parts/numbers.js'
import { percent, times, topOf } from '../../plot/caption.js'
import { overlay } from '../../plot/overlay.js'
import { largestOf } from '../../plot/raster.js'
import { cameraStream, stopStream } from '../open/camera.js'
import { drawSmallBar, smallBar } from './bar.js'
import { put } from './canvas.js'
import { scaleOfRow } from './stage.js'
import { say } from '../../languages/say.js'
import type { MakeView, Page, PagePicture } from '../../../types/pages.js'

const clipFrames = 12,
  apart = 250, // ms between the frames of a clip of the camera
  side = 112 // pixels of a frame in the strip

/** A frame of a clip: its picture, the row of the query, and when it was, in seconds. */
export type Frame = { picture: PagePicture; row: Float32Array; at: number }

/* Whether the view is to start the camera when it comes: asked for in the camera's dialog. */
let wanted = false

/** Opens the view, and starts the camera there. */
export function startCamera({ store }: Page) {
  const { view, more } = store.get()
  if (view === 'more' && more === 'frames')
    return document.querySelector('#view [name=camera]')?.click()
  wanted = true
  store.set({ view: 'more', more: 'frames' })
}

/** The frame that a video shows now, as a picture. */
async function frameOf(video: HTMLVideoElement, name: string): Promise<PagePicture> {
  const source = await createImageBitmap(video)
  return { source, width: source.width, height: source.height, name }
}

const once = (target: EventTarget, type: string) =>
  new Promise((done) => target.addEventListener(type, done, { once: true }))
const nextPaint = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))

/**
 * A video element that plays the camera or a file, muted and in a loop. It is in no document.
 * @param file null: the camera
 */
async function openVideo(file: File | null) {
  const video = Object.assign(document.createElement('video'), { muted: true, playsInline: true })
  if (!file) video.srcObject = await cameraStream()
  else {
    video.loop = true
    video.src = URL.createObjectURL(file)
    await Promise.race([
      once(video, 'loadeddata'),
      once(video, 'error').then(() => {
        closeVideo(video)
        throw new Error(say('errors.noVideo', { name: file.name }))
      })
    ])
  }
  await video.play()
  return video
}

function closeVideo(video: HTMLVideoElement) {
  video.pause()
  stopStream(video.srcObject as MediaStream | null)
  video.srcObject = null
  if (video.src) URL.revokeObjectURL(video.src)
  video.removeAttribute('src')
}

/** A frame with its map over it. */
function drawFrame(
  canvas: HTMLCanvasElement,
  { engine, store, table }: Page,
  { picture, row }: Frame,
  scale: ReturnType<typeof scaleOfRow>
) {
  const { rows, columns, prefixTokens } = engine.shape,
    { strength } = store.get(),
    { raster } = overlay({
      weights: row.subarray(prefixTokens),
      rows,
      columns,
      scale,
      table,
      style: 'colour',
      strength
    }),
    map = document.createElement('canvas'),
    context = canvas.getContext('2d') as CanvasRenderingContext2D,
    { x, y, width, height } = picture.region
  canvas.width = side
  canvas.height = Math.round((side * rows) / columns)
  context.drawImage(
    picture.source as ImageBitmap,
    x,
    y,
    width,
    height,
    0,
    0,
    canvas.width,
    canvas.height
  )
  put(map, raster)
  context.imageSmoothingEnabled = false
  context.drawImage(map, 0, 0, canvas.width, canvas.height)
}

const markup = `<p class="hint">${say('frames.modelFollowsCameraVideo')}</p>
    <div class="row"><button type="button" name="camera">${say('camera.camera')}</button><button type="button" name="file">${say('frames.videoFile')}</button><button type="button" name="clip" disabled>${say('frames.clipFrames', { count: clipFrames })}</button><button type="button" name="stop" hidden>${say('frames.stop')}</button><input type="file" accept="video/*" hidden></div>
    <p class="hint" role="status"></p>
    <div class="frames" role="group" aria-label="${say('frames.framesClip')}"></div><figure hidden>${smallBar}</figure>`

/** One video at a time, run frame by frame. */
class Player {
  page
  onFrame
  video: HTMLVideoElement | null = null
  name = ''
  #turn = 0

  constructor(page: Page, onFrame: (milliseconds: number) => void) {
    this.page = page
    this.onFrame = onFrame
  }

  async start(file: File | null) {
    await this.stop()
    const mine = ++this.#turn,
      video = await openVideo(file)
    if (mine !== this.#turn) return closeVideo(video)
    this.video = video
    this.name = file?.name ?? say('camera.camera')
    this.#play(mine).catch(this.page.showError)
  }

  async #play(mine: number) {
    let last = performance.now()
    while (mine === this.#turn && this.video) {
      const before = this.page.picture
      await this.run()
      if (before.frame && !before.kept) (before.source as ImageBitmap).close()
      this.onFrame(performance.now() - last)
      last = performance.now()
    }
  }

  /** Runs the frame that is shown now, and waits until its map is on the screen. */
  async run() {
    const { page } = this,
      frame = await frameOf(this.video as HTMLVideoElement, this.name)
    frame.frame = true
    await page.run(frame, { live: true })
    frame.region = page.engine.result.region
    await nextPaint()
    return frame
  }

  /** The last frame stays, and is run once more for its statistics. */
  async stop() {
    const { video, page } = this
    this.#turn++
    this.video = null
    if (!video) return
    closeVideo(video)
    await page.run(page.picture)
  }
}

/** A clip of what plays: frames a quarter of a second apart, or spread over the length of a file. */
async function takeClip({ store, engine }: Page, player: Player, onFrame: (count: number) => void) {
  const video = player.video as HTMLVideoElement,
    long = video.srcObject ? 0 : video.duration,
    spread = Number.isFinite(long) && long > 0,
    frames: Frame[] = []
  for (let i = 0; i < clipFrames; i++) {
    if (spread) {
      const seeked = once(video, 'seeked')
      video.currentTime = ((i + 0.5) * long) / clipFrames
      await seeked
    } else await new Promise((done) => setTimeout(done, apart))
    if (player.video !== video) break
    const picture = await player.run(),
      { layer, head, query } = store.get()
    picture.kept = true
    picture.name = say('frames.frame', { name: player.name, i: i + 1 })
    frames.push({
      picture,
      row: Float32Array.from(await engine.row({ layer, head, query })),
      at: video.currentTime
    })
    onFrame(i + 1)
  }
  return frames
}

/** The frames of a clip as buttons, with the bar of their scale; returns what they are in words. */
function drawStrip(page: Page, element: HTMLElement, frames: Frame[]) {
  const { engine, store } = page,
    { shape } = engine,
    all = largestOf(frames.map(({ row }) => largestOf(row.subarray(shape.prefixTokens)))),
    figure = element.querySelector('figure'),
    strip = element.querySelector('.frames')
  figure.hidden = !frames.length
  strip.replaceChildren()
  if (!frames.length) return say('frames.stopped')
  const scale = scaleOfRow(store.get(), frames[0].row, null, all, shape)
  for (const [i, frame] of frames.entries()) {
    const button = Object.assign(document.createElement('button'), { type: 'button' }),
      canvas = document.createElement('canvas'),
      [{ token, weight }] = topOf(frame.row, 1)
    drawFrame(canvas, page, frame, scale)
    canvas.setAttribute('aria-hidden', 'true')
    button.append(canvas, `${fixed(frame.at - frames[0].at, 2)} s`)
    button.setAttribute(
      'aria-label',
      say('frames.frameMost', { i: i + 1, token: engine.nameOf(token), weight: percent(weight) })
    )
    button.addEventListener('click', () => page.run(frame.picture))
    strip.append(button)
  }
  drawSmallBar(figure, scale, page.table)
  return say('frames.framesOneScalePress', {
    frames: frames.length,
    end: times(scale.end, shape.tokens)
  })
}

export const view: MakeView = (page, element, { left }) => {
  element.innerHTML = markup
  const field = (name: string) => element.querySelector(`[name=${name}]`) as HTMLButtonElement
  const said = element.querySelector('[role=status]'),
    input = element.querySelector('input') as HTMLInputElement,
    player = new Player(page, (milliseconds) => {
      if (!clipping)
        said.textContent = say('frames.framesPerSecond', {
          name: player.name,
          rate: fixed(1000 / milliseconds, 1)
        })
    })
  let clipping = false

  function show() {
    field('stop').hidden = !player.video
    field('clip').disabled = !player.video || clipping
  }

  async function start(file: File | null) {
    try {
      if (page.engine.saved) throw new Error(say('errors.mapsRunNone'))
      said.textContent = say('frames.starting')
      await player.start(file)
      if (left.aborted) await player.stop()
    } catch (error) {
      said.textContent = ''
      page.showError(error)
    }
    show()
  }

  async function stop() {
    await player.stop()
    if (!clipping) said.textContent = say('frames.stopped')
    show()
  }

  async function clip() {
    clipping = true
    show()
    const frames = await takeClip(page, player, (count) => {
      said.textContent = say('frames.frame2', { count, all: clipFrames })
    })
    await stop()
    clipping = false
    show()
    if (!left.aborted) said.textContent = drawStrip(page, element, frames)
  }

  field('camera').addEventListener('click', () => start(null))
  field('file').addEventListener('click', () => input.click())
  input.addEventListener('change', () => {
    if (input.files?.length) start(input.files[0])
    input.value = ''
  })
  field('clip').addEventListener('click', () => clip().catch(page.showError))
  field('stop').addEventListener('click', () => stop().catch(page.showError))
  left.addEventListener('abort', () => player.stop().catch(page.showError))

  function draw() {
    show()
    if (wanted) start(null)
    wanted = false
  }
  return { keys: [], draw }
}
