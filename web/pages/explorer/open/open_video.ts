/* A video for a model of videos: frames in the order of their names, a video file, or an animated
 * picture. As many as the model takes are spread evenly over it. */
import { decode } from './decode_picture.js'
import { spread } from '../../shared/model_parts.js'
import { showStatus } from '../controls/status.js'
import { say } from '../../languages/say.js'
import type { PictureSource } from '../../shared/types.js'
import type { Page } from '../types.js'

const once = (target: EventTarget, type: string) =>
  new Promise((done) => target.addEventListener(type, done, { once: true }))

/** Frames of a video file, each in the middle of its part of the time. */
async function framesOfVideo(file: File, count: number) {
  const video = Object.assign(document.createElement('video'), {
      muted: true,
      src: URL.createObjectURL(file)
    }),
    failed = once(video, 'error').then(() => {
      throw new Error(say('errors.noVideo', { name: file.name }))
    }),
    go = (seconds: number) => {
      const there = once(video, 'seeked')
      video.currentTime = seconds
      return Promise.race([there, failed])
    },
    frames: ImageBitmap[] = []
  try {
    await Promise.race([once(video, 'loadeddata'), failed])
    // a recording that was written as it was made says no duration: the browser goes to its end
    if (!Number.isFinite(video.duration)) await go(Number.MAX_SAFE_INTEGER)
    const end = Number.isFinite(video.duration) ? video.duration : video.currentTime
    for (let i = 0; i < count; i++) {
      await go(((i + 0.5) * end) / count)
      frames.push(await createImageBitmap(video))
    }
    return frames
  } finally {
    failed.catch(() => {})
    URL.revokeObjectURL(video.src)
    video.removeAttribute('src')
  }
}

/** Frames of an animated picture, where the browser reads them; else its first one. */
async function framesOfPicture(file: File, count: number): Promise<PictureSource[]> {
  const { ImageDecoder } = globalThis as any
  if (ImageDecoder && (await ImageDecoder.isTypeSupported(file.type))) {
    const decoder = new ImageDecoder({ data: file.stream(), type: file.type })
    try {
      await decoder.completed
      const there = decoder.tracks.selectedTrack?.frameCount ?? 1
      if (there > 1) {
        const frames: ImageBitmap[] = []
        for (const frameIndex of spread([...Array(there).keys()], count)) {
          const { image } = await decoder.decode({ frameIndex })
          frames.push(await createImageBitmap(image))
          image.close()
        }
        return frames
      }
    } finally {
      decoder.close()
    }
  }
  return [(await decode(file, file.name)).source]
}

export async function openVideo(page: Page, files: File[]) {
  const wanted = page.engine.opened.info.frames,
    [first] = files,
    frames: PictureSource[] = []
  if (files.length > 1)
    for (const file of spread(
      [...files].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })),
      wanted
    ))
      frames.push((await decode(file, file.name)).source)
  else if (first.type.startsWith('video/')) frames.push(...(await framesOfVideo(first, wanted)))
  else frames.push(...(await framesOfPicture(first, wanted)))
  const { width, height } = frames[0],
    other = frames.find((frame) => frame.width !== width || frame.height !== height)
  if (other)
    throw new Error(
      say('parts.sizes', {
        found: `${other.width} × ${other.height}`,
        expected: `${width} × ${height}`
      })
    )
  await page.run({
    ...{ source: frames[0], width, height, frames, scene: null },
    name: files.length > 1 ? say('parts.frames', { count: files.length }) : first.name
  })
  if (frames.length === 1) showStatus(say('parts.still'))
}
