/* A figure's shapes as SVG: texts are text, and each map is one picture. Title, description and
 * metadata say what it is. */
import { aboutParts, described, escape, language } from '../../plot/parts/svg_text.js'
import { provenanceText } from '../save/provenance_text.js'
import { fromHash, longestSettings } from '../state/address.js'
import { pngOfRaster, pngUrlOf } from './figure_png.js'
import type { Figure, FigureLayout, FigureShape } from '../types.js'

const short = (value: number) => String(Number(value.toFixed(2)))

const sharp = 600 // pixels that a raster has at least, where it is not larger itself

async function image({
  x,
  y,
  width,
  height,
  raster,
  href
}: Extract<FigureShape, { kind: 'image' }>) {
  const times = raster ? Math.max(1, Math.floor(sharp / Math.max(raster.width, raster.height))) : 1,
    url = raster ? pngUrlOf(await pngOfRaster(raster, times)) : href
  return `<image xlink:href="${escape(url ?? '')}" x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" preserveAspectRatio="none"${raster ? ' image-rendering="pixelated"' : ''}/>`
}

/** The picture that more than one image shows, as one of unit size; each of them is a use of it. */
const shared = 'figure-picture'

/** What images show more than once. */
function repeated(layout: FigureLayout) {
  const seen = new Set<string>()
  for (const shape of layout.groups.flatMap(({ shapes }) => shapes)) {
    if (shape.kind !== 'image' || !shape.href) continue
    if (seen.has(shape.href)) return shape.href
    seen.add(shape.href)
  }
  return undefined
}

const used = ({ x, y, width, height }: Extract<FigureShape, { kind: 'image' }>) =>
  `<use xlink:href="#${shared}" transform="translate(${short(x)} ${short(y)}) scale(${short(width)} ${short(height)})"/>`

function drawn(shape: FigureShape, often?: string): string | Promise<string> {
  if (shape.kind === 'image') return often && shape.href === often ? used(shape) : image(shape)
  if (shape.kind === 'dot') {
    const { x, y, radius, fill, stroke, name } = shape
    return `<circle cx="${short(x)}" cy="${short(y)}" r="${radius}" fill="${fill}"${stroke ? ` stroke="${stroke}" stroke-width="0.75"` : ''}><title>${escape(name)}</title></circle>`
  }
  if (shape.kind === 'path') {
    const { d, stroke, size, fill, dash } = shape,
      [, colour, alpha] = /^(#[0-9a-f]{6})([0-9a-f]{2})$/.exec(fill ?? '') ?? [] // not all readers know #rrggbbaa
    return `<path d="${d}" fill="${colour ?? fill ?? 'none'}"${alpha ? ` fill-opacity="${short(Number.parseInt(alpha, 16) / 255)}"` : ''}${stroke ? ` stroke="${stroke}" stroke-width="${size}"` : ''}${dash ? ' stroke-dasharray="2 2"' : ''}/>`
  }
  const { x, y, text, size, anchor = 'start', bold, turned, fill } = shape
  return `<text x="${short(x)}" y="${short(y)}" font-size="${size}"${anchor === 'start' ? '' : ` text-anchor="${anchor}"`}${bold ? ' font-weight="bold"' : ''}${turned ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : ''}${fill ? ` fill="${fill}"` : ''}>${escape(text)}</text>`
}

/** What the metadata of a figure's files is made from, of the composer or the menu. panels of the
 * menu may be any view; its size is not chosen in millimetres. */
export type DescribedFigure = Pick<Figure, 'from' | 'parts' | 'grid' | 'title' | 'caption'> & {
  look: { panels: string[]; width?: number }
}

/** What a figure says of itself, for programs: the same in SVG and PNG. */
export function metadataOf({ from, parts, grid, title, look }: DescribedFigure) {
  const { view, layer, head, query, reverse, first, last } = fromHash(
      from.settings,
      longestSettings
    ),
    rollout = view === 'rollout', // the title and the map are of these layers, and of no head
    scale = (parts.map ?? parts.heads ?? parts.rollout ?? parts.matrix)?.scale
  return {
    ...from,
    ...(rollout
      ? { rollout: [first, last < 0 ? from.layers - 1 : last] }
      : { layer, head, ...(reverse ? { reverse } : {}) }),
    query,
    title,
    panels: look.panels,
    width_mm: look.width,
    ...(scale
      ? {
          scale: scale.label,
          end: scale.end,
          ...(scale.kind === 'signed' || scale.kind === 'plain'
            ? {}
            : { end_times_uniform: scale.end * grid.tokens })
        }
      : {})
  }
}

/** The figure in words, for those who do not see it. */
export const descriptionOf = ({ caption, from }: Pick<DescribedFigure, 'caption' | 'from'>) =>
  `${caption} ${provenanceText(from)}`

/** Title, description and metadata of a figure's SVG. */
export const aboutFigure = (figure: DescribedFigure) => ({
  title: `${figure.from.picture}: ${figure.title}`,
  description: descriptionOf(figure),
  metadata: JSON.stringify(metadataOf(figure))
})

/** The same as texts of a PNG. */
export function pngTexts(figure: DescribedFigure) {
  const { title, description, metadata } = aboutFigure(figure)
  return {
    Title: title,
    Description: description,
    Software: `heed ${figure.from.heed}`,
    heed: metadata
  }
}

/** Resolves to the text of an SVG. pixels: its width and height in pixels instead of millimetres, to
 * draw it on a canvas. */
export async function figureSvg(
  figure: Figure,
  layout: FigureLayout,
  pixels?: { width: number; height: number }
) {
  const { width, height, ground, ink, font, groups } = layout,
    mm = (length: number) => `${short((length / 72) * 25.4)}mm`,
    size = pixels
      ? `width="${pixels.width}" height="${pixels.height}"`
      : `width="${mm(width)}" height="${mm(height)}"`
  const often = repeated(layout),
    defs = often
      ? `<defs><image id="${shared}" xlink:href="${escape(often)}" width="1" height="1" preserveAspectRatio="none"/></defs>\n`
      : ''
  const parts = await Promise.all(
    groups.map(
      async ({ name, shapes }) =>
        `<g id="panel-${name}">\n${(await Promise.all(shapes.map((shape) => drawn(shape, often)))).join('\n')}\n</g>`
    )
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${size} viewBox="0 0 ${short(width)} ${short(height)}" font-family="${escape(font)}" ${language} fill="${ink}" ${described}>
${aboutParts(aboutFigure(figure))}
${defs}<rect width="${short(width)}" height="${short(height)}" fill="${ground}"/>
${parts.join('\n')}
</svg>
`
}
