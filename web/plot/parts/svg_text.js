/* Text in SVG, and what figures are written in. */

/* What no XML may hold, not even escaped: control characters and halves of pairs. */
const unwritable =
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/**
 * A text as it may stand in XML.
 * @param {string | number} text
 */
export const escape = (text) =>
  String(text)
    .replace(unwritable, '\ufffd')
    .replace(
      /[&<>"]/g,
      (sign) =>
        /** @type {Record<string, string>} */ ({
          '&': '&amp;',
          '<': '&lt;',
          '>': '&gt;',
          '"': '&quot;'
        })[sign]
    )

/** Ground and ink of figures. */
export const inks = {
  light: { ground: '#fff', ink: '#1a2230' },
  dark: { ground: '#12161c', ink: '#e8ecf2' }
}

/**
 * Lines of at most `width` characters; longer words are cut.
 * @param {string} text
 * @param {number} width
 */
export function wrap(text, width) {
  const lines = ['']
  for (const word of text
    .split(' ')
    .flatMap((word) => word.match(new RegExp(`.{1,${Math.floor(width) - 1}}`, 'g')) ?? [''])) {
    if (/** @type {string} */ (lines.at(-1)).length + word.length >= width) lines.push('')
    lines.push(`${lines.pop()} ${word}`.trim())
  }
  return lines
}
