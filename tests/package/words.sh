#!/bin/sh
# The words of the documents and of what heed prints. words.sh ROOT FILE... fails with one line per finding, FILE: what is wrong:
#   1 ARCHITECTURE.md is a map of at most 12 KB
#   2 no prose sentence has more than 25 words; tables, code and headings are not prose
#   3 no private word where the field has a term; the list is below, with the term
#   4 links and `paths` in this repository lead to files that exist
# words.sh --printed ROOT looks at the text in the sources: no string of C has one of the predicates that errors do not use.
# words.sh --help FILE... looks at what `heed VERB --help` printed: lines of at most 100 columns, and no private word.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 ROOT FILE... | --printed ROOT | --help FILE..." >&2; exit 2; }
root=$1
shift
map_bytes=12288
findings=$(mktemp)
prose=$(mktemp)
trap 'rm -f "$findings" "$prose"' EXIT

# Private word (an extended regular expression, in lower case) and what to write.
private='
told|tell|tells	reported, reports
said|is said	reported, stated
works? out|worked out|working out	computes, computed
gives? out|gave out|hands? out|handed out	outputs, returns
played|plays	simulated, simulates
made ready	prepared
cut along|is cut|are cut|cuts work	split
portions?	subdispatch, part
looks? at|looked at|looks everywhere	attends to
who wants|who looks|who asks	name the actor
furthest off|off by|is off	largest error, out of range
the same bits as|least of	bit-identical, minimum of
no such	unknown
in the place of	instead of
made-up	synthetic
takes? out|taken out	ablate
(one|bytes|operations|dispatches|[0-9]) an? (core|element|second|layer|row|invocation)	per core, per second
'

# Prints each paragraph, list item and quote of a Markdown file as one line: no code, table, heading, comment or front matter.
paragraphs() { # file
  awk '
    function flush() { if (text != "") print text; text = "" }
    NR == 1 && /^---$/ { front = 1; next }
    front { if (/^---$/) front = 0; next }
    /^(```|~~~)/ { flush(); fence = !fence; next }
    fence { next }
    comment { if (/-->/) comment = 0; next }
    /^[ \t]*<!--/ { flush(); if (!/-->/) comment = 1; next }
    /^[ \t]*$/ || /^[ \t]*[|]/ || /^#/ || /^(---|===)/ || /^!\[/ { flush(); next }
    /^[ \t]*([-*+]|[0-9]+[.])[ \t]/ { flush() }
    { sub(/^[ \t]*([-*+]|[0-9]+[.]|>)[ \t]+/, ""); text = text (text == "" ? "" : " ") $0 }
    END { flush() }' "$1"
}

# The same without inline code (one word each), addresses of links and emphasis.
# shellcheck disable=SC2016 # backquotes of Markdown
plain() {
  sed -e 's/``[^`]*``/CODE/g; s/`[^`]*`/CODE/g' -e 's/\](\([^)]*\))/]/g' -e 's/[][*]//g' -e 's/https\{0,1\}:[^ )]*/ADDRESS/g'
}

long_sentences() { # file, its prose on stdin
  awk -v file="$1" -v longest="$longest" '
    {
      gsub(/et al\./, "et al"); gsub(/e\.g\./, "eg"); gsub(/i\.e\./, "ie"); gsub(/vs\./, "vs")
      line = $0; gsub(/[.!?][")\047]*( |$)/, "&\n", line)
      n = split(line, sentence, "\n")
      for (i = 1; i <= n; i++) {
        words = 0
        m = split(sentence[i], word, " ")
        for (k = 1; k <= m; k++) if (word[k] ~ /[A-Za-z0-9]/) words++
        if (words > longest) printf "%s: a sentence of %d words (at most %d): %.80s...\n", file, words, longest, sentence[i]
      }
    }'
}

private_words() { # file, its prose on stdin
  tr '[:upper:]' '[:lower:]' | private=$private awk -v file="$1" '
    BEGIN {
      n = split(ENVIRON["private"], row, "\n")
      for (i = 1; i <= n; i++) if (split(row[i], part, "\t") == 2) { count++; word[count] = "(^|[^a-z])(" part[1] ")([^a-z-]|$)"; term[count] = part[2] }
    }
    {
      for (i = 1; i <= count; i++) if (match($0, word[i])) {
        printf "%s: private words (found \"%s\", expected: %s)\n", file, substr($0, RSTART, RLENGTH), term[i]
      }
    }'
}

# A link starts at the file's folder; a path in code starts at the root, and counts when it begins with one of the tree's folders.
# shellcheck disable=SC2016 # backquotes of Markdown
links() { # file
  folder=$(dirname "$1")
  awk '/^(```|~~~)/ { fence = !fence } !fence { print }' "$root/$1" | grep -o '](\([^)]*\))' | sed 's/^](//; s/)$//; s/#.*//; s/ .*//' | sort -u |
    while read -r to; do
      case $to in '' | http://* | https://* | mailto:*) continue ;; esac
      [ -e "$root/$folder/$to" ] || echo "$1: a link to a file that does not exist (found $to)"
    done
  awk '/^(```|~~~)/ { fence = !fence } !fence { print }' "$root/$1" | grep -o '`[a-zA-Z0-9_./-]*`' | tr -d '`' | sort -u |
    while read -r to; do
      case $to in
        build/* | *name.* | */name*) continue ;;
        runtime/* | shaders/* | native/* | web/* | tests/* | docs/* | .ci/* | .github/*) ;;
        *) continue ;;
      esac
      [ -e "$root/$to" ] || echo "$1: a path that does not exist (found $to)"
    done
}

# Strings alone: a comment may use these words.
printed() {
  predicates='is off|no such|wants|is not usable|cannot be (opened|read|written)|has not what|this build has no|(one|bytes|pictures) an? (core|row|side|run)'
  grep -rnE --include='*.[ch]' "\"([^\"]|\\\\.)*(^|[^a-z])($predicates)([^a-z]|\$|\")" "$1/runtime" "$1/native" "$1/web/wasm" |
    grep -vE '^[^:]*/(node_modules/.*|heed/[a-z]*\.h):|:[0-9]+: *(/\*|\* )' |
    sed "s|^$1/||; s/:  */: an error does not say this (see CONTRIBUTING.md): /"
}

help_texts() { # files
  for file in "$@"; do
    awk -v file="$file" 'length > 100 { printf "%s: a line of %d columns (at most 100): %.60s...\n", file, length, $0 }' "$file"
    private_words "$file" <"$file"
  done
}

case $root in
  --printed) printed "$1" >"$findings" || true; set -- ;;
  --help) help_texts "$@" >"$findings"; set -- ;;
esac
for file in "$@"; do
  [ -e "$root/$file" ] || { echo "$file: it is missing" >>"$findings"; continue; }
  if [ "$file" = ARCHITECTURE.md ]; then
    bytes=$(($(wc -c <"$root/$file")))
    [ "$bytes" -le "$map_bytes" ] || echo "$file: the map is too large (found $bytes bytes, expected at most $map_bytes)" >>"$findings"
  fi
  longest=25
  paragraphs "$root/$file" | plain >"$prose"
  { long_sentences "$file" <"$prose"; private_words "$file" <"$prose"; links "$file"; } >>"$findings"
done
cat "$findings"
[ ! -s "$findings" ]
