/* The colour bar: the colours of a scale from end to end, with numbers below. One stands below
 * every map, or below the maps that share it. */
import { barRaster } from '../../../plot/parts/bar_raster.js'
import { ticksThatFit } from '../../../plot/scale.js'
import { html } from 'lit-html'
import { drawing, put } from './canvas.js'
import type { Scale } from 'heed/plot'

const fewest = 14 // characters on the shortest bar

/** The markup of a bar within a figure. */
export const smallBar =
  '<div class="bar"><canvas width="256" height="1" aria-hidden="true"></canvas><div class="ticks"></div></div>'

const scales = new WeakMap()

/** The scale that was drawn last on a bar's canvas. */
export const scaleOf = (canvas: Element) => scales.get(canvas)

/** element: what the bar is in; table: 256 colours; ticks: those of the scale that there is room
 * for. */
export function drawBar(
  element: HTMLElement,
  scale: Scale,
  table: Uint8Array<ArrayBufferLike>,
  ticks = scale.ticks
) {
  const canvas = element.querySelector('.bar canvas')
  scales.set(canvas, scale)
  put(canvas as HTMLCanvasElement, barRaster(table))
  element.querySelector('.ticks').replaceChildren(
    ...ticks.map(({ at, text }) => {
      const tick = Object.assign(document.createElement('span'), { textContent: text })
      tick.style.left = `${at * 100}%`
      return tick
    })
  )
}

/** Within a figure made with smallBar. */
export const drawSmallBar = (figure: HTMLElement, scale: Scale, table: Uint8Array) =>
  drawBar(figure, scale, table, ticksThatFit(scale.ticks, fewest))

/** A bar of a template. ticks: those of the scale that there is room for. */
export const bar = (scale: Scale, table: Uint8Array, ticks = ticksThatFit(scale.ticks, fewest)) =>
  html`<div class="bar"><canvas width="256" height="1" aria-hidden="true" ${drawing((canvas) => {
    scales.set(canvas, scale)
    put(canvas, barRaster(table))
  })}></canvas><div class="ticks">${ticks.map(
    ({ at, text }) => html`<span .style=${`left: ${at * 100}%`}>${text}</span>`
  )}</div></div>`
