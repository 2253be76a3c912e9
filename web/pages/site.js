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

/** Whether this page is kept for when there is no network, as a sentence. */
export function offlineSaid() {
  if (!navigator.serviceWorker) return 'This browser keeps no pages for offline use: it has no service workers, or the page is not from https or localhost.'
  if (crossOriginIsolated && !threadsBesideServiceWorker) return 'Offline use needs a server without isolation headers here: Firefox lets a page have threads or a service worker, not both. Serve the pages without them (node web/serve.js FOLDER --not-isolated) to keep them for offline.'
  return 'These pages are kept in this browser after the first visit and work offline.'
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
