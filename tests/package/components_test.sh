#!/bin/sh
# components_test.sh BUILD PREFIX FOLDER: the components together are what was installed in PREFIX, and the program has its page and completions.
set -eu
rm -rf "$3"
for component in program libraries development documents; do
  cmake --install "$1" --prefix "$3/$component" --component "$component"
  mkdir -p "$3/$component" "$3/all"
  cp -R "$3/$component/." "$3/all"
done
diff -rq "$2" "$3/all"
[ "$(cd "$3/program" && find . -type f | LC_ALL=C sort | tr '\n' ' ')" = "./bin/heed ./share/bash-completion/completions/heed \
./share/fish/vendor_completions.d/heed.fish ./share/man/man1/heed.1 ./share/zsh/site-functions/_heed " ] || { echo "program: other files ($(find "$3/program" -type f))"; exit 1; }
"$3/program/bin/heed" man | cmp - "$3/program/share/man/man1/heed.1"
