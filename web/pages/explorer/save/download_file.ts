/* Gives the reader a file: what the browser does with a link to download. */

export function download(blob: Blob, name: string) {
  const link = Object.assign(document.createElement('a'), {
    href: URL.createObjectURL(blob),
    download: name
  })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
