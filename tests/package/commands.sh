#!/bin/sh
# commands.sh ROOT BUILD FILE...: the commands of the documents: each line of a block of shell, and what a sentence quotes.
# cli_documents runs those of heed. The others build and test for minutes to hours, so that each is held to what it names:
#   ./dev               help has the verb, its part and its options; help and script have the same verbs
#   cmake               its presets are there; that of a block configures, and uses each variable
#   ctest               each alternative of -R is in the name of a test
#   node, python3, sh   the script parses, and has each option
#   npm run             package.json has the script
#   pip                 the folder is that of a Python package
#   clang-tidy, ninja   BUILD compiles the file; the folder is that of a preset
# Words in capitals stand for something of the reader's, and so does `name` of docs/add-an-op.md. An unknown command fails.
# Blocks of other languages: web_text, web_graph and web_pages run JavaScript, cli_convert Python; docs_quote has those in C.
set -euf
[ $# -ge 3 ] || { echo "usage: $0 ROOT BUILD FILE..." >&2; exit 2; }
root=$1 build=$2
shift 2
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

./dev help >"$work/help"
# shellcheck disable=SC2016 # the script's own words
sed -n '/^case \$verb in$/,/^esac$/s/^  \([a-z][a-z |-]*\)).*/\1/p' dev | tr -s ' |' '\n' | grep -v '^-' | sort -u >"$work/verbs"
cmake --list-presets=all | sed -n 's/^ *"\([^"]*\)".*/\1/p' | sort -u >"$work/presets"
{
  ctest -N --test-dir "$build" | sed -n 's/^ *Test *#[0-9]*: //p'
  sed -n 's|^ *web_test([a-z]*/\([a-z0-9_]*\) .*|web_\1|p' web/test/CMakeLists.txt # those of another build
} >"$work/tests"

found=0
wrong() {
  found=$((found + 1))
  printf '%s: %s: %s\n' "$document" "$command" "$*"
}

of_reader() { case $1 in *[a-z]*) return 1 ;; esac; } # FOLDER, [RUNS], 3

preset() { grep -qxF -- "$1" "$work/presets" || wrong "unknown preset (found $1)"; }

script() { # file
  if [ ! -e "$1" ]; then
    wrong "missing file (found $1)"
    return 1
  fi
  case $1 in
    *.sh) sh -n "$1" ;;
    *.py) ! python3 -c '' 2>/dev/null || python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$1" ;;
    *) ! node -e '' 2>/dev/null || node --check "$1" ;;
  esac 2>"$work/said" || wrong "does not parse: $(tail -n 1 "$work/said")"
}

# Options of a script, which names them with or without dashes; the word that follows one is its value.
options() { # file, words...
  file=$1
  shift
  for word in "$@"; do
    case $word in
      --*) grep -qwF -e "${word#--}" "$file" || wrong "unknown option of $file (found $word)" ;;
    esac
  done
}

dev() { # words of ./dev
  [ $# -gt 0 ] || return 0
  verb=$1 part="./dev $1" value=''
  shift
  if ! grep -qF " ./dev $verb" "$work/help"; then wrong "unknown verb (found $verb)"; fi
  for word in "$@"; do
    case $value$word in
      --*) grep -qF -e "$word" "$work/help" tests/bench/peers.mjs || wrong "unknown option (found $word)" ;;
      in:*) grep -qwF -e "$word" "$work/help" || wrong "unknown place (found $word)" ;;
      [a-z]*:*) ;;
      *) [ "$verb" = release ] && sed -n 's/^all=//p' native/packaging/release.sh | grep -qwF -e "$word" || of_reader "$word" || grep -qF -e "$part $word" "$work/help" || wrong "unknown part (found $word)" ;;
    esac
    case $word in --quantised) value='' ;; --*) value=${word#--}: ;; *) value='' ;; esac
  done
}

run_cmake() { # words of cmake
  case "$kind $1" in
    'block --preset')
      preset "$2"
      if ! cmake "$@" -B "$work/build" >"$work/said" 2>&1; then
        wrong "does not configure: $(grep -m 1 -A 2 Error "$work/said" | tr -s ' \n' ' ')"
      elif grep -q 'not used by the project' "$work/said"; then
        wrong "unknown variables: $(sed -n '/not used by the project/,/^--/s/^    //p' "$work/said" | tr '\n' ' ')"
      fi
      rm -rf "$work/build"
      ;;
    *)
      while [ $# -gt 1 ]; do
        [ "$1" != --preset ] || preset "$2"
        shift
      done
      ;;
  esac
}

