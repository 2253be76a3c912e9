# tally.awk LOG.log JUNIT.xml: reads what ctest printed and wrote. A program that prints TAP (cmocka, node) counts once a case, any other
# once. Prints each test that passed at its second try and each skip with its reason, then "passed failed skipped".
function unescape(s) { gsub(/&lt;/, "<", s); gsub(/&gt;/, ">", s); gsub(/&quot;/, "\"", s); gsub(/&amp;/, "\\&", s); return s }
function attribute(name) { match($0, " " name "=\"[^\"]*\""); return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) }
function skip(text) { missed++; printf "skipped: %s: %s\n", test, text == "" ? "no reason given" : unescape(text) }
FILENAME ~ /\.log$/ {
  if (!match($0, /Test +#[0-9]+: [^ ]+/)) next
  test = substr($0, RSTART, RLENGTH); sub(/.*: /, "", test)
  if (/\*\*\*(Failed|Timeout|Exception)/) tried[test] = 1
  else if (/ Passed +[0-9]/ && tried[test]) printf "passed at the second try: %s\n", test
  next
}
/<testcase / { test = attribute("name"); status = attribute("status"); good = bad = missed = 0; last = reason = "" }
/<testcase .*status="disabled"/ || /<skipped message="SKIP_/ { status = "skip" }
{ sub(/^[ \t]*<system-out>/, ""); sub(/<\/system-out>$/, "") }
/^ *(not )?ok [0-9]+ .*# (SKIP|TODO)/ {
  line = $0; sub(/^ *(not )?ok [0-9]+ (- )?/, "", line); sub(/# (SKIP|TODO) */, "", line)
  skip(line (last == "" ? "" : ": " last)); last = ""; next
}
/^ *ok [0-9]+/ { good++; last = ""; next }
/^ *not ok [0-9]+/ { bad++; last = ""; next }
/^[^ <#]/ && !/^(TAP version|[0-9]+\.\.[0-9]+)/ { last = $0; if (tolower($0) ~ /skip/ || reason == "") reason = $0 }
/<\/testcase>/ {
  if (status == "skip") { if (!missed) skip(reason) }
  else if (status != "run") { if (!bad) bad = 1 }
  else if (!good && !bad && !missed) good = 1
  passed += good; failed += bad; skipped += missed
}
END { print passed + 0, failed + 0, skipped + 0 }
