#!/bin/sh
# quote.sh ROOT: what README.md and heed.h quote of native/examples/vit.c, main from `flow` to the figure, is what stands there.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 ROOT" >&2; exit 2; }
cd "$1"
end='heed_figure_write('
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

sed -n "/^  \/\* flow \*\/\$/,/$end/p" native/examples/vit.c | sed '1d; s/^  //' >"$folder/flow"
[ "$(wc -l <"$folder/flow")" -ge 20 ] || { echo "native/examples/vit.c: the flow was not found" >&2; exit 1; }
sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$folder/README.md"
sed -n "/^ \*  must(heed_context_create/,/$end/p" runtime/include/heed/heed.h | sed 's/^ \*$//; s/^ \*  //' >"$folder/heed.h"
for page in README.md heed.h; do
  diff "$folder/$page" "$folder/flow" >&2 || { echo "$page: the quote of native/examples/vit.c is out of date (found <, expected >)" >&2; exit 1; }
done
