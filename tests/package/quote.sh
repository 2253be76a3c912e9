#!/bin/sh
# quote.sh ROOT: what docs/c.md and heed.h quote of native/examples/vit.c, main from `flow` to the figure, is what stands there.
# So is the function that CONTRIBUTING.md shows, with the comment of the header, of runtime/explain.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 ROOT" >&2; exit 2; }
cd "$1"
end='heed_figure_write('
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

sed -n "/^  \/\* flow \*\/\$/,/$end/p" native/examples/vit.c | sed '1d; s/^  //' >"$folder/flow"
[ "$(wc -l <"$folder/flow")" -ge 20 ] || { echo "native/examples/vit.c: the flow was not found" >&2; exit 1; }
sed -n '/^```c$/,/^```$/p' docs/c.md | sed '/^```/d' >"$folder/c.md"
sed -n "/^ \*  must(heed_context_create/,/$end/p" runtime/include/heed/heed.h | sed 's/^ \*$//; s/^ \*  //' >"$folder/heed.h"
for page in c.md heed.h; do
  diff "$folder/$page" "$folder/flow" >&2 || { echo "$page: the quote of native/examples/vit.c is out of date (found <, expected >)" >&2; exit 1; }
done

sed -n '/^```c$/,/^```$/p' CONTRIBUTING.md | sed '1,2d; /^```/d' >"$folder/shown"
name=$(sed -n '1s/.* \([a-z_]*\)(.*/\1/p' "$folder/shown")
sed -n "/ $name(.*{\$/,/^}/p" runtime/explain/attention_map.c | diff "$folder/shown" - >&2 || {
  echo "CONTRIBUTING.md: the quote of runtime/explain/attention_map.c is out of date (found <, expected >)" >&2
  exit 1
}
