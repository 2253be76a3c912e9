#!/bin/sh
# Prints the table op x backend x test, from graph/op_list.h and the files that mirror it. Fails on an op without a file in one of the columns.
# Usage: op_table.sh ROOT
set -eu
[ $# -eq 1 ] || { echo "usage: $0 ROOT"; exit 2; }
root=$1
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

status=0
echo '| op | `heed check` knows it as | CPU, every level | Vulkan: shaders | tests, on every CPU level and every Vulkan driver |'
echo '|---|---|---|---|---|'
for op in $ops; do
  names=$(tr '\n' ' ' <"$root/runtime/check/ops/$op.c" | tr -s ' ' |
    sed -n 's/.*static const char \*const names\[\] = {\([^}]*\), NULL};.*/\1/p' | tr -d '"')
  row="| $op | ${names:--} | $(belonging "$op" runtime/cpu '' .c) | $(belonging "$op" shaders '' .comp) | $(belonging "$op" tests/ops test_ .c) |"
  echo "$row"
  case $row in *'| - |'*) echo "$op: a column of its row is empty" >&2; status=1 ;; esac
done
exit $status
