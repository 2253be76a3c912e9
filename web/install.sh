#!/bin/sh
# Installs what package-lock.json names into node_modules, unless that is newer. For ./dev and the tests.
set -eu
cd "$(dirname -- "$0")/.."
if [ -e node_modules/.package-lock.json ] && [ -z "$(find package-lock.json -newer node_modules/.package-lock.json)" ]; then exit 0; fi
exec npm ci --no-audit --no-fund --ignore-scripts
