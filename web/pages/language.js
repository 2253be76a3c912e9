/* The language of a page, before it is drawn: NAME.html has English, NAME.ja.html Japanese. Who opens
 * NAME.html gets the language that was chosen in this browser, or the browser's first one that is
 * there; another address shows what it names. The choice is kept where storage is allowed. */
{
  const here = document.documentElement.lang
  /** @param {string} language */
  const page = (language) =>
    `${/([^/.]*)[^/]*$/.exec(location.pathname)?.[1] || 'index'}${language === 'en' ? '' : `.${language}`}.html${location.search}${location.hash}`
  let chosen = null
  try {
    chosen = localStorage.getItem('language')
  } catch {} // a frame may have no storage
  const wanted = [chosen, ...navigator.languages]
    .map((name) => /^(en|ja|zh(?!-(TW|HK|MO|Hant)))\b/i.exec(name ?? '')?.[1])
    .find(Boolean)
  if (here === 'en' && wanted && wanted !== 'en') location.replace(page(wanted))
  addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLSelectElement) || target.id !== 'language') return
    try {
      localStorage.setItem('language', target.value)
    } catch {}
    location.assign(page(target.value))
  })
}
