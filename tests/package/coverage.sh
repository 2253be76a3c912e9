#!/bin/sh
# coverage.sh ROOT BUILD [parsers]: lines and branches of what the tests run in BUILD, a tree of the preset coverage: per folder, then of
# each parser in parsers.txt, beside its floor (with `parsers`: these alone). Exit code 1 where a parser is below its floor.
# Tests themselves are not counted, nor branches that the compiler made. Needs gcovr.
set -eu
case $#${3:-} in 2 | 3parsers) ;; *) echo "usage: $0 ROOT BUILD [parsers]" >&2; exit 2 ;; esac
root=$1 build=$2 only=${3:-}
list=$root/tests/package/parsers.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
# A kernel is compiled once per SIMD level; that of AVX2 is counted. gcovr takes functions of one name that differ by level for an error.
gcovr --root . --object-directory "$build" --filter 'runtime/' --filter 'native/' --exclude 'native/examples/' --exclude 'runtime/cpu/simd/' \
  --exclude-directories '.*CMakeFiles/[0-9].*' --exclude-directories '.*/heed_cpu_(scalar|sse2|avx512|neon|.*int8.*)[.]dir.*' \
  --exclude-directories '.*/tests/.*[.]dir.*' --exclude-unreachable-branches --csv "$work/all.csv" "$build"

[ -n "$only" ] || awk -F, '
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
      print ""
    }' "$work/all.csv"

# Every file of the tree beside the patterns: a pattern that fits no file is an old one, and a file that was not built is not covered.
find runtime native -name '*.c' ! -path 'native/examples/*' | LC_ALL=C sort >"$work/files"
awk -F, -v files="$work/files" -v csv="$work/all.csv" -v name="${list#"$root"/}" '
    function matches(file, pattern) {
      gsub(/\./, "[.]", pattern)
      gsub(/\*/, "[^/]*", pattern)
      return file ~ "^" pattern "$"
    }
    BEGIN {
      while ((getline line < files) > 0) file[++count] = line
      while ((getline line < csv) > 0) {
        split(line, field, ",")
        if (!at) { for (i in field) if (field[i] == "branch_total") at = i; continue }
        total[field[1]] = field[at]; taken[field[1]] = field[at + 1]
      }
    }
    /^#/ || /^$/ { next }
    {
      fits = 0
      split($0, word, " ")
      for (i = 1; i <= count; i++) if (matches(file[i], word[1])) { fits++; floor[file[i]] = word[2] != "" ? word[2] : 95 }
      if (!fits) { printf "%s:%d: %s fits no file (expected one of the sources)\n", name, NR, word[1] > "/dev/stderr"; failed = 1 }
      if (word[2] != "" && (word[2] !~ /^[0-9]+$/ || word[2] > 94 || word[3] == "")) {
        printf "%s:%d: a floor of its own needs a reason (found \"%s\", expected a whole number below 95 and why)\n", name, NR, $0 > "/dev/stderr"
        failed = 1
      }
    }
    END {
      print "| parser | branches | covered | floor |"
      print "|---|---|---|---|"
      for (i = 1; i <= count; i++) {
        f = file[i]
        if (!(f in floor)) continue
        parsers++
        if (!(f in total)) {
          printf "%s: no test program has it (expected its branches counted)\n", f > "/dev/stderr"
          failed = 1
          continue
        }
        share = total[f] ? 100 * taken[f] / total[f] : 100
        printf "| `%s` | %d | %.1f %% | %d %% |\n", f, total[f], share, floor[f]
        all += total[f]; hit += taken[f]
        if (share < floor[f]) {
          printf "%s: too few branches are run by tests (found %.1f %%, %d of %d, expected %d %%)\n", f, share, taken[f], total[f], floor[f] > "/dev/stderr"
          failed = 1
        }
      }
      printf "| all %d | %d | %.1f %% | |\n", parsers, all, 100 * hit / all
      exit failed
    }' "$list"
