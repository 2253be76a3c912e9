#!/bin/sh
# Pictures that are none: exit code 3, one sentence, nothing written.
# shellcheck source=tests/cli/harness.sh
. "$(dirname "$0")/harness.sh"

bad_picture() { # file in $bad, a part of the sentence
  bad_input "$(printf '%s' "$1" | tr . _)" "$2" run "$vectors/vit/micro_32" "$bad/$1" --backend cpu --quiet --maps maps.png --json out.json
}

copy() { # file of vectors/preprocess, name in $bad
  cp "$vectors/preprocess/$1" "$bad/$2"
  chmod u+w "$bad/$2"
}

bad_picture no_such.png "no_such.png"
mkdir "$bad/folder.png"
# A folder in the picture's place: the model comes first, so it is not taken for one.
bad_picture folder.png "folder.png"
for kind in png jpg; do
  : >"$bad/empty.$kind"
  bad_picture "empty.$kind" "empty.$kind"
  echo 'not a picture at all' >"$bad/text.$kind"
  bad_picture "text.$kind" "text.$kind"
  copy "rgb.$kind" "half.$kind"
  cut_to "$bad/half.$kind" $(($(wc -c <"$bad/half.$kind") / 2))
  bad_picture "half.$kind" "half.$kind"
  for bytes in 1 3 8 20 33 60; do
    copy "rgb.$kind" "first_$bytes.$kind"
    cut_to "$bad/first_$bytes.$kind" $bytes
    bad_picture "first_$bytes.$kind" "first_$bytes.$kind"
  done
done
copy progressive.jpg progressive_half.jpg
cut_to "$bad/progressive_half.jpg" $(($(wc -c <"$bad/progressive_half.jpg") / 2))
bad_picture progressive_half.jpg progressive_half.jpg

# A header that promises 60000 x 60000 pixels (10.8 GB), with its right check sum, and 100 zeros as all its data.
{
  printf '\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\000\352\140\000\000\352\140\010\002\000\000\000\017\260\342\025'
  printf '\000\000\000\014\111\104\101\124\170\234\143\140\240\075\000\000\000\144\000\001\206\144\074\065'
} >"$bad/huge.png"
bad_picture huge.png "60000"
copy rgb.png check_sum.png
edit "$bad/check_sum.png" 's/IHDR\(.......\)./IHDR\1\x7f/'
bad_picture check_sum.png check_sum.png

# All are bad: a sentence each, and the count.
test_begin all_are_bad
heed run "$vectors/vit/micro_32" "$bad/half.png" "$bad/no_such.png" "$bad/empty.jpg" --backend cpu --quiet --maps maps.png --json out.json
expect_exit 3
expect_stdout_contains "JSON: out.json"
for part in half.png no_such.png empty.jpg "images: cannot read all (found 3 bad ones of 3)"; do expect_stderr_contains "$part"; done
[ "$(ls "$here")" = out.json ] || fail "files: found $(ls "$here"), expected out.json"
test_end

tests_end
