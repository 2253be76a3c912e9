#!/bin/sh
# quick.sh BUILD: the tests of the lane `check` in a build of the preset wasm, whose package and pages are brought up to date where scripts
# alone have changed. Modules older than their sources take minutes to build: a skip.
set -eu
build=$1
skip() { echo "skipped: $*"; exit 77; }
command -v node >/dev/null 2>&1 || skip "no node here"
[ -f "$build/CTestTestfile.cmake" ] || skip "no package here (./dev web builds it)"
! ninja -C "$build" -n package site | grep '^\[' | grep -qv 'Putting the ' || skip "the modules are older than their sources (./dev web builds them)"
ninja -C "$build" package site >/dev/null
exec ctest --test-dir "$build" -L '^check$' --output-on-failure --no-tests=error
