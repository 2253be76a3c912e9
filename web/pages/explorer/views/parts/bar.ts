/* The colour bar: the colours of a scale from end to end, with numbers below. One stands below
 * every map, or below the maps that share it. */
import { barRaster } from '../../../plot/parts/bar_raster.js'
import { ticksThatFit } from '../../../plot/scale.js'
import { html } from 'lit-html'
import { element } from '../../../shared/elements.js'
import { drawing, put } from './canvas.js'
import { fill } from '../../../shared/fill.js'
import type { Scale } from 'heed/plot'

const fewest = 14 // characters on the shortest bar

const scales = new WeakMap()

/** The scale that was drawn last on a bar's canvas. */
export const scaleOf = (canvas: Element) => scales.get(canvas)

function drawColours(canvas: HTMLCanvasElement, scale: Scale, table: Uint8Array<ArrayBufferLike>) {
  scales.set(canvas, scale)
  put(canvas, barRaster(table))
}

const numbers = (ticks: Scale['ticks']) =>
  ticks.map(({ at, text }) => html`<span .style=${`left: ${at * 100}%`}>${text}</span>`)

/** The bar below the stage. table: 256 colours. */
export function drawBar(scale: Scale, table: Uint8Array<ArrayBufferLike>) {
  drawColours(element('bar'), scale, table)
  fill(element('ticks'), numbers(scale.ticks))
}

/** A bar of a template. ticks: those of the scale that there is room for. */
export const bar = (
  scale: Scale,
  table: Uint8Array<ArrayBufferLike>,
  ticks = ticksThatFit(scale.ticks, fewest)
) =>
  html`<div class="bar"><canvas width="256" height="1" aria-hidden="true" ${drawing((canvas) => drawColours(canvas, scale, table))}></canvas><div class="ticks">${numbers(ticks)}</div></div>`
