#!/bin/sh
# Writes gpu.md into build/compile-tables: what drivers' compilers make of the kernels of this tree, beside those of another commit.
# compile_document.sh [COMMIT]    default: the commit before HEAD. Its table is kept in build/compile-tables.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
commit=$(git -C "$root" rev-parse --verify "${1:-HEAD~1}^{commit}") || exit 2
build=${HEED_BUILD:-$root/build}
tables=$build/compile-tables
other=$tables/tree
mkdir -p "$tables"

if [ ! -s "$tables/$commit.json" ]; then
  remove() { # what a stopped run may have left, too
    rm -rf "$other"
    git -C "$root" worktree prune
  }
  remove
  trap remove EXIT
  trap 'exit 1' HUP INT TERM
  git -C "$root" worktree add --quiet --detach "$other" "$commit"
  sh "$root/tests/vulkan/newer.sh" "$build/newer-root"
  mkdir -p "$other/build"
  ln -sfn "$build/newer-root" "$other/build/newer-root"
  HEED_BUILD=$other/build sh "$other/tests/vulkan/compile_table.sh" --json "$tables/new.json"
  mv "$tables/new.json" "$tables/$commit.json"
fi
sh "$root/tests/vulkan/compile_table.sh" --json "$tables/now.json"
node "$root/tests/vulkan/compile_report.mjs" document "$tables/$commit.json" "$tables/now.json" \
  "The other commit is $(git -C "$root" log -1 --format='%h (%cs)' "$commit")." >"$tables/gpu.md"
printf '%s\n' "$tables/gpu.md"
