/* A raster of web/plot, one pixel a patch, onto a canvas that CSS enlarges. */
import { noChange } from 'lit-html'
import { Directive, directive, type ElementPart } from 'lit-html/directive.js'
import type { Raster } from 'heed/plot'

export function put(canvas: HTMLCanvasElement, raster: Raster) {
  canvas.width = raster.width
  canvas.height = raster.height
  canvas
    .getContext('2d')
    ?.putImageData(new ImageData(raster.data, raster.width, raster.height), 0, 0)
}

class Drawing extends Directive {
  render(_draw: (canvas: HTMLCanvasElement) => void) {
    return noChange
  }

  override update({ element }: ElementPart, [draw]: Parameters<this['render']>) {
    draw(element as HTMLCanvasElement)
    return noChange
  }
}
/** What a canvas of a template shows: `<canvas ${drawing((canvas) => …)}>`. */
export const drawing = directive(Drawing)
/** A raster that a canvas of a template shows. */
export const showing = (raster: Raster) => drawing((canvas) => put(canvas, raster))
