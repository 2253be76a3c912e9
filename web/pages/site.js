/* What every page has: the theme, kept where storage is allowed. */

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
