/* The colour bar: the colours of a scale from end to end, with numbers below. One stands below every map, or below the maps that share it. */
import { newRaster, putColour } from '../plot/raster.js'
import { put } from './canvas.js'

/** The markup of a bar within a figure. */
export const smallBar = '<div class="bar"><canvas width="256" height="1" aria-hidden="true"></canvas><div class="ticks"></div></div>'

/** canvas, ticks: elements; table: 256 colours. few: only the ends, and the middle of a scale of both signs. */
export function drawBar({ canvas, ticks }, scale, table, { few = false } = {}) {
  const raster = newRaster(256, 1)
  for (let i = 0; i < 256; i++) putColour(raster, i, table, i / 255)
  put(canvas, raster)
  ticks.replaceChildren(...scale.ticks.filter(({ at }) => !few || at === 0 || at === 1 || (scale.signed && at === 0.5)).map(({ at, text }) => {
    const tick = Object.assign(document.createElement('span'), { textContent: text })
    tick.style.left = `${at * 100}%`
    return tick
  }))
}

/** Within a figure made with smallBar. */
export const drawSmallBar = (figure, scale, table) => drawBar({ canvas: figure.querySelector('.bar canvas'), ticks: figure.querySelector('.ticks') }, scale, table, { few: true })
