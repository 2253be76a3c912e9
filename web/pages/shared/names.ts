/* What the runtime names in English, in the language of the page: the demo model's classes, which are the shapes of
 * its scenes, and the device. Files and copied code keep the English names. */
import { sceneShapes } from '../heed/index.js'
import { say } from '../languages/say.js'

/** A class by its label; those of other models are as their files have them. */
export const className = (label: string) =>
  say('names.shapes').split(' ')[sceneShapes.indexOf(label)] ?? label

/** "WASM SIMD, 2 threads" of `info.device`. */
export const deviceName = (device: string) =>
  device
    .replace(' and dot products', () => say('names.dotProducts'))
    .replace(/, (\d+) threads/, (_, count) => say('names.threads', { count }))
    .replace(', 1 thread', say('names.thread'))
