#!/bin/sh
# Writes docs/gpu.md: what drivers' compilers make of the kernels of this tree, beside those of another commit.
# compile_document.sh [COMMIT]    default: the commit before HEAD. A table of a commit is kept in build/compile-tables.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
commit=$(git -C "$root" rev-parse --verify "${1:-HEAD~1}^{commit}") || exit 2
tables=$root/build/compile-tables
other=$tables/tree
mkdir -p "$tables"

if [ ! -s "$tables/$commit.json" ]; then
  [ ! -e "$other" ] || git -C "$root" worktree remove --force "$other"
  git -C "$root" worktree add --detach "$other" "$commit" >/dev/null 2>&1
  trap 'git -C "$root" worktree remove --force "$other"' EXIT
  sh "$root/tests/vulkan/newer.sh" "$root/build/newer-root"
  mkdir -p "$other/build"
  ln -sfn "$root/build/newer-root" "$other/build/newer-root"
  sh "$other/tests/vulkan/compile_table.sh" --json "$tables/new.json"
  mv "$tables/new.json" "$tables/$commit.json"
fi
sh "$root/tests/vulkan/compile_table.sh" --json "$tables/now.json"
node "$root/tests/vulkan/compile_report.mjs" document "$tables/$commit.json" "$tables/now.json" \
  "The other commit is $(git -C "$root" log -1 --format='%h (%cs)' "$commit")." >"$tables/gpu.md"
cp "$tables/gpu.md" "$root/docs/gpu.md"
