#!/bin/sh
# components_test.sh BUILD PREFIX FOLDER: the components together are what was installed in PREFIX, and the program alone is one file.
set -eu
rm -rf "$3"
for component in program libraries development documents; do
  cmake --install "$1" --prefix "$3/$component" --component "$component"
  mkdir -p "$3/$component" "$3/all"
  cp -R "$3/$component/." "$3/all"
done
diff -rq "$2" "$3/all"
[ "$(find "$3/program" -type f)" = "$3/program/bin/heed" ] || { echo "program: other files than bin/heed ($(find "$3/program" -type f))"; exit 1; }
