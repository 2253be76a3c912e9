/* The licence that a model's files state, in words: of the front matter of its card (README.md, YAML
 * between two lines of ---), or of config.json. web/list_models.js uses it too. */

/** A YAML scalar without its quotes, at most 80 characters. */
const unquoted = (text: string) =>
  text
    .trim()
    .replace(/^(['"])(.*)\1$/, '$2')
    .slice(0, 80)

/** What a card's front matter has under a key, a list as one line; null where it has nothing. */
export function ofCard(text: string, key: string) {
  const [, front] = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---/.exec(text) ?? [],
    [, value] = new RegExp(`^${key}:[ \\t]*([^\\s#].*)$`, 'm').exec(front ?? '') ?? [],
    [, list] =
      new RegExp(`^${key}:[ \\t]*\\r?\\n((?:[ \\t]*-[ \\t]*.+(?:\\r?\\n|$))+)`, 'm').exec(
        front ?? ''
      ) ?? []
  if (!list) return (value && unquoted(value)) || null
  return list
    .trim()
    .split(/\r?\n/)
    .map((line) => unquoted(line.trim().slice(1)))
    .join(', ')
}

/** The licence in a model card's front matter, null where it names none. */
export function licenceOfCard(text: string) {
  const named = ofCard(text, 'license')
  return (named === 'other' && ofCard(text, 'license_name')) || named
}

/**
 * @param names of all files
 * @param text '' where there is no such file
 * @param said where only a file has it, and where nothing has
 */
export async function licenceOf(
  names: string[],
  text: (name: string) => Promise<string>,
  said: { file: string; none: string } = {
    file: 'as its LICENSE file says',
    none: 'not stated in the files'
  }
) {
  const card = licenceOfCard(await text('README.md'))
  if (card) return card
  try {
    const { license } = JSON.parse(await text('config.json'))
    if (typeof license === 'string' && license) return unquoted(license)
  } catch {
    /* the runtime said what is wrong with it */
  }
  return names.some((name) => /^LICEN[CS]E(\.\w+)?$/i.test(name)) ? said.file : said.none
}
