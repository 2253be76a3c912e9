/* Frames of the camera or of a video file, at the speed of the model: each frame is run as soon as
 * the one before is drawn. A clip keeps some of them, each with its map of the chosen query and
 * head, on one scale; a press opens its frame. Nothing is stored and nothing is sent. */
import { html, nothing, render } from 'lit-html'
import { fixed } from '../../../plot/parts/numbers.js'
import { percent, times, topOf } from '../../../plot/caption.js'
import { overlay } from '../../../plot/overlay.js'
import { largestOf } from '../../../plot/raster.js'
import { cameraStream, stopStream } from '../../open/camera.js'
import { bar } from '../parts/bar.js'
import { drawing, put } from '../parts/canvas.js'
import { scaleOfRow } from '../stage/stage.js'
import { say } from '../../../languages/say.js'
import type { MakeView, Page } from '../../types.js'
import type { PagePicture } from '../../../shared/types.js'

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

/** The frames of a clip as buttons, with the bar of their scale; and what they are in words. */
function stripOf(page: Page, frames: Frame[]) {
  const { engine, store } = page,
    { shape } = engine
  if (!frames.length) return { buttons: nothing, legend: nothing, words: say('frames.stopped') }
  const all = largestOf(frames.map(({ row }) => largestOf(row.subarray(shape.prefixTokens)))),
    scale = scaleOfRow(store.get(), frames[0].row, null, all, shape)
  const button = (frame: Frame, i: number) => {
    const [{ token, weight }] = topOf(frame.row, 1),
      name = say('frames.frameMost', {
        i: i + 1,
        token: engine.nameOf(token),
        weight: percent(weight)
      })
    return html`<button type="button" aria-label=${name} @click=${() => page.run(frame.picture)}><canvas aria-hidden="true" ${drawing((canvas) => drawFrame(canvas, page, frame, scale))}></canvas>${fixed(frame.at - frames[0].at, 2)} s</button>`
  }
  return {
    buttons: frames.map(button),
    legend: html`<figure>${bar(scale, page.table)}</figure>`,
    words: say('frames.framesOneScalePress', {
      frames: frames.length,
      end: times(scale.end, shape.tokens)
    })
  }
}

/** The view: a camera or a file that plays, and the last clip. */
class Frames {
  page
  element
  left
  #player
  #file = Object.assign(document.createElement('input'), {
    type: 'file',
    accept: 'video/*',
    hidden: true
  })
  #clipping = false
  #said = ''
  #clip: Pick<ReturnType<typeof stripOf>, 'buttons' | 'legend'> = {
    buttons: nothing,
    legend: nothing
  }

  constructor(page: Page, element: HTMLElement, left: AbortSignal) {
    this.page = page
    this.element = element
    this.left = left
    this.#player = new Player(page, (milliseconds) => {
      const { name } = this.#player
      if (!this.#clipping)
        this.#tell(say('frames.framesPerSecond', { name, rate: fixed(1000 / milliseconds, 1) }))
    })
    this.#file.addEventListener('change', () => {
      if (this.#file.files?.length) this.start(this.#file.files[0])
      this.#file.value = ''
    })
    left.addEventListener('abort', () => this.#player.stop().catch(page.showError))
  }

  #tell(words: string) {
    this.#said = words
    this.show()
  }

  show() {
    const playing = Boolean(this.#player.video)
    const button = (name: string, text: string, act: () => unknown, off = false, hidden = false) =>
      html`<button type="button" name=${name} ?disabled=${off} ?hidden=${hidden} @click=${act}>${text}</button>`
    render(
      html`<p class="hint">${say('frames.modelFollowsCameraVideo')}</p>
      <div class="row">${button('camera', say('camera.camera'), () => this.start(null))}${button('file', say('frames.videoFile'), () => this.#file.click())}${button('clip', say('frames.clipFrames', { count: clipFrames }), () => this.#take().catch(this.page.showError), !playing || this.#clipping)}${button('stop', say('frames.stop'), () => this.#stop().catch(this.page.showError), false, !playing)}${this.#file}</div>
      <p class="hint" role="status">${this.#said}</p>
      <div class="frames" role="group" aria-label=${say('frames.framesClip')}>${this.#clip.buttons}</div>${this.#clip.legend}`,
      this.element
    )
  }

  async start(from: File | null) {
    const { page, left } = this
    try {
      if (page.engine.saved) throw new Error(say('errors.mapsRunNone'))
      if (page.engine.parts) throw new Error(say('parts.only'))
      this.#tell(say('frames.starting'))
      await this.#player.start(from)
      if (left.aborted) await this.#player.stop()
    } catch (error) {
      this.#said = ''
      page.showError(error)
    }
    this.show()
  }

  async #stop() {
    await this.#player.stop()
    if (!this.#clipping) this.#said = say('frames.stopped')
    this.show()
  }

  async #take() {
    this.#clipping = true
    this.show()
    const frames = await takeClip(this.page, this.#player, (count) =>
      this.#tell(say('frames.frame2', { count, all: clipFrames }))
    )
    await this.#stop()
    this.#clipping = false
    if (!this.left.aborted) {
      const { words, ...clip } = stripOf(this.page, frames)
      this.#clip = clip
      this.#said = words
    }
    this.show()
  }
}

export const view: MakeView = (page, element, { left }) => {
  const frames = new Frames(page, element, left)

  function draw() {
    frames.show()
    if (wanted) frames.start(null)
    wanted = false
  }
  return { keys: [], draw }
}