run_ctest() { # words of ctest
  while [ $# -gt 1 ]; do
    case $1 in
      --preset) preset "$2" ;;
      --test-dir) preset "${2#build/}" ;;
      -R)
        for pattern in $(printf '%s\n' "$2" | tr '|' ' '); do
          of_reader "$pattern" || [ "$pattern" = name ] || grep -qE -e "$pattern" "$work/tests" || wrong "no test has this name (found $pattern)"
        done
        ;;
    esac
    shift
  done
}

run_node() { # words of node
  while [ $# -gt 0 ]; do
    case $1 in
      --test-name-pattern) shift ;;
      *.js | *.mjs) if script "$1"; then options "$@"; fi ;;
      build/* | --test) ;;
    esac
    shift
  done
}

look() { # words of a command
  while case ${1-} in [A-Z]*=*) true ;; *) false ;; esac do shift; done
  tool=$1
  shift
  case $tool in
    ./dev) dev "$@" ;;
    cmake) run_cmake "$@" ;;
    ctest) run_ctest "$@" ;;
    node) run_node "$@" ;;
    sh | python3)
      if [ "$1" = -m ]; then
        [ -e "$3" ] || wrong "missing file (found $3)"
      elif script "$1"; then
        options "$@"
      fi
      ;;
    tests/*.sh | web/*.sh) if script "$tool"; then options "$tool" "$@"; fi ;;
    ninja) preset "${2#build/}" ;;
    clang-tidy)
      while [ $# -gt 1 ]; do shift; done
      grep -qF "/$1\"" "$build/compile_commands.json" || wrong "is not compiled (found $1)"
      ;;
    npm)
      case ${1-} in
        run) grep -qF "\"$2\":" package.json || wrong "package.json has no script $2" ;;
        test) grep -qF '"test":' package.json || wrong "package.json has no script test" ;;
        '' | ci | install | audit | ls | pack) ;;
        *) wrong "unknown verb (found $1)" ;;
      esac
      ;;
    pip) # what it is given is a folder with pyproject.toml, or what an earlier line made
      case ${2-} in
        ./*) [ -e "$2/pyproject.toml" ] || wrong "no package here (found $2)" ;;
        dist/*) ;;
        *) wrong "unknown package (found ${2-none})" ;;
      esac
      ;;
    build/*/tests/*) [ -n "$(find tests -name "${tool##*/}.c")" ] || wrong "no program of this name is built" ;;
    *) wrong "nothing here checks this command" ;;
  esac
}

# "KIND FILE COMMAND"; comments and what a shell redirects are left out.
# shellcheck disable=SC2016 # backquotes of Markdown
for document in "$@"; do
  sed -n '/^```sh$/,/^```$/{/^```/!{/./p}}' "$document" | sed "s|^|block $document |"
  sed '/^```/,/^```$/d' "$document" |
    grep -oE '`([A-Z_]+=[^ `]+ )*(\./dev|cmake|ctest|node|npm|sh|python3|ninja|clang-tidy|(tests|web)/[a-z_/]+\.sh)( [^`]*)?`' |
    tr -d '`[]' | sort -u | sed "s|^|quote $document |"
done | sed 's/  *#.*//; s/ >.*//' >"$work/commands"

command=help document=dev
sed -n 's/^[u ][^.]* \.\/dev \([a-z][a-z]*\).*/\1/p' "$work/help" | sort -u >"$work/said"
verbs=$(comm -3 "$work/said" "$work/verbs" | tr -d '\t' | tr '\n' ' ')
[ -z "$verbs" ] || wrong "help or script alone has these verbs: $verbs"
lines=0
while read -r kind document line; do
  lines=$((lines + 1))
  case $line in heed\ * | build/release/heed\ * | *' | heed '*) line='' ;; esac
  while [ -n "$line" ]; do
    command=${line%% && *}
    case $line in *' && '*) line=${line#* && } ;; *) line='' ;; esac
    eval "set -- $command"
    look "$@"
  done
done <"$work/commands"
[ "$lines" -ge 80 ] || { echo "found $lines commands, expected at least 80"; exit 1; }
[ "$found" -eq 0 ]
