/* What every page has: the theme, kept where storage is allowed; its files kept for when there is
 * no network. */

/** What the browser may refuse to a page, as to one in a sandboxed frame: null then. */
export const allowed = <Found>(ask: () => Found) => {
  try {
    return ask()
  } catch {
    return null
  }
}

/** A setting of this browser, where it may keep one: null otherwise. */
export const stored = (name: string) => allowed(() => localStorage.getItem(name))
export const keep = (name: string, value: string) =>
  allowed(() => localStorage.setItem(name, value)) // else for this visit alone

export function connectTheme(button: HTMLButtonElement) {
  const root = document.documentElement,
    theme = stored('theme')
  if (theme) root.dataset.theme = theme
  button.addEventListener('click', () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches
    root.dataset.theme = dark ? 'light' : 'dark'
    keep('theme', root.dataset.theme)
  })
}

/* Once the page stands, so that nothing it waits for comes later. A browser that keeps nothing has
 * only the network. */
function keepOffline() {
  if (document.documentElement.dataset.ready !== 'true') return
  ready.disconnect()
  allowed(() => navigator.serviceWorker)
    ?.register('service_worker.js')
    .catch(() => {})
}

const ready = new MutationObserver(keepOffline)
ready.observe(document.documentElement, { attributes: true, attributeFilter: ['data-ready'] })
