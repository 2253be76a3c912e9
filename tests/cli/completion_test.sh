#!/bin/sh
# What is made of the tables of verbs and options: the manual page, and the completions of three shells.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

tool() { command -v "$1" >/dev/null 2>&1 || { lacking="there is no $1 here"; return 1; }; }

expect_words() { # words that stdout has, one a line or with a text behind a tab
  cut -f 1 "$out" | sort >"$bad/found"
  # shellcheck disable=SC2086 # words
  printf '%s\n' $1 | sort >"$bad/expected"
  cmp -s "$bad/found" "$bad/expected" || fail "completed \"$(tr '\n' ' ' <"$bad/found")\", expected \"$1\""
}

# The page has every verb and option, and both readers of such pages take it.
test_begin man
heed man
expect_exit 0
cp "$out" "$bad/heed.1"
for verb in $("$program" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
  grep -qx ".SS heed $verb" "$bad/heed.1" || fail "no section of $verb"
  for option in $("$program" help "$verb" | sed -n 's/^  \(-[a-z], \)\{0,1\}\(--*[a-z-]*\) .*/\2/p' | grep -v -x -e --help | sed 's/-/\\\\-/g'); do
    sed "1,/^.SS heed $verb\$/d; /^.S[SH]/,\$d" "$bad/heed.1" | grep -q "fB$option" || fail "$verb: the page has no $option"
  done
done
if tool mandoc; then
  mandoc -T lint -W warning "$bad/heed.1" >"$out" 2>&1 || true
  ! grep -v 'missing date' "$out" | grep -q . || fail "mandoc: $(grep -v 'missing date' "$out" | head -n 1)"
fi
if tool groff; then
  groff -man -ww -z -T utf8 "$bad/heed.1" >"$out" 2>&1
  expect_stdout_empty
fi
lacking=''
test_end

bash_completes() { # the words of a line, the last of them to be completed; expected words
  test_begin "bash_$1"
  if tool bash; then
    "$program" completion bash >"$bad/heed.bash"
    command="completion bash; $2"
    # shellcheck disable=SC2016 # of the inner shell
    bash -c '. "$1"; COMP_WORDS=($2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); [ "${2% }" = "$2" ] || COMP_CWORD=$((COMP_CWORD + 1))
      COMP_WORDS[COMP_CWORD]=${COMP_WORDS[COMP_CWORD]:-}; _heed; printf "%s\n" "${COMPREPLY[@]}"' bash "$bad/heed.bash" "$2" >"$out" 2>"$err"
    expect_words "$3"
    expect_stderr_empty
  fi
  test_end
}
bash_completes verbs 'heed co' 'convert compare completion'
bash_completes options 'heed run --ro' '--rollout'
bash_completes values 'heed run --backend ' 'auto vulkan cpu'
bash_completes values_of_a_letter 'heed run -b v' 'vulkan'
bash_completes values_after_equals 'heed run --layer = l' 'last'
bash_completes part_of_values 'heed bench --causal ' 'top_left bottom_right'
bash_completes verbs_of_help 'heed help mo' ''
bash_completes shells 'heed completion ' 'bash zsh fish'
bash_completes files 'heed run --maps ' ''

fish_completes() { # name, line, expected words
  test_begin "fish_$1"
  if tool fish; then
    "$program" completion fish >"$bad/heed.fish"
    command="completion fish; $2"
    # shellcheck disable=SC2016 # of the inner shell
    (cd "$here" && HOME=$bad fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$bad/heed.fish" "$2") >"$out" 2>"$err" || fail "fish ended with $?"
    expect_words "$3"
  fi
  test_end
}
fish_completes verbs 'heed co' 'convert compare completion'
fish_completes options 'heed run --roll' '--rollout'
fish_completes values 'heed run --backend ' 'auto vulkan cpu'
fish_completes values_of_a_letter 'heed run -b v' 'vulkan'
fish_completes shells 'heed completion ' 'bash zsh fish'

# zsh completes on a terminal alone: one of its own, zpty.
zsh_completes() { # name, line, expected in what the terminal shows
  test_begin "zsh_$1"
  if tool zsh; then
    "$program" completion zsh >"$bad/_heed"
    command="completion zsh; $2"
    zsh -f -n "$bad/_heed" || fail "zsh does not read it"
    cat >"$bad/zsh" <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; unsetopt beep; autoload -Uz compinit; compinit -u -D; source $1; cd $3; print rea''dy"
zpty -r -m shell line '*ready*'
zpty -w -n shell "$2"$'\t'
end=$((SECONDS + 20)) all=
while ((SECONDS < end)) && [[ $all != *$4* ]]; do
  if zpty -t -r shell line; then all+=$line; else sleep 0.05; fi
done
print -r -- $all
zpty -d shell
END
    HOME=$bad TERM=dumb zsh -f "$bad/zsh" "$bad/_heed" "$2" "$here" "$3" >"$out" 2>"$err" || fail "zsh ended with $?"
    grep -qF -e "$3" "$out" || fail "the terminal does not show \"$3\""
  fi
  test_end
}
zsh_completes verbs 'heed surv' 'heed survey'
zsh_completes options 'heed run --roll' '--rollout'
zsh_completes values 'heed run --backend v' 'vulkan'
zsh_completes values_of_a_letter 'heed run -b v' 'vulkan'

tests_end
