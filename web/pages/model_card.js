/* Model cards (README.md of a model's folder): what their front matter, YAML between two lines of ---, says of the licence. */

/** A YAML scalar without its quotes, at most 80 characters. */
export const unquoted = (text) => text.trim().replace(/^(['"])(.*)\1$/, '$2').slice(0, 80)

/** The licence in a model card's front matter (YAML between lines of ---), null where it names none. */
export function licenceOfCard(text) {
  const [, front] = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---/.exec(text) ?? []
  const one = (key) => { const [, value] = new RegExp(`^${key}:[ \\t]*([^\\s#].*)$`, 'm').exec(front ?? '') ?? []; return value && unquoted(value) }
  const [, list] = /^license:[ \t]*\r?\n((?:[ \t]*-[ \t]*.+(?:\r?\n|$))+)/m.exec(front ?? '') ?? []
  const named = list ? list.trim().split(/\r?\n/).map((line) => unquoted(line.trim().slice(1))).join(', ') : one('license')
  return (named === 'other' && one('license_name')) || named || null
}
