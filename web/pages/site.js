/* What every page has: the theme, kept where storage is allowed; its files kept for when there is no network. */

const stored = () => { try { return localStorage.getItem('theme') } catch { return null } }

export function connectTheme(button) {
  const root = document.documentElement, theme = stored()
  if (theme) root.dataset.theme = theme
  button.addEventListener('click', () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
    root.dataset.theme = dark ? 'light' : 'dark'
    try { localStorage.setItem('theme', root.dataset.theme) } catch { /* kept for this visit alone */ }
  })
}

/* Once the page stands, so that nothing it waits for comes later. A browser that keeps nothing has only the network. */
function keepOffline() {
  if (document.documentElement.dataset.ready !== 'true') return
  ready.disconnect()
  navigator.serviceWorker?.register('service_worker.js').catch(() => {})
}

const ready = new MutationObserver(keepOffline)
ready.observe(document.documentElement, { attributes: true, attributeFilter: ['data-ready'] })
