/* Buttons that save, and those that copy a link or code; a printed page says where it is from. What
 * they do is fetched when it is asked for. */
const element = (id) => document.getElementById(id)

export function download(blob, name) {
  const link = Object.assign(document.createElement('a'), {
    href: URL.createObjectURL(blob),
    download: name
  })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

export function connectSave(page) {
  for (const id of 'save-png save-svg save-csv save-json save-npy save-npz save-safetensors save-session code link'.split(
    ' '
  ))
    element(id).addEventListener('click', () =>
      import('./saving.js').then(({ actions }) => actions[id](page)).catch(page.showError)
    )
  addEventListener('beforeprint', () => {
    element('from').textContent =
      `heed ${page.engine.info.version}, ${element('model-name').textContent}, ${page.picture?.name ?? ''}. ${location.href}`
  })
}
