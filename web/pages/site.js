/* What every page has: the theme, kept where storage is allowed; its files kept for when there is no network. */

/** A setting of this browser, where it may keep one: null otherwise. */
export const stored = (name) => { try { return localStorage.getItem(name) } catch { return null } }
export const keep = (name, value) => { try { localStorage.setItem(name, value) } catch { /* for this visit alone */ } }

export function connectTheme(button) {
  const root = document.documentElement, theme = stored('theme')
  if (theme) root.dataset.theme = theme
  button.addEventListener('click', () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
    root.dataset.theme = dark ? 'light' : 'dark'
    keep('theme', root.dataset.theme)
  })
}

/** Whether a service worker and threads go together: Firefox's does not answer while a thread of the site's pages waits for work, and pages stop
 * loading. */
export const threadsBesideServiceWorker = !navigator.userAgent.includes('Firefox/')

/* Once the page stands, so that nothing it waits for comes later. A browser that keeps nothing has only the network. */
async function keepOffline() {
  if (document.documentElement.dataset.ready !== 'true') return
  ready.disconnect()
  const { serviceWorker } = navigator
  if (!crossOriginIsolated || threadsBesideServiceWorker) serviceWorker?.register('service_worker.js').catch(() => {})
  else (await serviceWorker?.getRegistration())?.unregister()
}

const ready = new MutationObserver(keepOffline)
ready.observe(document.documentElement, { attributes: true, attributeFilter: ['data-ready'] })
