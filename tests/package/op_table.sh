#!/bin/sh
# The table op x backend x test of docs/add-an-op.md, from graph/op_list.h and the files that mirror it.
# op_table.sh ROOT writes it between its markers; op_table.sh ROOT --check fails when it is out of date.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 ROOT [--check]"; exit 2; }
root=$1
page=$root/docs/add-an-op.md
begin='<!-- op table: written by tests/package/op_table.sh -->'
end='<!-- end of op table -->'
ops=$(sed -n 's/^HEED_OP(\([a-z_]*\)).*/\1/p' "$root/runtime/graph/op_list.h")

# The op to which a file's stem belongs: the longest name that it begins with.
owner() { # stem
  best=
  for candidate in $ops; do
    case $1 in
      "$candidate" | "$candidate"_*) [ ${#candidate} -le ${#best} ] || best=$candidate ;;
    esac
  done
  echo "$best"
}

# Files of a folder that belong to an op, as a list of `code`.
belonging() { # op, folder, before the stem, after it
  list=
  for file in "$root/$2/$3"*"$4"; do
    [ -e "$file" ] || continue
    stem=${file##*/"$3"}
    stem=${stem%"$4"}
    [ "$(owner "$stem")" = "$1" ] && list="$list${list:+, }\`$3$stem$4\`"
  done
  echo "${list:--}"
}

table() {
  echo "$begin"
  echo '| op | `heed check` knows it as | CPU, every level | Vulkan: shaders | tests, on every CPU level and every Vulkan driver |'
  echo '|---|---|---|---|---|'
  for op in $ops; do
    names=$(tr '\n' ' ' <"$root/runtime/check/ops/$op.c" | tr -s ' ' |
      sed -n 's/.*static const char \*const names\[\] = {\([^}]*\), NULL};.*/\1/p' | tr -d '"')
    echo "| $op | $names | $(belonging "$op" runtime/cpu '' .c) | $(belonging "$op" shaders '' .comp) | $(belonging "$op" tests/ops test_ .c) |"
  done
  echo "$end"
}

made=$(mktemp)
trap 'rm -f "$made" "$made.page"' EXIT
table >"$made"
if [ "${2:-}" = --check ]; then
  sed -n "\|^$begin|,\|^$end|p" "$page" | diff - "$made" >&2 && exit 0
  echo "docs/add-an-op.md: the table of ops is out of date; write it again with: sh tests/package/op_table.sh ." >&2
  exit 1
fi
grep -qxF "$begin" "$page" && grep -qxF "$end" "$page" || { echo "docs/add-an-op.md: the markers of the table are missing" >&2; exit 1; }
awk -v begin="$begin" -v end="$end" -v made="$made" '
  $0 == begin { while ((getline line < made) > 0) print line; inside = 1 }
  !inside { print }
  $0 == end { inside = 0 }' "$page" >"$made.page"
cat "$made.page" >"$page"
