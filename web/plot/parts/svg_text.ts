/* Text in SVG, and what figures are written in. */
import type { FigureAbout } from 'heed/plot'

/* What no XML may hold, not even escaped: control characters and halves of pairs. */
const unwritable =
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** A text as it may stand in XML. */
export const escape = (text: string | number) =>
  String(text)
    .replace(unwritable, '\ufffd')
    .replace(
      /[&<>"]/g,
      (sign) =>
        (
          ({
            '&': '&amp;',
            '<': '&lt;',
            '>': '&gt;',
            '"': '&quot;'
          }) as Record<string, string>
        )[sign]
    )

/** Ground and ink of figures. */
export const inks = {
  light: { ground: '#fff', ink: '#1a2230' },
  dark: { ground: '#12161c', ink: '#e8ecf2' }
}

/* Fonts by name: programs that draw SVG ask the system for them, and know no `system-ui`. The last
 * are for signs that the others lack. */
const chinese = "'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei'",
  japanese = "'Noto Sans CJK JP', 'Hiragino Sans', 'Yu Gothic'",
  { lang = '' } = globalThis.document?.documentElement ?? {}
export const sans = `Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', ${lang.startsWith('zh') ? chinese : japanese}, sans-serif`

/** The language of the texts, as an attribute: signs that Japanese and Chinese share are drawn by it. */
export const language = `xml:lang="${escape(lang || 'en')}"`

/** Title and description of an SVG for those who do not see it, metadata for programs. The root
 * element refers to them by `described`. */
export const aboutParts = ({ title, description, metadata }: FigureAbout) =>
  `<title id="figure-title">${escape(title)}</title>
<desc id="figure-desc">${escape(description)}</desc>
<metadata>${escape(metadata)}</metadata>`
export const described = 'role="img" aria-labelledby="figure-title figure-desc"'

/* Signs as wide as two others; a line may end behind each, but not before what closes. */
const wide = '\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60',
  units = new RegExp(`( ?)([（「『]?[${wide}][、。，：；！？）」』]*|[^ ${wide}]+)`, 'g'),
  wideSign = new RegExp(`[${wide}]`, 'g')
/** How many characters wide a text is. */
export const lengthOf = (text: string) => text.length + (text.match(wideSign)?.length ?? 0)

/** Lines of at most `width` characters; longer words are cut. */
export function wrap(text: string, width: number) {
  const lines = [''],
    longest = new RegExp(`.{1,${Math.floor(width) - 1}}`, 'g')
  for (const [, space, unit] of text.matchAll(units))
    for (const part of lengthOf(unit) < width ? [unit] : (unit.match(longest) ?? [])) {
      const line = lines.pop() as string,
        fits = lengthOf(line + space + part) <= width
      if (!line || fits) lines.push(line ? line + space + part : part)
      else lines.push(line, part)
    }
  return lines
}
