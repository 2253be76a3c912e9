#!/bin/sh
# docs/conformance.md from what `heed check --profile` says here.
#   conformance.sh HEED DOCUMENT             each line that this machine's CPU gives stands in the document
#   conformance.sh HEED DOCUMENT --write     writes it; lines of backends that are not here stay as they are
#   conformance.sh HEED DOCUMENT --row NAME  one line, of the backend that HEED_CONFORMANCE_OPTIONS chooses
# It also compares the table of docs/attention.md beside the document with the profiles' answers, or writes them into it.
set -eu
heed=$1 document=$2 mode=${3:-}
profiles='onnx torch keras'
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

# name, options...: runs each profile once; their texts into $here/<name>.<profile>
run() {
  name=$1
  shift
  for profile in $profiles; do
    "$heed" check --profile "$profile" --quiet --json "$here/$name.$profile.json" "$@" >"$here/$name.$profile" 2>"$here/err" || [ $? -eq 1 ] || return 1
  done
}

# The line of a backend: right cases of all.
row() { # name, title
  printf '| %s |' "$2"
  for profile in $profiles; do
    sed -n "s/^$profile: \([0-9]*\) cases with .*: \([0-9]*\) as the standard, \([0-9]*\) as heed states, \([0-9]*\) wrong\$/\1 \4/p" "$here/$1.$profile" |
      awk '{ printf " %d of %d |", $1 - $2, $1 }'
  done
  printf '\n'
}

# The table of a profile's questions.
questions() { # name, profile
  sed -n 's/^  \(FAIL \)\{0,1\}\(.*[^ ]\) \{1,\}\([0-9]*\) of \([0-9]*\)\(, \([0-9]*\) as heed states.*\)\{0,1\}$/| \2 | \4 | \3 | \6 |/p' "$here/$1.$2" | sed 's/|  |$/| 0 |/'
}

levels() { "$heed" check --profile onnx --simd none 2>&1 | sed -n 's/.*expected one of \(.*\))$/\1/p' | tr -d ','; }

rows() {
  for level in $(levels); do
    run "$level" --backend cpu --simd "$level" --threads 1
    row "$level" "CPU, $level"
  done
}

if [ "$mode" = --row ]; then
  # shellcheck disable=SC2086 # words
  run row ${HEED_CONFORMANCE_OPTIONS:-}
  row row "$4"
  exit
fi

rows >"$here/rows"
for profile in $profiles; do questions scalar "$profile" >"$here/questions.$profile"; done

# The table of docs/attention.md: column 3 is ONNX, 4 PyTorch, 5 Keras. Lines "column|question|answer".
table=${document%/*}/attention.md
cells() {
  column=3
  for profile in $profiles; do
    sed -n "s/.*\"question\": \"\([^\"]*\)\", \"answer\": \"\([^\"]*\)\".*/$column|\1|\2/p" "$here/scalar.$profile.json"
    column=$((column + 1))
  done
}
cells >"$here/cells"

# That table with the profiles' answers in its cells.
fill_table() {
  awk 'NR == FNR { split($0, part, "|"); cell[part[2], part[1]] = part[3]; next }
    /^[|] / {
      count = split($0, part, / [|] /)
      line = part[1]
      for (i = 2; i <= count; i++) line = line " | " ((substr(part[1], 3), i) in cell ? cell[substr(part[1], 3), i] : part[i])
      $0 = line
    }
    { print }' "$here/cells" "$table"
}

# Answers that it has no cell for.
lacking() {
  while IFS='|' read -r _ question answer; do
    grep -qF -- "| $question |" "$table" || echo "$table: a question is missing (expected \"$question\": \"$answer\")"
  done <"$here/cells"
  fill_table | diff "$table" - | sed -n "s|^> |$table: expected: |p"
}

write() {
  cat <<'TEXT'
# Conformance

This page says which rules of attention heed passes, standard by standard and backend by backend.
`sh tests/cli/conformance.sh HEED docs/conformance.md --write` makes it, and a test compares it with a fresh run.

`heed check --profile onnx`, `torch` or `keras` makes its cases itself, always the same ones, and needs no file.
Each pair of choices that can stand together is in some case.
The choices are layouts, heads, lengths, caches, masks, causal rule, windows, scale, softcap, scores, precision, and hidden rows.
Tensors and masks hold plain numbers, or NaN, Inf or the lowest number too.

The expected results come from a reference in double precision, written from the sentences of each standard.
Every mask is a matrix of all queries and keys there. It shares no code with heed's kernels.
Each case runs in both modes of attention.

- **As the standard**: every element of the output, and of the scores where the case asks for them, equals the reference.
- **As heed states**: the standard lets a NaN or Inf behind a mask reach the output, or promises nothing; heed never lets it.
  The result equals the reference with that one change, which [attention.md](attention.md) states.
- A case that is neither is wrong. `heed check` then prints it and ends with exit code 1.

A result equals the reference if |a − b| ≤ 2e-5 (1 + |b|), or 1e-4 on Vulkan, after rounding to the precision of the case.
TEXT
  for profile in $profiles; do
    sed -n "1s/^$profile: \(.*\), on .*/\n## \1\n/p" "$here/scalar.$profile"
    sed -n "s/^$profile: \([0-9]*\) cases with \([0-9]*\) pairs of choices.*/\1 cases with \2 pairs of choices.\n/p" "$here/scalar.$profile"
    printf '| question | cases | as the standard | as heed states |\n|---|---|---|---|\n'
    cat "$here/questions.$profile"
  done
  cat <<'TEXT'

## Where it ran

Cases that are right, as the standard or as heed states, of all.
The CPU's lines are compared with a fresh run by the test `cli_conformance`; the others are as old as their last run.
WebAssembly's are compared by the test `web_conformance`. Vulkan's were made with `HEED_VULKAN_TIER`.

| backend | onnx | torch | keras |
|---|---|---|---|
TEXT
  cat "$here/rows"
  # those that are not made here
  [ ! -f "$document" ] || sed -n '/^| backend | onnx/,$p' "$document" | sed '1,2d' | grep '^| ' | awk -F'|' 'NR == FNR { have[$2] = 1; next } !($2 in have)' "$here/rows" - || true
}

if [ "$mode" = --write ]; then
  write >"$here/document"
  cat "$here/document" >"$document"
  fill_table >"$here/table"
  cat "$here/table" >"$table"
fi
missing=0
for lines in rows questions.onnx questions.torch questions.keras; do
  while IFS= read -r line; do
    grep -qxF -- "$line" "$document" || { echo "$document: a line is missing (expected \"$line\"): run $0 HEED $document --write"; missing=1; }
  done <"$here/$lines"
done
lacking >"$here/lacking"
cat "$here/lacking"
[ ! -s "$here/lacking" ] || missing=1
exit $missing
