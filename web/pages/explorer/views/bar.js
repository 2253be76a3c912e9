/* The colour bar: the colours of a scale from end to end, with numbers below. One stands below
 * every map, or below the maps that share it. */
import { barRaster } from '../../plot/parts/bar_raster.js'
import { ticksThatFit } from '../../plot/scale.js'
import { put } from './canvas.js'
/** @import {Scale} from '../../../plot/index.js' */

const fewest = 14 // characters on the shortest bar

/** The markup of a bar within a figure. */
export const smallBar =
  '<div class="bar"><canvas width="256" height="1" aria-hidden="true"></canvas><div class="ticks"></div></div>'

const scales = new WeakMap()

/**
 * The scale that was drawn last on a bar's canvas.
 * @param {Element} canvas
 */
export const scaleOf = (canvas) => scales.get(canvas)

/**
 * element: what the bar is in; table: 256 colours; ticks: those of the scale that there is room
 * for.
 * @param {HTMLElement} element
 * @param {Scale} scale
 * @param {Uint8Array<ArrayBufferLike>} table
 */
export function drawBar(element, scale, table, ticks = scale.ticks) {
  const canvas = element.querySelector('.bar canvas')
  scales.set(canvas, scale)
  put(/** @type {HTMLCanvasElement} */ (canvas), barRaster(table))
  element.querySelector('.ticks').replaceChildren(
    ...ticks.map(({ at, text }) => {
      const tick = Object.assign(document.createElement('span'), { textContent: text })
      tick.style.left = `${at * 100}%`
      return tick
    })
  )
}

/**
 * Within a figure made with smallBar.
 * @param {Scale} scale
 * @param {Uint8Array} table
 * @param {HTMLElement} figure
 */
export const drawSmallBar = (figure, scale, table) =>
  drawBar(figure, scale, table, ticksThatFit(scale.ticks, fewest))
