/* The styles of what is shown only after something was chosen: later.css, and those of the zoom. Who shows such a thing
 * waits for them first, so that nothing moves. */

const sheets: Map<string, Promise<unknown>> = new Map()

/** Resolves once the styles apply; where they could not be loaded, the next call tries again. */
export function laterStyles(href = 'explorer/later.css') {
  const sheet =
    sheets.get(href) ??
    new Promise((resolve, reject) => {
      const link = Object.assign(document.createElement('link'), {
        rel: 'stylesheet',
        href,
        onload: resolve,
        onerror: () => {
          link.remove()
          sheets.delete(href)
          reject(new Error(`${href} could not be loaded.`))
        }
      })
      document.head.append(link)
    })
  sheets.set(href, sheet)
  return sheet
}
