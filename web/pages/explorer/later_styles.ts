/* The styles of what is shown only after something was chosen: later.css. Who shows such a thing
 * waits for them first, so that nothing moves. */

let sheet = null as Promise<unknown> | null

/** Resolves once the styles apply; where they could not be loaded, the next call tries again. */
export const laterStyles = () =>
  (sheet ??= new Promise((resolve, reject) => {
    const link = Object.assign(document.createElement('link'), {
      rel: 'stylesheet',
      href: 'explorer/later.css',
      onload: resolve,
      onerror: () => {
        link.remove()
        sheet = null
        reject(new Error('explorer/later.css could not be loaded.'))
      }
    })
    document.head.append(link)
  }))
