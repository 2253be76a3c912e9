/* The language of a page, before it is drawn: NAME.en.html has English, NAME.ja.html Japanese. Who
 * opens NAME.html gets the language that was chosen in this browser, or the browser's first one that
 * is there; there it is English. Another address shows what it names, to everybody. The choice is
 * kept where storage is allowed. The languages' own names come when the pointer or the focus is on
 * them: their fonts would delay the first picture. */
{
  const [, name, named] = /([^/.]*)(\.\w\w\b)?[^/]*$/.exec(location.pathname) as RegExpExecArray
  const go = (language: string) =>
    location.replace(`${name || 'index'}.${language}.html${location.search}${location.hash}`)
  const kept = (chosen?: string): string | null | void => {
    try {
      return chosen ? localStorage.setItem('language', chosen) : localStorage.getItem('language')
    } catch {} // a frame may have no storage
  }
  const wanted = [kept(), ...navigator.languages]
    .map((name) => /^(en|ja|zh(?!-(TW|HK|MO|Hant)))\b/i.exec(name ?? '')?.[1])
    .find(Boolean)
  if (!named && wanted && wanted !== 'en') go(wanted)
  const follow = ({ type, target }: Event) => {
    if (!(target instanceof HTMLSelectElement) || target.id !== 'language') return
    if (type === 'change') {
      kept(target.value)
      return go(target.value)
    }
    target.style.minWidth = `${target.getBoundingClientRect().width}px` // what is beside it stays where it is
    for (const option of target.options)
      option.text =
        new Intl.DisplayNames(option.lang, { type: 'language' }).of(option.lang) ?? option.text
  }
  for (const type of ['change', 'pointerover', 'focusin']) addEventListener(type, follow)
}
