/* Gives the reader a file: what the browser does with a link to download. */

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const link = Object.assign(document.createElement('a'), {
    href: URL.createObjectURL(blob),
    download: name
  })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
