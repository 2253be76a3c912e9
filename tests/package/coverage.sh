#!/bin/sh
# coverage.sh ROOT BUILD: lines and branches per folder, as a table, of what the tests run in BUILD, a tree of the preset coverage.
# Tests themselves are not counted. Needs gcovr.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 ROOT BUILD" >&2; exit 2; }
root=$1 build=$2
cd "$root"
# A kernel is compiled once per SIMD level, and counts as covered where any level is.
gcovr --root . --object-directory "$build" --filter 'runtime/' --filter 'native/' --exclude 'native/examples/' --exclude-directories '.*CMakeFiles/[0-9].*' --exclude-unreachable-branches --csv - "$build" |
  awk -F, '
    function row(name, l, lc, b, bc) {
      printf "| %s | %d | %.1f %% | %d | %s |\n", name, l, 100 * lc / l, b, b ? sprintf("%.1f %%", 100 * bc / b) : "-"
    }
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    {
      n = split($1, part, "/")
      folder = part[1] "/" part[2] (part[2] == "vulkan" && n > 3 ? "/" part[3] : "")
      if (!(folder in lines)) order[++count] = folder
      lines[folder] += $column["line_total"]; hit[folder] += $column["line_covered"]
      branches[folder] += $column["branch_total"]; taken[folder] += $column["branch_covered"]
    }
    END {
      if (!count) { print "no line was counted: run the tests of this tree first" > "/dev/stderr"; exit 1 }
      print "| folder | lines | covered | branches | covered |"
      print "|---|---|---|---|---|"
      for (i = 2; i <= count; i++) for (k = i; k > 1 && order[k - 1] > order[k]; k--) { t = order[k]; order[k] = order[k - 1]; order[k - 1] = t }
      for (i = 1; i <= count; i++) {
        f = order[i]
        row("`" f "`", lines[f], hit[f], branches[f], taken[f])
        l += lines[f]; lc += hit[f]; b += branches[f]; bc += taken[f]
      }
      row("all", l, lc, b, bc)
    }'
